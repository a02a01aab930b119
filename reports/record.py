#!/usr/bin/env python3
"""Records again, on a machine with a GPU, what older kernels have left; or on another GPU what is recorded of the first.

Wanted is every row of the records in --like (of the folder itself, unless another is named) that the folder lacks, or
has of older kernels only, as reports/tables.py judges them. Of each parameter set the stages that are wanted run in one
call of `lab run`, and pass its checks. What passes is added to the file of its track (rolling.jsonl), a line a row, and
replaces what other kernels have left for the stage and its parameters; the newest row counts. Of a call that was cut
short the finished rows are kept.

usage: reports/record.py --list                      what is wanted, and run nothing
       reports/record.py [OPTION]... [-- OPTION OF LAB RUN]...
       reports/record.py --place FILE... [OPTION]... adds the rows of result files that were made elsewhere

  --folder DIR       the device's records (reports/h200)
  --like DIR         the device whose parameter sets and stages are wanted (the folder's own)
  --only PATTERN     these stages, as a shell matches names: 'moving_average/0[1-7]*'; repeatable
  --current          also rows of today's kernels
  --longest SECONDS  leaves out what took longer than that for a launch when it was recorded
  --seconds N        no longer than so many seconds in all; what is not done then stays wanted
  --results DIR      leave the result files there, and place nothing
  --commit HASH      what the records name as their commit, for a tree that was copied without its repository
  --lab PROGRAM      ./lab

Runs of several processes (--processes) and with a warm cache are experiments of their own: --place adds them, too. The exit
code is 1 where a row that was asked for has no record after it.
"""

import argparse
import dataclasses
import fnmatch
import itertools
import json
import math
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import tables

# What is worth a place. Another row of the call says why it has none.
KEPT = {"ok", "expected_failure", "skipped"}


def fail(text):
    sys.exit(f"reports/record.py: {text}")


@dataclasses.dataclass
class Call:
    """What one call of `lab run` is asked for: each stage with every combination of the values."""

    track: str
    parameters: dict  # name -> values, in words
    stages: list

    def arguments(self, defaults):
        words = list(self.stages)
        for name, values in self.parameters.items():
            if defaults.get(name) != values:
                words += [f"--{name}", ",".join(map(text_of, values))]
        return words

    def rows(self):
        return len(self.stages) * math.prod(map(len, self.parameters.values()))

    def joined(self, other):
        """Both in one call, which asks for no row more; None where there is no such call."""
        if (self.track, self.stages) != (other.track, other.stages):
            return None
        differing = [name for name, values in self.parameters.items() if values != other.parameters[name]]
        if len(differing) != 1:
            return None
        return Call(self.track, {**self.parameters, differing[0]: self.parameters[differing[0]] + other.parameters[differing[0]]}, self.stages)


def text_of(value):
    return f"{value:g}" if isinstance(value, float) else str(value)


def wanted(like, here, options):
    """The calls whose rows the folder lacks. Few, since each proves its stages anew."""
    calls = []
    for track in sorted(like.rows):
        for parameters in like.parameter_sets(track):
            recorded = here.rows.get(track, {}).get(parameters, {})
            stages = [
                stage
                for stage, row in sorted(like.rows[track][parameters].items())
                if row["status"] == "ok"
                and stage in here.digests
                and (not options.only or any(fnmatch.fnmatchcase(stage, one) for one in options.only))
                and row["timing"]["median"] <= options.longest * 1e9
                and (options.current or is_wanted(here, recorded.get(stage)))
            ]
            if stages:
                calls.append(Call(track, {name: [value] for name, value in parameters}, stages))
    joining = True
    while joining:
        joining = False
        for first, second in itertools.combinations(calls, 2):
            both = first.joined(second)
            if both:
                calls[calls.index(first)] = both
                calls.remove(second)
                joining = True
                break
    return calls


def is_wanted(here, row):
    return row is None or row["status"] != "ok" or here.is_older(row)


def defaults_of(lab):
    """track -> parameter -> the values that `lab run` takes where none is named."""
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "description.json"
        found = subprocess.run([lab, "describe", "--json", str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if found.returncode != 0:
            fail(f"{lab} describe ended with {found.returncode}:\n{found.stdout}")
        tracks = json.loads(path.read_text())["tracks"]
    return {track["name"]: {one["name"]: listed(one["defaults"]["bench"]) for one in track["parameters"]} for track in tracks}


def listed(values):
    return values if isinstance(values, list) else [values]


def run(command, seconds):
    """Whether the program came to its end in time, and well. What it has finished it writes when it is interrupted."""
    with subprocess.Popen(command) as child:
        try:
            return child.wait(timeout=seconds) == 0
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
            try:
                child.wait(timeout=60)
            except subprocess.TimeoutExpired:
                child.kill()
        except KeyboardInterrupt:
            child.wait()
            raise
    return False


def place(run_found, folder, commit):
    """Adds the rows of a result file that are of today's kernels to the records; (track, parameters, stage) of each that was
    timed."""
    today = tables.todays_digests()
    if commit:
        run_found = {**run_found, "program": {**run_found["program"], "commit": commit, "dirty": False}}
    placed = []
    for group in run_found["groups"]:
        rows = [row for row in group["rows"] if row["status"] in KEPT and row.get("sources") == today.get(row["stage"])]
        made = [(group["track"], tables.parameter_set(group["parameters"]), row["stage"]) for row in rows if row["status"] == "ok"]
        if not made:
            continue
        path = folder / f"{group['track']}.jsonl"
        added = [{**run_found, "groups": [{**group, "rows": [row]}], "complete": True} for row in rows]
        whole = path.with_suffix(".new")
        whole.write_text("".join([*without_older(path, added), *map(line_of, added)]), encoding="utf-8")
        whole.replace(path)
        print(f"{path}: {', '.join(stage.split('/')[1] for *_, stage in made)}", flush=True)
        placed += made
    return placed


def experiments(run):
    """What each row of a run is about (stage, parameters, state of the cache, processes), and the row."""
    for group in run["groups"]:
        for row in group["rows"]:
            yield (row["stage"], tables.parameter_set(group["parameters"]), group["l2"], run.get("options", {}).get("processes")), row


def without_older(path, added):
    """A file's lines without the rows of other kernels about which a timed row is added."""
    kernels = {about: row.get("sources") for run in added for about, row in experiments(run) if row["status"] == "ok"}
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []:
        run = json.loads(line)
        older = [row for about, row in experiments(run) if kernels.get(about, row.get("sources")) != row.get("sources")]
        if not older:
            yield line
            continue
        for group in run["groups"]:
            group["rows"] = [row for row in group["rows"] if row not in older]
        if any(group["rows"] for group in run["groups"]):
            yield line_of(run)


def line_of(run):
    """A line of the records: what all rows of the run repeat is cut to what is read of it."""
    floor = run["floor"] and {**run["floor"], "samples": []}
    return json.dumps({**run, "floor": floor}, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def record(calls, options, of_lab, defaults):
    """Runs the calls and places what they give, as far as the time goes; (track, parameters, stage) of each row placed."""
    end = time.monotonic() + options.seconds
    placed = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, call in enumerate(calls, 1):
            left = end - time.monotonic()
            if left < 1:
                print(f"no time for {len(calls) - number + 1} of {len(calls)} calls", flush=True)
                break
            path = (options.results or pathlib.Path(scratch)) / f"{number:03}_{call.track}.json"
            command = [options.lab, "run", *call.arguments(defaults[call.track]), "--json", str(path), *of_lab]
            print(f"[{number}/{len(calls)}] {' '.join(command[1:])}", flush=True)
            is_well = run(command, None if left == float("inf") else left)
            found = tables.read_record(path) if path.exists() else None
            if found is None:
                print("nothing was recorded" if is_well else "ended without a record", flush=True)
                continue
            for group in found["groups"]:
                for row in group["rows"]:
                    if row["status"] not in KEPT:
                        print(f"{row['stage']}: {row['status']}: {row['message']}", flush=True)
            if not options.results:
                placed += place(found, options.folder, options.commit)
    return placed


def main(arguments):
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    of_lab = arguments[cut + 1 :]
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--help", "-h", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--place", nargs="+", type=pathlib.Path, default=[])
    parser.add_argument("--folder", type=pathlib.Path, default=tables.RECORDS)
    parser.add_argument("--like", type=pathlib.Path)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--current", action="store_true")
    parser.add_argument("--longest", type=float, default=float("inf"))
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--commit")
    parser.add_argument("--lab", default=str(tables.ROOT / "lab"))
    options = parser.parse_args(arguments[:cut])
    if options.help:
        print(__doc__)
        return 0
    if options.commit is not None and not re.fullmatch("[0-9a-f]{7,40}", options.commit):
        fail(f"--commit {options.commit}: no hash of a commit")
    for given in ["--json", *(["--repeat"] if not options.results else [])]:
        if given in of_lab:
            fail(f"{given} is not for `lab run` here: the records have their own places")
    for directory in [options.like, options.results]:
        if directory is not None and not directory.is_dir():
            fail(f"{directory}: no directory")
    if options.like is None and not options.folder.is_dir():
        fail(f"{options.folder}: no directory, and no --like that says what is wanted")
    if options.place:
        found = [(path, tables.read_record(path)) for path in options.place]
        options.folder.mkdir(parents=True, exist_ok=True)
        missed = [path for path, one in found if not place(one, options.folder, options.commit)]
        for path in missed:
            print(f"{path}: no row of today's kernels")
        return 1 if missed else 0
    if not options.list:
        options.folder.mkdir(parents=True, exist_ok=True)
    here = tables.Records(options.folder)
    calls = wanted(tables.Records(options.like) if options.like else here, here, options)
    if options.list:
        for call in calls:
            text = ", ".join(f"{name} = {', '.join(map(text_of, values))}" for name, values in call.parameters.items())
            print(f"{call.track}: {text}: {', '.join(stage.split('/')[1] for stage in call.stages)}")
        return 0
    placed = record(calls, options, of_lab, defaults_of(options.lab))
    asked = sum(call.rows() for call in calls)
    print(f"{len(placed)} of {asked} rows recorded", flush=True)
    return 0 if options.results or len(placed) == asked else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except tables.BrokenRecord as broken:
        fail(broken)
    except KeyboardInterrupt:
        sys.exit(130)
