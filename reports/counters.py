#!/usr/bin/env python3
"""Writes the tables of docs/counters.md: what the emulator models beside what Nsight Compute counts.

  reports/counters.py --build build/release --record reports/h100/counters.json
        on a machine with a GPU and ncu: counts the textbook and every portable stage, and writes nothing but the record.
        The emulator is not needed there.
  reports/counters.py --build build/release --record reports/h100/counters.json --track TRACK
        the same for one track, and the record keeps what it has of the others
  reports/counters.py --build build/release
        on a machine with the emulator: models the same, and writes both columns, the second from the record
  reports/counters.py --build build/release --check
        the same, but exits with 1 when the page differs

  reports/counters.py --build build/release --classics reports/h100/classics.json
        on a machine with a GPU and ncu: counts tests/classics, and writes nothing but the record

Both run at the same sizes, the emulator's defaults. Grids that fill a device follow its number of multiprocessors, so the
emulator is told that of the recorded device (LAB_EMULATOR_MULTIPROCESSORS).

What a track keeps out of the comparison it says itself (reports/track_notes.py).

Every difference must be explained in reports/counters_explained.json, a list of {"kernel", "metric", "why"}: names of
textbook examples or paths of stages, and names of metrics, both as a shell matches names. What is not explained is an error,
and so is an explanation of what does not differ. The first that matches counts.
"""
import argparse
import csv
import datetime
import fnmatch
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import track_notes

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "counters.md"
RECORD = ROOT / "reports" / "h100" / "counters.json"
CLASSICS = ROOT / "reports" / "h100" / "classics.json"
EXPLAINED = ROOT / "reports" / "counters_explained.json"
CATALOGUE = json.loads((ROOT / "harness" / "counters.json").read_text(encoding="utf-8"))["counters"]
# Sums that are shown beside lines: what the pages speak of most.
METRICS = {one["label"]: one["name"] for one in CATALOGUE if "column" in one and one["name"].endswith(".sum")}
# So that a grid of another size is seen for what it is; the mean where a stage launches several kernels.
BLOCKS = {one["label"]: one["name"] for one in CATALOGUE if one["name"] == "launch__grid_size"}
# Kernels of a library that a stage calls on a GPU, and not on the emulator.
LIBRARY_KERNELS = ("cub", "DeviceScan")


def run(command, directory=None, environment=None):
    done = subprocess.run([str(word) for word in command], cwd=directory, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(word) for word in command)}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def listed(build, device):
    """The tracks as the program describes them for a device."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "description.json"
        run([build / "lab", "describe", "--device", device, "--json", path])
        return json.loads(path.read_text())


def total(kernels, metric):
    """As `lab profile` shows it: the sum over the kernels, or the mean of what is no sum."""
    values = [kernel["metrics"][metric] for kernel in kernels if metric in kernel["metrics"]]
    if not values:
        return None
    return sum(values) if metric.endswith(".sum") else sum(values) / len(values)


def stages(build, device, environment=None, tracks=(), keep=lambda found: None):
    """Every portable stage, or those of some tracks, at every combination of the emulator's defaults; `keep` is given
    what there is so far."""
    found = []
    for track in listed(build, device)["tracks"]:
        if tracks and track["name"] not in tracks:
            continue
        notes = track_notes.of(track["name"])
        # What an expected failure does wrong is no matter of counters, and on a GPU it may hang.
        portable = [stage["path"] for stage in track["stages"] if not stage["traits"].get("gpu_only") and not stage.get("expected_failure") and stage["path"] not in notes["not_compared"]]
        names = [parameter["name"] for parameter in track["parameters"]]
        defaults = [parameter["defaults"]["verify"] for parameter in track["parameters"]]
        defaults = [notes["one_value"].get(name, value) for name, value in zip(names, defaults)]
        for values in itertools.product(*(value if isinstance(value, list) else [value] for value in defaults)):
            options = [word for name, value in zip(names, values) for word in (f"--{name}", value)]
            with tempfile.TemporaryDirectory() as directory:
                path = pathlib.Path(directory) / "profile.json"
                run([build / "lab", "profile", *portable, "--device", device, "--json", path, "--metrics",
                     ",".join([*METRICS.values(), *BLOCKS.values()]), *options], directory, environment)
                profile = json.loads(path.read_text())
            for stage in profile["stages"]:
                if stage["skipped"]:
                    continue
                kernels = [one for one in stage["profile"]["kernels"] if not any(word in one["name"] for word in (*LIBRARY_KERNELS, *notes["library_kernels"]))]
                metrics = {name: total(kernels, name) for name in [*METRICS.values(), *BLOCKS.values()]}
                found.append({"kernel": stage["stage"], "parameters": stage["parameters"], "metrics": metrics})
            keep(found)
    return found


def textbook_modelled(build, program="textbook"):
    lines = [json.loads(line) for line in run([build / f"{program}-observed"]).splitlines()]
    return [{"kernel": line["name"], "parameters": {}, "metrics": line["metrics"]} for line in lines]


def textbook_counted(build, program="textbook"):
    """ncu prints its table between the names that the program prints, one launch for each."""
    output = run(["ncu", "--clock-control", "none", "--cache-control", "none", "--print-units", "base", "--csv", "--page",
                  "raw", "--metrics", ",".join(METRICS.values()), build / f"{program}-cuda"])
    names = [json.loads(line)["name"] for line in output.splitlines() if line.startswith("{")]
    rows = list(csv.DictReader(line for line in output.splitlines() if line.startswith('"')))[1:]  # the first: units
    if len(names) != len(rows):
        sys.exit(f"{len(rows)} launches were counted, and there are {len(names)} examples:\n{output}")
    return [
        {"kernel": name, "parameters": {}, "metrics": {metric: float(row[metric].replace(",", "")) for metric in METRICS.values()}}
        for name, row in zip(names, rows)
    ]


def track_of(row):
    return row["kernel"].split("/")[0]


def device_of(document):
    return document["device"]["name"].removeprefix("NVIDIA ")


def identity(row):
    return row["kernel"], json.dumps(row["parameters"], sort_keys=True)


def counted_here(schema, description):
    """What every record says of where it was made."""
    return {
        "schema": schema,
        "version": 1,
        "created": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "device": description["device"],
        "profiler": run(["ncu", "--version"]).strip().splitlines()[-1],
    }


def record(build, path, tracks):
    description = listed(build, "cuda:0")
    unknown = set(tracks) - {track["name"] for track in description["tracks"]}
    if unknown:
        sys.exit(f"there is no track {', '.join(sorted(unknown))}")
    program = run([build / "lab", "--version"]).strip()
    if tracks:
        if not path.exists():
            sys.exit(f"{path} does not exist: --track adds to a record")
        document = json.loads(path.read_text())
        if document["device"]["name"] != description["device"]["name"]:
            sys.exit(f"{path} was counted on {document['device']['name']}, and this is {description['device']['name']}")
        kept = document["stages"]
    else:
        document = {
            **counted_here("kernel-lab-counters", description),
            "program": program,
            "kernels": description["build"],
            "textbook": textbook_counted(build),
        }
        kept = []

    def keep(found):
        # Counting takes minutes: what is counted stays when it is broken off.
        counted = {identity(row) for row in found}
        rows = [{**row, "program": program} for row in found] if tracks else found
        rows = [row for row in kept if identity(row) not in counted] + rows
        path.write_text(json.dumps({**document, "stages": rows}, indent=1) + "\n")

    stages(build, "cuda:0", tracks=tracks, keep=keep)


def record_classics(build, path):
    description = listed(build, "cuda:0")
    document = {**counted_here("kernel-lab-classics", description), "kernels": textbook_counted(build, "classics")}
    path.write_text(json.dumps(document, indent=1) + "\n")


class Comparison:
    """Rows of a table, and what is wrong with them."""

    def __init__(self, explanations):
        self.explanations = explanations
        self.used = set()
        self.unexplained = []

    def difference(self, kernel, metric, model, real):
        if real is None or real == model:
            return ""
        for number, one in enumerate(self.explanations):
            if fnmatch.fnmatchcase(kernel, one["kernel"]) and fnmatch.fnmatchcase(metric, one["metric"]):
                self.used.add(number)
                return one["why"]
        self.unexplained.append(f"{kernel}: {metric}: modelled {model:.10g}, counted {real:.10g}")
        return "not explained"

    def table(self, head, metrics, modelled, counted, device, differing=False):
        """Of all that is modelled or counted, or `differing` alone, below how many there are."""
        real_of = {identity(row): row["metrics"] for row in counted}
        figures, not_counted = 0, []
        lines = [f"| {head} | counter | modelled | Nsight Compute, {device} | why they differ |", "| --- | --- | ---: | ---: | --- |"]
        for row in modelled:
            parameters = ", ".join(f"{name} = {value}" for name, value in row["parameters"].items())
            name = row["kernel"] + (f" ({parameters})" if parameters else "")
            real_metrics = real_of.get(identity(row))
            if real_metrics is None:
                not_counted.append(name)
                continue
            for short, metric in metrics.items():
                model, real = row["metrics"].get(metric) or 0, real_metrics.get(metric)
                if not model and not real:
                    continue
                figures += real is not None
                why = self.difference(row["kernel"], metric, model, real)
                if not differing or why:
                    lines.append(f"| {name} | {short} | {model:.10g} | {'' if real is None else f'{real:.10g}'} | {why} |")
        if differing:
            lines.append(f"\n{figures} figures are not 0, and those of all others are the same.")
        if not_counted:
            lines.append(f"\nNot counted yet: {', '.join(sorted(set(not_counted)))}.")
        return "\n".join(lines)


def replaced(text, name, table):
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, rest = text.split(begin)
    return f"{before}{begin}\n{table}\n{end}{rest.split(end)[1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build directory")
    parser.add_argument("--classics", type=pathlib.Path, metavar="FILE",
                        help="count tests/classics on this machine's GPU, and keep it in this file")
    parser.add_argument("--record", type=pathlib.Path, help="count on this machine's GPU, and keep it in this file")
    parser.add_argument("--track", action="append", default=[], help="with --record: this track alone (repeatable)")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when the page differs")
    options = parser.parse_args()
    build = options.build.resolve()
    if options.track and not options.record:
        parser.error("--track says what to record: it goes with --record")
    if options.classics:
        record_classics(build, options.classics.resolve())
        return 0
    if options.record:
        record(build, options.record.resolve(), options.track)
        return 0

    counted = json.loads(RECORD.read_text())
    multiprocessors = counted["device"]["multiprocessors"]
    environment = {**os.environ, "LAB_EMULATOR_MULTIPROCESSORS": str(multiprocessors)}
    comparison = Comparison(json.loads(EXPLAINED.read_text()))
    text = old = PAGE.read_text()
    text = replaced(text, "textbook", comparison.table("example", METRICS, textbook_modelled(build), counted["textbook"], device_of(counted)))
    classics = json.loads(CLASSICS.read_text())["kernels"]
    text = replaced(text, "classics", comparison.table("kernel", METRICS, textbook_modelled(build, "classics"), classics, device_of(counted), differing=True))
    modelled = stages(build, "emulator", environment)

    of_stages = comparison.table("stage", {**BLOCKS, **METRICS}, modelled, counted["stages"], device_of(counted), differing=True)
    text = replaced(text, "stages", of_stages)
    where = (f"Counted on {counted['device']['name']} ({multiprocessors} multiprocessors), {counted['created'][:10]}, "
             f"{counted['program']}, {counted['profiler']}.")
    others = {}
    for row in counted["stages"]:
        if "program" in row:
            others.setdefault(row["program"], set()).add(track_of(row))
    where += "".join(f" {', '.join(sorted(of_words))}: {words}." for words, of_words in others.items())
    text = replaced(text, "counted on", where)
    for line in comparison.unexplained:
        print(f"not explained: {line}")
    stale = [one for number, one in enumerate(comparison.explanations) if number not in comparison.used]
    for one in stale:
        print(f"explained, but nothing differs: {one['kernel']}: {one['metric']}")
    if text != old:
        print(f"{PAGE.relative_to(ROOT)}: {'differs' if options.check else 'rewritten'}")
        if not options.check:
            PAGE.write_text(text)
    return 1 if comparison.unexplained or stale or (options.check and text != old) else 0


if __name__ == "__main__":
    sys.exit(main())
