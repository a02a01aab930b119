#!/usr/bin/env python3
"""Writes the tables of the pages: the measured ones from the recorded runs, the predicted ones from the stages' claims.

A page says where a table goes with a pair of comments, and what stands between them is generated:

    <!-- ladder: TRACK -->                 every stage of a track, a column for each parameter set; of h100/TRACK
    <!-- /ladder -->                       from reports/h100; of TRACK@window=300,missing=skip those parameter sets alone
    <!-- measured: TRACK/NN_name -->       one stage, a row for each parameter set
    <!-- /measured -->
    <!-- scaling: TRACK -->                the stages of a track over several GPUs against one GPU's best
    <!-- /scaling -->
    <!-- accuracy: TRACK -->               the errors of a track's stages, and whether their bits repeat; of TRACK@n=1000
    <!-- /accuracy -->                     those parameter sets alone
    <!-- traffic: TRACK -->                what a launch of each stage moves, from the profiles in reports/h200/profiles/
    <!-- /traffic -->
    <!-- plot: small_n.svg time against n -->  an image beside the page (reports/plots.py), and words for who cannot
    <!-- /plot -->                             see it
    <!-- predicted: TRACK/NN_name -->      what the stage claims and why, what was measured, and whether it is right
    <!-- /predicted -->

    <!-- peers: TRACK -->                what a user would pick instead, from the newest reports/DEVICE/peers.json (reports/peers.py),
    <!-- /peers -->                       beside the track's best stage; "peers: summary" is a row for each track

    <!-- compile_times: TRACK -->         what compiling at run time costs, from reports/h200/compile_times/TRACK.json
    <!-- /compile_times -->

    <!-- nsight: NN_name -->             what Nsight Compute printed in a lab, from reports/h200/nsight/ (reports/nsight.py)
    <!-- /nsight -->

    <!-- counted: TRACK -->               what the emulator counts of each stage, from reports/counted.json (reports/counted.py)
    <!-- /counted -->

    <!-- counters: modelled -->               the catalogue of counters, harness/counters.json; or "counters: others"
    <!-- /counters -->

The records are the files of reports/h200/, one a track: TRACK.jsonl. A line is a result (docs/results-schema.md) of one
row, with its run (reports/record.py), and the newest of a stage and its parameters counts.
A stage's time is compared with the copy of its own run.

The claims are those of stages/TRACK/STAGE/claims.json (docs/claims.md). What they say of times is compared with the
records of every device, reports/DEVICE/, and what they say of counters with the emulator's, reports/claims.json. A claim that
a record breaks is an error, and so is a record or a file of claims that is broken itself, or a counter without a figure.

usage: reports/tables.py           rewrite the pages
       reports/tables.py --check   exit 1 when a page differs from what its records and claims say, and name the rows
                                   that older kernels have left

A table names the kernels that have changed since they were recorded: those whose digest of tokens
(reports/source_digest.py), which the program has put into the record, is not today's.

What is unstable, and what a ratio of two noisy rows is worth, docs/measuring.md defines; the program does the same.
"""

import functools
import json
import math
import pathlib
import re
import statistics
import sys
import textwrap

import claims
import counted as counted_ladders
import nsight as nsight_labs
import source_digest
from counters import total

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDS = ROOT / "reports" / "h200"
MOST_COLUMNS = 6  # of a ladder
MARKER = re.compile(r"(<!-- (ladder|measured|scaling|accuracy|predicted|traffic|counters|compile_times|peers|nsight|processes|counted): (\S+) -->\n).*?(<!-- /\2 -->)", re.DOTALL)
PLOT = re.compile(r"(<!-- plot: (\S+) (.+?) -->\n).*?(<!-- /plot -->)", re.DOTALL)
SCHEMA = json.loads((ROOT / "docs" / "results.schema.json").read_text())
NOTHING = "_Not recorded._\n"
TRAFFIC = ["lts__t_bytes.sum", "dram__bytes_read.sum", "dram__bytes_write.sum"]


def significant(value):
    """Three significant digits, zeros kept: "45.0"."""
    return f"{value:#.3g}".rstrip(".") if value < 1000 else f"{value:.0f}"


def duration(nanoseconds):
    """A time in the unit that leaves one to three digits before the point: "3.93 ms"."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= 0.9995 * size:  # which is rounded to 1
            return f"{significant(nanoseconds / size)} {unit}"
    return f"{significant(nanoseconds)} ns"


def number(value):
    """A parameter as a person writes it: 1e9 for a round thousand million, plain digits otherwise; or its word."""
    if isinstance(value, str):
        return value
    text = f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
    return text if value >= 100_000 and float(text) == value else f"{value:.0f}"


class BrokenRecord(Exception):
    """A record that cannot be used: its file, and why."""


def no_number(text):
    raise ValueError(f"{text} is no number of JSON")


# The fields without which nothing can be shown. The schema requires more; records of older programs lack some of it.
NEEDED = {
    "record": ("version", "created", "device", "program", "groups"),
    "device": ("name", "driver", "toolkit"),
    "program": ("commit",),
    "group": ("track", "parameters", "l2", "fewest_bytes", "ceilings", "rows"),
    "ceiling": ("kind", "timing"),
    "link": ("direct", "bytes", "timing", "of_8_bytes"),
    "row": ("stage", "library", "status", "message", "timing"),
    "timing": ("median", "spread", "samples", "unstable"),
}
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}


def is_of_type(value, name):
    return isinstance(value, TYPES[name]) and (not isinstance(value, bool) or name == "boolean")


def mismatch(value, schema, place, name="record"):
    """Where `value` is not as docs/results.schema.json has it, as text; None where it is. Fields that the schema does not
    know are a newer program's, and are left alone."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return mismatch(value, SCHEMA["$defs"][name], place, name)
    if "anyOf" in schema:
        found = [mismatch(value, choice, place, name) for choice in schema["anyOf"]]
        return None if None in found else found[0]
    types = schema.get("type", [])
    wrong = bool(types) and not any(is_of_type(value, one) for one in ([types] if isinstance(types, str) else types))
    wrong = wrong or ("const" in schema and value != schema["const"]) or ("enum" in schema and value not in schema["enum"])
    if not wrong and is_of_type(value, "number"):
        wrong = not math.isfinite(value) or value < schema.get("minimum", value) or not value > schema.get("exclusiveMinimum", -math.inf)
    if wrong:
        return f"{place} is {json.dumps(value)[:40]}"
    if isinstance(value, list):
        members = [(member, schema.get("items", {}), f"{place}/{number}", "") for number, member in enumerate(value)]
    elif isinstance(value, dict):
        missing = [field for field in NEEDED.get(name, ()) if field not in value]
        if missing:
            return f"{place} has no {missing[0]}"
        others = schema.get("additionalProperties") or {}
        members = [(member, schema.get("properties", {}).get(field, others), f"{place}/{field}", field) for field, member in value.items()]
    else:
        members = []
    return next(filter(None, (mismatch(*member) for member in members)), None)


def problem_of(run):
    """Why nothing can be shown of a record; None where it is whole."""
    problem = mismatch(run, SCHEMA, "record")
    for row in [] if problem else [row for group in run["groups"] for row in group["rows"]]:
        if "/" not in row["stage"]:
            return f"no stage is called {row['stage']}"
        if row["status"] == "ok" and run.get("verb") != "verify" and not (row["timing"] and row["timing"]["samples"]):
            return f"{row['stage']} has no times"
    return problem


def text_of(path):
    """The text of a file. Raises BrokenRecord where there is none."""
    if path.exists() and not path.is_file():
        raise BrokenRecord(f"{path}: no regular file")
    try:
        return path.read_bytes().decode()
    except (OSError, ValueError) as error:
        raise BrokenRecord(f"{path}: {' '.join(str(error).split())}") from None


def parsed(text, place):
    """The document that a text is. Raises BrokenRecord where it is none."""
    try:
        return json.loads(text, parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        raise BrokenRecord(f"{place}: {' '.join(str(error).split())}") from None


def whole(run, place):
    """The run. Raises BrokenRecord where nothing can be shown of it."""
    problem = problem_of(run)
    if problem:
        raise BrokenRecord(f"{place}: {problem}")
    return run


def read_json(path):
    """The document in a file. Raises BrokenRecord where it is none."""
    return parsed(text_of(path), path)


def read_record(path):
    """The run in a result file of `lab run --json`. Raises BrokenRecord."""
    return whole(read_json(path), path)


def read_records(path):
    """The runs in a file of records, one a line. Raises BrokenRecord, which names the line."""
    places = [(line, f"{path}: line {number}") for number, line in enumerate(text_of(path).splitlines(), 1)]
    return [whole(parsed(line, place), place) for line, place in places]


UNSTABLE_SPREAD = 0.03  # as harness/records.hpp has it


def quartiles(timing):
    """Between which half of the samples lies. Records of older programs have the samples alone."""
    if timing.get("upper_quartile"):
        return timing["lower_quartile"], timing["upper_quartile"]
    ordered = sorted(timing["samples"])

    def quantile(part):
        place = part * (len(ordered) - 1)
        below = int(place)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (place - below) * (ordered[above] - ordered[below])

    return quantile(0.25), quantile(0.75)


def is_unstable(row):
    """By the clock or what its samples leave open of their median, or since another process measured the same and disagrees."""
    timing = row["timing"]
    others = row.get("other_medians", [])
    # Records of before this rule call each spread above 3 % unstable; what they say of a smaller one is the clock's.
    throttled = timing["unstable"] and timing["spread"] <= UNSTABLE_SPREAD
    uncertainty = 1.57 * timing["spread"] / len(timing["samples"]) ** 0.5 if timing["samples"] else 0
    return throttled or uncertainty > UNSTABLE_SPREAD or any(abs(other / timing["median"] - 1) > UNSTABLE_SPREAD for other in others)


def is_decided(row, base):
    """Whether the middle halves of their samples lie apart; else chance says which of the two is faster."""
    a, b = quartiles(row["timing"]), quartiles(base["timing"])
    return row is base or a[1] < b[0] or b[1] < a[0]


@functools.cache
def todays_digests():
    return source_digest.Tree().digests()["stages"]


def of_one_run(row, other):
    """Ratios are of one run: another one is another experiment."""
    return row["run"]["created"] == other["run"]["created"]


def light_of(group):
    """The ceiling that is the speed of light: of the fastest of bytes and the fastest of operations, that which takes longer;
    None where there is none. What stays in the cache is no measure of the memory."""
    bytes_and_operations = [one for one in group["ceilings"] if not one.get("cached")]
    roofs = [[one for one in bytes_and_operations if ("operations" in one) == of_operations] for of_operations in (False, True)]
    fastest = [min(one, key=lambda ceiling: ceiling["timing"]["median"]) for one in roofs if one]
    return max(fastest, key=lambda ceiling: ceiling["timing"]["median"], default=None)


class Records:
    """The newest row of each stage and parameter set in a directory's records (*.jsonl): track -> parameter set -> stage
    -> row, with the run that each comes from."""

    def __init__(self, directory):
        self.directory = directory
        self.name = directory.name
        self.rows = {}
        self.claims = {}  # stage -> its claims
        self.figures = {}  # what the emulator counts of those
        self.other_devices = []  # records of the same stages on other devices
        self.broken = []  # what the records say against a claim
        self.processes = []  # groups that several processes measured at once, with their runs
        self.digests = todays_digests()  # of the kernels as they stand
        runs = [run for path in sorted(directory.glob("*.jsonl")) for run in read_records(path)]
        for run in sorted(runs, key=lambda run: run["created"]):
            for group in run["groups"]:
                if run.get("options", {}).get("processes"):
                    self.processes.append((run, group))  # another experiment than one process on as many GPUs
                    continue
                if group["l2"] == "warm":
                    continue  # another figure, which no page speaks of
                parameters = parameter_set(group["parameters"])
                stages = self.rows.setdefault(group["track"], {}).setdefault(parameters, {})
                light = light_of(group)
                for row in group["rows"]:
                    if row["status"] == "skipped" and row["stage"] in stages:
                        continue
                    before = stages.get(row["stage"])
                    stages[row["stage"]] = {
                        **row,
                        "other_medians": medians_of_same(before, row, run),
                        "run": run,
                        "bytes": group["fewest_bytes"],
                        "ceiling": light and light["timing"]["median"],
                        "ceiling_kind": light and light["kind"],
                        "amount": light and (light.get("operations") or light["bytes"]),
                        "link": next((ceiling["link"] for ceiling in group["ceilings"] if "link" in ceiling), None),
                    }

    def is_older(self, row):
        """Whether other sources than today's made the row, or nobody knows which."""
        return row.get("sources") is None or row["sources"] != self.digests.get(row["stage"])

    def claimed_sets(self, track, at):
        """The parameter sets that hold every parameter of a claim."""
        return [one for one in self.parameter_sets(track) if set(at.items()) <= set(one)]

    def parameter_sets(self, track):
        return sorted(self.rows.get(track, {}), key=lambda parameters: [(isinstance(value, str), value) for _, value in parameters])

    def previous(self, stages, stage):
        """The stage before, of one parameter set's rows, in a list; empty where a stage between the two was never recorded: over
        the one before that would be another figure."""
        track = stage.split("/")[0]
        before = [name for name in sorted(stages) if name < stage and stages[name]["status"] == "ok" and not stages[name]["library"]][-1:]
        recorded = {name for rows in self.rows[track].values() for name in rows}
        return before if all(name in recorded for name in self.digests if before and name.startswith(track + "/") and before[0] < name < stage) else []


def parameter_set(parameters):
    return tuple(sorted(parameters.items()))


def parameters_text(parameters):
    """ "n = 1e9, type = float32"."""
    return ", ".join(f"{name} = {number(value)}" for name, value in parameters)


def medians_of_same(before, row, run):
    """What other processes measured of the same kernel on such a device."""
    if before is None or before["status"] != "ok" or row.get("sources") is None or before.get("sources") != row["sources"]:
        return []
    return [*before["other_medians"], before["timing"]["median"]] if before["run"]["device"]["name"] == run["device"]["name"] else []


def light(row):
    """The part of the speed of light, in percent, as text; an unstable row says so."""
    if not row["ceiling"]:
        return f"-{unstable_text(row)}"
    return f"{100 * row['ceiling'] / row['timing']['median']:.1f} %{unstable_text(row)}"


def unstable_text(row):
    """ ", unstable: 4.01 to 4.52 ms": between the quartiles; nothing of a row that is not."""
    if not is_unstable(row):
        return ""
    lower, upper = (duration(value) for value in quartiles(row["timing"]))
    if lower.split()[1] == upper.split()[1]:
        lower = lower.split()[0]
    return f", unstable: {lower} to {upper}"


def age(records, rows):
    """" (earlier versions of ...)" where a kernel has changed since; else nothing."""
    older = sorted({row["stage"].split("/", 1)[1] for row in rows if records.is_older(row)})
    if not older:
        return ""
    if len({row["stage"] for row in rows}) == 1:
        return " (an earlier version of the kernel)"
    return f" (earlier versions of {'these kernels' if all(records.is_older(row) for row in rows) else ', '.join(older)})"


def made_on(runs):
    """The device, the day or the first and the last one, and the commit where all runs are of one."""
    dates = sorted({run["created"][:10] for run in runs})
    commits = {run["program"]["commit"][:8] for run in runs}
    words = [runs[0]["device"]["name"], dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"]
    return ", ".join(words + (list(commits) if len(commits) == 1 else []))


def provenance(records, rows):
    """One line that says where the figures come from. Drivers, samples and spreads are in the record (`lab report`)."""
    kinds = sorted({row["ceiling_kind"] for row in rows if row["ceiling_kind"]})
    ceilings = sorted((row["ceiling"], row["amount"]) for row in rows if row["ceiling"])
    text = f"{made_on([row['run'] for row in rows])}{age(records, rows)}."
    if ceilings:
        middle, amount = ceilings[len(ceilings) // 2]
        rate = amount / middle
        # Rows that move different amounts have no time in common.
        time = f"{duration(middle)}, " if ceilings[-1][0] < 1.02 * ceilings[0][0] else ""
        if set(kinds) <= {"copy", "read", "write"}:
            text += f" 100 %: a {' or '.join(kinds)} of the same bytes ({time}{rate:.0f} GB/s)."
        elif len(kinds) == 1:
            text += f" 100 %: as many operations on {kinds[0]} ({time}{rate / 1e3:.1f} TFLOP/s)."
        else:
            text += f" 100 %: the larger of two times, of the same bytes and of as many operations ({', '.join(kinds)})."
    return text


def worth_saying(records, track, parameters):
    """Those of a set's parameters that tell it from other records of the track, and sizes."""
    varied = [name for name in dict(parameters) if len({dict(one).get(name) for one in records.parameter_sets(track)}) > 1]
    return [(name, value) for name, value in parameters if name in varied or (not isinstance(value, str) and value > 0)]


def caption_of(records, track, common):
    """The parameters that all rows of a table share: "n = 1e9. "."""
    text = parameters_text(worth_saying(records, track, common))
    return f"{text}. " if text else ""


def chosen_sets(records, words):
    """Of "TRACK@n=1000,type=float32" the track, and those of its parameter sets that have these values."""
    track, _, chosen = words.partition("@")
    chosen = [pair.split("=") for pair in chosen.split(",") if pair]
    return track, [one for one in records.parameter_sets(track) if all(str(dict(one).get(name)) == value for name, value in chosen)]


def ladder(records, track):
    if "/" in track:
        device, track = track.split("/", 1)
        found = [one for one in (records, *records.other_devices) if one.name == device]
        return ladder_of(found[0], track) if found else NOTHING
    return ladder_of(first_with(records, track.partition("@")[0]), track)


def ladder_of(records, track):
    track, sets = chosen_sets(records, track)
    if not sets:
        return NOTHING
    common = [pair for pair in sets[0] if all(pair in parameters for parameters in sets)]
    varying = [[pair for pair in parameters if pair not in common] for parameters in sets]
    heads = [parameters_text(pairs) or "time" for pairs in varying]
    stages = sorted({stage for parameters in sets for stage in records.rows[track][parameters]})
    rows = [[records.rows[track][parameters].get(stage) for parameters in sets] for stage in stages]
    names = [stage.split("/", 1)[1] + (" (library)" if any(is_library(row) for row in rows[k]) else "") for k, stage in enumerate(stages)]
    cells = [[ladder_cell(row) for row in of_stage] for of_stage in rows]
    # A table that is wider than a page is turned.
    if len(sets) > max(MOST_COLUMNS, len(stages)):
        lines = table("parameters", names, heads, [list(column) for column in zip(*cells)])
    else:
        lines = table("stage", heads, names, cells)
    used = [row for of_stage in rows for row in of_stage if row is not None and row["status"] == "ok"]
    return "\n".join(lines) + f"\n\n{caption_of(records, track, common)}Median (part of the speed of light).{f' {provenance(records, used)}' if used else ''}\n"


def table(corner, heads, names, cells):
    lines = [f"| {corner} | " + " | ".join(heads) + " |", "| --- |" + " --- |" * len(heads)]
    return lines + [f"| {name} | " + " | ".join(row) + " |" for name, row in zip(names, cells)]


def is_library(row):
    return row is not None and row["status"] == "ok" and row["library"]


def ladder_cell(row):
    if row is None:
        return ""
    if row["status"] == "ok":
        return f"{duration(row['timing']['median'])} ({light(row)})"
    hidden = row["status"] == "skipped" and "expected failure" in row["message"]
    words = {"expected_failure": "expected failure", "skipped": "expected failure, not run" if hidden else "does not fit"}
    return words.get(row["status"], "FAILED")


def every_device():
    """The records of the H200, and with them those of the other devices."""
    records = Records(RECORDS)
    records.other_devices = [Records(directory) for directory in sorted(RECORDS.parent.glob("*/")) if directory.name != RECORDS.name]
    return records


def first_with(records, track, stage=None):
    """The records of the device with the most rows of today's kernels of the track, or of the stage; of equals the first."""

    def rows(one):
        found = [row for stages in one.rows.get(track, {}).values() for name, row in stages.items() if stage in (None, name)]
        return sum(row["status"] == "ok" and not one.is_older(row) for row in found)

    return max([records, *records.other_devices], key=rows)


def measured(records, words):
    stage, _, chosen = words.partition("@")
    track = stage.split("/")[0]
    records = first_with(records, track, stage)
    sets = [parameters for parameters in chosen_sets(records, f"{track}@{chosen}")[1] if stage in records.rows[track][parameters]]
    # Parameters that the stage is not made for are no result.
    sets = [one for one in sets if records.rows[track][one][stage]["status"] != "skipped"] or sets
    common = [pair for pair in sets[0] if all(pair in parameters for parameters in sets)] if len(sets) > 1 else []
    lines, used = [], []
    for parameters in sets:
        stages = records.rows[track][parameters]
        row = stages[stage]
        where = parameters_text(pair for pair in worth_saying(records, track, parameters) if pair not in common)
        if row["status"] != "ok":
            lines.append([where, f"{row['status'].replace('_', ' ')}: {row['message']}", "", "", ""])
            continue
        used.append(row)
        median = row["timing"]["median"]
        libraries = [name for name in sorted(stages) if stages[name]["status"] == "ok" and stages[name]["library"]]
        before = records.previous(stages, stage)

        def over(name):
            if not of_one_run(stages[name], row):
                return "-"
            if not is_decided(row, stages[name]):
                return "~"
            return significant(stages[name]["timing"]["median"] / median)

        previous = over(before[0]) if before and not row["library"] else "-"
        lines.append([where, duration(median), previous, over(libraries[0]) if libraries and not row["library"] else "-", light(row)])
    if not lines:
        return NOTHING
    heads = ["parameters", "time", "x previous", "x library", "speed of light"]
    kept = [k for k in range(len(heads)) if k < 2 or any(line[k] not in ("-", "") for line in lines)]
    text = table(heads[0], [heads[k] for k in kept[1:]], [line[0] for line in lines], [[line[k] for k in kept[1:]] for line in lines])
    return "\n".join(text) + (f"\n\n{caption_of(records, track, common)}{provenance(records, used)}\n" if used else "\n")


def link_text(link):
    """What the link between two GPUs does, in a sentence."""
    way = "" if link["direct"] else ", through the host's memory"
    return f"From one GPU to another{way}: {link['bytes'] / link['timing']['median']:.0f} GB/s, 8 bytes in {duration(link['of_8_bytes']['median'])}."


def scaling(records, track):
    """What more GPUs bring: a section for each set of the other parameters that was recorded on one GPU too."""
    records = first_with(records, track)
    families = {}
    for parameters in records.parameter_sets(track):
        values = dict(parameters)
        if "gpus" in values:
            gpus = values.pop("gpus")
            families.setdefault(tuple(values.items()), {})[gpus] = records.rows[track][parameters]
    sections, used = [], []
    for others, by_gpus in families.items():
        alone = [row for row in by_gpus.get(1, {}).values() if row["status"] == "ok" and not row["library"]]
        more = sorted(gpus for gpus in by_gpus if gpus > 1)
        if not alone or not more:
            continue
        best = min(alone, key=lambda row: row["timing"]["median"])
        is_weak = dict(others).get("scaling") == "weak"
        lines = ["| stage | GPUs | median | times one GPU | efficiency |", "| --- |" + " --- |" * 4]
        links = []
        for gpus in more:
            for stage, row in sorted(by_gpus[gpus].items()):
                if row["status"] != "ok" or not of_one_run(row, best):
                    continue
                used.append(row)
                links += [row["link"]] if row["link"] else []
                times = best["timing"]["median"] * (gpus if is_weak else 1) / row["timing"]["median"]
                lines.append(f"| {stage.split('/', 1)[1]} | {gpus} | {duration(row['timing']['median'])}{unstable_text(row)} | {times:.3f} | {100 * times / gpus:.1f} % |")
        if len(lines) == 2:
            continue
        head = f"{parameters_text(others)}. One GPU's best stage, {best['stage'].split('/', 1)[1]}: {duration(best['timing']['median'])}."
        for link in links[:1]:
            head += f" {link_text(link)}"
        sections.append(head + "\n\n" + "\n".join(lines))
    if not sections:
        return NOTHING
    return "\n\n".join(sections) + f"\n\n{provenance(records, used)}\n"


def processes(records, track):
    """What as many processes as GPUs take, beside one process that drives them all."""
    lines = ["| stage | processes | parameters | median | one process |", "| --- |" + " --- |" * 4]
    runs = {}
    for run, group in records.processes:
        if group["track"] != track:
            continue
        parameters = parameter_set(group["parameters"])
        for row in group["rows"]:
            if row["status"] != "ok":
                continue
            runs[run["created"]] = run
            alone = records.rows.get(track, {}).get(parameters, {}).get(row["stage"])
            of_one = duration(alone["timing"]["median"]) if alone and alone["status"] == "ok" else "-"
            lines.append(f"| {row['stage'].split('/', 1)[1]} | {run['options']['processes']} | {parameters_text(parameters)} | {duration(row['timing']['median'])}{unstable_text(row)} | {of_one} |")
    if not runs:
        return NOTHING
    last = runs[max(runs)]
    where = f"{last['device']['name']}, driver {last['device']['driver']}, {last['created'][:10]}, started by {last['options']['launcher']}."
    return "\n".join(lines) + f"\n\n{where}\n"


def accuracy(records, track):
    records = first_with(records, track.partition("@")[0])
    track, sets = chosen_sets(records, track)
    lines = ["| stage | parameters | allowed error | largest error found, part of the allowed one | same bits in every run |", "| --- |" + " --- |" * 4]
    used = []
    for stage in sorted({stage for parameters in sets for stage in records.rows[track][parameters]}):
        for parameters in sets:
            row = records.rows[track][parameters].get(stage)
            if row is None or row["status"] != "ok" or "relative_error" not in row["verification"]:
                continue
            used.append(row)
            # Not relative_error: where the run has made the proof, it is the largest of all trials, whose bounds are other ones.
            part, bound = (row["verification"][name] for name in ("largest_error", "relative_bound"))
            same = "yes" if row["verification"]["reproducible"] else "no"
            allowed = f"{bound:.2g}" if bound > 0 else "-"
            lines.append(f"| {stage.split('/', 1)[1]} | {parameters_text(parameters)} | {allowed} | {100 * part:.2g} % | {same} |")
    if not used:
        return NOTHING
    device = used[-1]["run"]["device"]
    return "\n".join(lines) + f"\n\nThe allowed error is relative to the sum of magnitudes. The percentage is the largest of all trials, each compared with its own bound. A dash: this run did not record it. {device['name']}{age(records, used)}.\n"


def traffic(records, track):
    """Kernels, bytes and times of one launch of each stage; a section for each profile, the smallest first."""
    profiles = []
    for path in (RECORDS / "profiles").glob(f"{track}_*.json"):
        document = read_json(path)
        profiles.append((parameter_set(document["stages"][0]["parameters"]), document))
    sections = []
    counted = []
    for parameters, document in sorted(profiles, key=lambda one: [(isinstance(value, str), value) for _, value in one[0]]):
        rows = records.rows.get(track, {}).get(parameters, {})
        fewest = next((row["bytes"] for row in rows.values()), None)
        lines = [
            f"{parameters_text(parameters)}" + (f": at least {fewest / 1e6:.1f} MB" if fewest else ""),
            "",
            "| stage | kernels | in and out of the L2 cache | of the memory | times the fewest | time |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for stage in document["stages"]:
            row = rows.get(stage["stage"])
            name = stage["stage"].split("/", 1)[1]
            if stage["skipped"] or stage["failure"]:
                lines.append(f"| {name} | {stage['skipped'] or stage['failure']} | | | | |")
                continue
            counted.append(stage)
            kernels = stage["profile"]["kernels"]
            cache, read, written = (total(kernels, metric) or 0 for metric in TRAFFIC)
            memory = read + written
            times = f"{cache / fewest:.2f}, {memory / fewest:.2f}" if fewest else "-"
            time = duration(row["timing"]["median"]) if row and row["status"] == "ok" else "-"
            lines.append(
                f"| {name} | {sum(kernel['launches'] for kernel in kernels)} | {cache / 1e6:.1f} MB | {memory / 1e6:.1f} MB | {times} | {time} |"
            )
        sections.append("\n".join(lines))
    if not sections:
        return NOTHING
    return "\n\n".join(sections) + f"\n\nCounted by Nsight Compute on an {document['device']['name']}, caches as the launch found them{age(records, counted)}.\n"


def plot(directory, image, words):
    return f"![{words}]({image})\n" if (directory / image).exists() else NOTHING


def recorded_figures(records, stage, claim):
    """What the records of a device say of a claim about time: (figure, whether it is unstable, the device's name) for each
    parameter set that it speaks of."""
    track = stage.split("/")[0]
    figures = []
    for parameters in records.claimed_sets(track, claim["at"]):
        stages = records.rows[track][parameters]
        row = stages.get(stage)
        if row is None or row["status"] != "ok" or not claims.speaks_of(claim, row["run"]["device"]):
            continue
        median = row["timing"]["median"]
        timed = [name for name in sorted(stages) if stages[name]["status"] == "ok"]
        own = [name for name in timed if not stages[name]["library"]]
        libraries = [name for name in timed if stages[name]["library"] and of_one_run(stages[name], row)]
        libraries.sort(key=lambda name: stages[name]["timing"]["median"])
        base = {
            "speedup": records.previous(stages, stage),
            "speedup_over_first": own[:1],
            "speedup_over_library": libraries[:1],
        }.get(claim["metric"], [])
        # Two runs are not compared, nor does another stage stand in for the one that was timed in another run.
        base = [name for name in base if of_one_run(stages[name], row)]
        unstable = is_unstable(row) or any(is_unstable(stages[name]) for name in base)
        device = row["run"]["device"]["name"].removeprefix("NVIDIA ").split()[0]
        if claim["metric"] == "speed_of_light_percent" and row["ceiling"]:
            figures.append((100 * row["ceiling"] / median, unstable, device))
        elif base:
            figures.append((stages[base[0]]["timing"]["median"] / median, unstable, device))
    return figures


def bound(group):
    """The prediction of one or two claims about the same figure: "8", "at least 1.5", "8.5 to 9"."""
    values = {claim["holds"]: counted_text(claim["value"]) for claim in group}
    if "at_least" in values and "at_most" in values:
        return f"{values['at_least']} to {values['at_most']}"
    words = {"equal": "", "at_least": "at least ", "at_most": "at most "}
    return ", ".join(words[relation] + value for relation, value in values.items())


def counted_text(value, digits=6):
    """A counter, or a ratio of counters: "1365120", "0.191"."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


LABELS = {one["name"]: one["label"] for one in claims.COUNTERS}


def figure_text(claim):
    """What a claim is about, in words: "load sectors / load requests"."""
    if claims.is_about_time(claim):
        return claims.TIME_WORDS[claim["metric"]]
    metric, per = (LABELS.get(name, f"`{name}`") if name else "" for name in (claim["metric"], claim["per"]))
    return metric + (f" / {per}" if per else "") + (", over the stage before's" if claim["over_previous"] else "")


def claimed(records, stage, group):
    """What was measured of a figure, as text, and whether that is as its claims say: "right", "wrong", or "-" where nothing
    was measured that is stable."""
    claim = group[0]
    if claims.is_about_time(claim):
        found = [figure for device in (records, *records.other_devices) for figure in recorded_figures(device, stage, claim)]
        text = ", ".join(f"{significant(value)} on {device}{' (unstable)' if unstable else ''}" for value, unstable, device in found)
    else:
        figure = records.figures.get(claims.figure_key(stage, claim))
        if figure is None:
            records.broken.append(f"{stage}: {claims.COUNTED} has no figure of {claim['metric']} at {claim['at']}: reports/claims.py --count")
            return "-", "-"
        found = [(figure, False, "the emulator")]
        text = counted_text(figure, 6 if claim["holds"] == "equal" else 3)
    broken = [(one, value, device) for one in group for value, unstable, device in found if not unstable and not claims.holds(one, value)]
    records.broken += [f"{stage}: {one['metric']} {one['holds']} {one['value']} at {one['at']}, and the record of {device} says {value:.4g}" for one, value, device in broken]
    if all(unstable for _, unstable, _ in found):
        return text or "-", "-"
    return text, "wrong" if broken else "right"


def predicted(records, stage):
    own = records.claims.get(stage, {"claims": []})["claims"]
    if not own:
        return "_Nothing is claimed._\n"
    same = {}
    for claim in own:
        same.setdefault((*claims.figure_key(stage, claim), claim["device"], claim["compute_capability"]), []).append(claim)
    # Where all counters were counted is said once.
    places = [set(claim["at"].items()) for claim in own if not claims.is_about_time(claim)]
    common = set.intersection(*places) if places else set()
    lines = ["| predicted | why | measured | right? |", "| --- | --- | --- | --- |"]
    for group in same.values():
        claim = group[0]
        where = [pair for pair in claim["at"].items() if pair not in common]
        what = f"{figure_text(claim)}: {bound(group)}" + (f" ({parameters_text(where)})" if where else "")
        because = " ".join(one["because"] for one in group if one["because"])
        measured_text, verdict = claimed(records, stage, group)
        if all(one["after_measurement"] for one in group):
            continue  # A bound that was set after the measurement is tested, and predicts nothing.
        lines.append(f"| {what} | {because} | {measured_text} | {verdict} |")
    if len(lines) == 2:
        return "_The bounds that are tested were set after the measurement._\n"
    at = f", at {parameters_text(pair for pair in own_order(own) if pair in common)}" if common else ""
    return "\n".join(lines) + (f"\n\n[Counters](../../../docs/counters.md) are the emulator's{at}.\n" if places else "\n")


def own_order(own):
    """The parameters of claims in the order in which the first names them."""
    return dict.fromkeys(pair for claim in own for pair in claim["at"].items())


def counters(_records, which):
    """The catalogue: what the emulator models, or what it does not."""
    lines = ["| counter | short name | meaning | unit |", "| --- | --- | --- | --- |"]
    for one in claims.COUNTERS:
        if one["modelled"] == (which == "modelled"):
            lines.append(f"| `{one['name']}` | {one['label']} | {one['meaning']} | {one['unit']} |")
    return "\n".join(lines) + "\n"


def counted(records, track):
    """What the emulator counts: a row a stage, and the columns that any of them fills."""
    of = counted_ladders.read()[track]
    used = [name for name in counted_ladders.COLUMNS if any(stage[name] is not None for stage in of["stages"].values())]
    names, cells = [], []
    for name, stage in of["stages"].items():
        older = records.digests.get(f"{track}/{name}") != stage["sources"]
        names.append(name + (" (an earlier version of the kernel)" if older else ""))
        cells.append(["-" if stage[column] is None else counted_text(stage[column], 4) for column in used])
    lines = table("stage", [counted_ladders.COLUMNS[name] for name in used], names, cells)
    return "\n".join(lines) + f"\n\nCounted by the emulator, in one launch of {parameters_text(of['parameters'].items())}.\n"


def compile_times(_records, track):
    """Milliseconds of each way to compile, medians of fresh processes."""
    document = read_json(RECORDS / "compile_times" / f"{track}.json")
    lines = [
        "| way | libraries loaded, ms | first function, ms | next function, ms | from the cache, ms | processes |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for way in dict.fromkeys(row["way"] for row in document["rows"]):
        rows = [row for row in document["rows"] if row["way"] == way]
        cells = [f"{1e3 * statistics.median(row[member] for row in rows):.3g}" for member in ("load_seconds", "first_seconds", "next_seconds", "cached_seconds")]
        lines.append(f"| {way} | {' | '.join(cells)} | {len(rows)} |")
    return "\n".join(lines) + f"\n\n{document['machine']}, {document['created'][:10]}.\n"


def parameters_of_lab(track, parameters):
    """A peer's parameters as the track's records name them."""
    more = {
        "convolution": {"edge": "zero"},
        "ewm": {"adjust": "true"},
        "redact": {"content": "people", "allocator": "none"},
        "reduction": {"operation": "sum"},
        "reduction_2d": {"pitch": 0},
        "rolling": {"missing": "propagate", "min-periods": 0},
        "scan": {"kind": "inclusive", "operation": "sum"},
        "softmax": {"type": "float32"},
        "udf": {"function": "square", "result": "int64", "window": 0},
    }
    found = {**parameters, **more.get(track, {})}
    if track in ("softmax", "reduction_2d"):
        found["rows"], found["columns"] = found.pop("height"), found.pop("width")
    if track == "reduction_2d":
        found["result"] = found.pop("operation").replace("sum", "total")
    return found


def best_stage(records, track, parameters):
    """The row of the track's fastest stage of the same parameters; of no library, and None where there is none."""
    wanted = parameters_of_lab(track, parameters).items()
    rows = [row for one in (records.parameter_sets(track) if records else []) if wanted <= set(one)
            for row in records.rows[track][one].values() if row["status"] == "ok" and not row["library"]]
    return min(rows, key=lambda row: row["timing"]["median"], default=None)


def peers_document(records, track):
    """What reports/peers.py has recorded last of a track, or of any, and the records of its device; None where nothing is."""
    paths = [(one, one.directory / "peers.json") for one in (records, *records.other_devices)]
    found = [(read_json(path), one, path) for one, path in paths if path.exists()]
    for document, _, path in found:
        is_right = isinstance(document, dict) and document.get("schema") == "kernel-lab-peers" and document.get("version") == 1
        if not is_right or not isinstance(document.get("created"), str) or not isinstance(document.get("rows"), list):
            raise BrokenRecord(f"{path}: no record of reports/peers.py")
    having = [one for one in found if track == "summary" or any(isinstance(row, dict) and row.get("track") == track for row in one[0]["rows"])]
    return max(having or found, key=lambda one: one[0]["created"], default=None)


def sets_of_peers(document, track):
    """[(on the CPU, parameters, rows)] of a track: what runs on a GPU first, and the smaller problem before the larger; in each the
    fastest first."""
    found = {}
    for row in document["rows"]:
        if row["track"] == track:
            found.setdefault((row["on"] == "cpu", tuple(row["parameters"].items())), []).append(row)
    in_order = sorted(found.items(), key=lambda one: (one[0][0], [str(value).rjust(20) for _, value in one[0][1]]))
    return [(on_cpu, dict(parameters), sorted(rows, key=lambda row: (row["median"] or math.inf, row["peer"])))
            for (on_cpu, parameters), rows in in_order]


def times_as_fast(figure, other):
    return f"{significant(figure)} times as fast as {other}" if figure < 10_000 else f"{figure:.0f} times as fast as {other}"


def stage_beside_peers(row, rows, copies):
    """The line of the track's best stage above the peers of the same parameters."""
    name, median = row["stage"].split("/", 1)[1], row["timing"]["median"]
    fastest = next((one for one in rows if one["status"] == "ok"), None)
    beside = times_as_fast(fastest["median"] / median, fastest["peer"]) if fastest else "-"
    operations = rows[0].get("operations") if rows[0]["track"].startswith("matrix_product") else None
    copy = row["ceiling"] if row["ceiling_kind"] == "copy" else copies.get(rows[0]["bytes"])
    return f"**{name}**", median, share_text(operations, copy, median), beside


def short(message):
    """A library's message in a cell."""
    return textwrap.shorten(message.replace("|", "/"), 120, placeholder=" ...")


def share_text(operations, copy, median):
    if operations:
        return f"{operations / median / 1e3:.1f} TFLOP/s"
    return f"{100 * copy / median:.1f} %" if copy else "-"


def peers(records, track):
    """Other libraries' times for a track's problem, each beside a copy of the same bytes in the same process, and the track's best
    stage of the same parameters."""
    found = peers_document(records, track)
    if found is None:
        return "Not recorded yet.\n"
    document, records, path = found
    try:
        if track == "summary":
            return peers_summary(records, document)
        copies = {one["bytes"]: one["median"] for one in document["copies"]}
        products = track.startswith("matrix_product")
        share = "operations" if products else "of a copy's speed"
        lines = [f"| peer, or **stage** | parameters | median | {share} | the stage is |", "| --- | --- | --- | --- | --- |"]
        libraries, stages = set(), []
        for on_cpu, parameters, rows in sets_of_peers(document, track):
            what = ", ".join(f"{name} = {number(value)}" for name, value in parameters.items())
            stage, values = best_stage(records, track, parameters), 1
            if stage is None and on_cpu and "n" in parameters:
                # Of fewer values than the stages': compared by the value.
                values = 1e9 / parameters["n"]
                stage = best_stage(records, track, {**parameters, "n": 10**9})
            elif stage is not None and not on_cpu:
                name, median, share, beside = stage_beside_peers(stage, rows, copies)
                lines.append(f"| {name} | {what} | {duration(median)} | {share} | {beside} |")
            stages += [stage] if stage else []
            for row in rows:
                libraries.add(row["library"])
                peer = row["peer"] + (" (CPU)" if on_cpu else "")
                if row["status"] != "ok":
                    lines.append(f"| {peer} | {what} | {row['status']}: {short(row['message'])} | - | - |")
                    continue
                copy = None if on_cpu else copies.get(row["bytes"])
                share = share_text(row.get("operations") if products else None, copy, row["median"])
                beside = f"{significant(row['median'] * values / stage['timing']['median'])} times as fast" + (" for each value" if values != 1 else "") if stage else "-"
                lines.append(f"| {peer} | {what} | {duration(row['median'])} | {share} | {beside} |")
        if not libraries:
            return "Not recorded yet.\n"
        return "\n".join(lines) + f"\n\n{peers_caption(records, document, libraries, stages)}\n"
    except (KeyError, TypeError, AttributeError, ZeroDivisionError) as missing:
        raise BrokenRecord(f"{path}: {type(missing).__name__}: {missing}") from None


def peers_caption(records, document, libraries, stages):
    """Where the figures come from."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(document["libraries"].items()) if name in libraries)
    text = f"{document['device']['name']}, driver {document['device']['driver']}, {document['created'][:10]}; {versions}."
    if stages:
        text += f" The stages: {made_on([row['run'] for row in stages])}{age(records, stages)}."
    return text


def peers_summary(records, document):
    """A row for each track that has peers on the GPU and stages of the same parameters."""
    lines = ["| track | parameter sets | the best stage is as fast as the fastest peer, times | fastest peers |", "| --- | --- | --- | --- |"]
    for track in sorted({row["track"] for row in document["rows"]}):
        ratios, names = [], []
        for on_cpu, parameters, rows in sets_of_peers(document, track):
            stage = best_stage(records, track, parameters)
            fastest = next((row for row in rows if row["status"] == "ok"), None)
            if stage is not None and fastest is not None and not on_cpu:
                ratios.append(fastest["median"] / stage["timing"]["median"])
                names.append(fastest["peer"])
        if ratios:
            low, high = significant(min(ratios)), significant(max(ratios))
            lines.append(f"| [{track}](#{track}) | {len(ratios)} | {low if low == high else f'{low} to {high}'} | {', '.join(dict.fromkeys(names))} |")
    return "\n".join(lines) + "\n"


def nsight(_records, lab):
    """What a lab's command printed on a GPU: device and versions, then the sections as they were recorded."""
    if lab not in nsight_labs.LABS:
        raise BrokenRecord(f"<!-- nsight: {lab} -->: reports/nsight.py has no such lab")
    path = RECORDS / "nsight" / f"{lab}.txt"
    if not path.exists():
        return "_Not recorded yet._\n"
    try:
        where, _, text = path.read_text(encoding="utf-8").partition("\n\n")
    except UnicodeDecodeError as error:
        raise BrokenRecord(f"{path}: {error}") from None
    if not text.strip() or "```" in text:
        raise BrokenRecord(f"{path}: no record of reports/nsight.py")
    return f"{where}:\n\n```text\n{text.rstrip()}\n```\n"


def page(records, text, directory):
    makers = {"counted": counted, "nsight": nsight, "peers": peers, "compile_times": compile_times, "ladder": ladder, "measured": measured, "scaling": scaling, "processes": processes, "accuracy": accuracy, "predicted": predicted, "traffic": traffic, "counters": counters}
    text = MARKER.sub(lambda match: match[1] + makers[match[2]](records, match[3]) + match[4], text)
    return PLOT.sub(lambda match: match[1] + plot(directory, match[2], match[3]) + match[4], text)


def older_rows(records):
    """A line for each track with rows that older kernels have left; its tables say so too."""
    for track, sets in sorted(records.rows.items()):
        rows = [row for stages in sets.values() for row in stages.values() if row["status"] == "ok"]
        older = sorted({row["stage"].split("/", 1)[1] for row in rows if records.is_older(row)})
        if older:
            unknown = all(row.get("sources") is None for row in rows if records.is_older(row))
            yield f"older kernels than today's{' (no digest)' if unknown else ''}: {track}: {', '.join(older)}"


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    records = every_device()
    records.claims, records.figures = claims.read_all(ROOT), claims.read_figures(ROOT)
    stale = []
    for path in sorted([ROOT / "README.md", ROOT / "docs" / "counters.md", ROOT / "docs" / "nsight-labs.md", ROOT / "docs" / "peers.md", *ROOT.glob("docs/slides/*.md"), *ROOT.glob("stages/**/*.md")]):
        old = path.read_text()
        new = page(records, old, path.parent)
        if new == old:
            continue
        stale.append(path.relative_to(ROOT))
        if not arguments:
            path.write_text(new)
    for path in stale:
        print(f"{path}: {'differs from the records or the claims' if arguments else 'rewritten'}")
    for text in older_rows(records) if arguments else []:
        print(text)
    for text in records.broken:
        print(f"broken in the records: {text}")
    return 1 if records.broken or (stale and arguments) else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (BrokenRecord, claims.BrokenClaims) as broken:
        sys.exit(f"tables.py: {broken}")
