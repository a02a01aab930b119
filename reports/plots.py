#!/usr/bin/env python3
"""Draws recorded runs as SVG: one line for each stage of a track, or for each value of a parameter of one stage, against
another parameter.

usage: reports/plots.py time_against PARAMETER --track TRACK --output FILE.svg [--where NAME=VALUE]... RECORDS...
       reports/plots.py throughput_against PARAMETER (the same)
       reports/plots.py speedup_against gpus (the same)

time_against draws the median time of a launch, with the time of an empty kernel and the speed of light beside
it; throughput_against the fewest bytes that the problem must move over that time; speedup_against gpus, of a track
over several GPUs, how much more they do in the same time than the fastest stage on one, and with a dotted line as
much as there are GPUs. With --where scaling=weak each GPU has as many values as one alone. RECORDS are result files
(docs/results-schema.md) of one device. What was recorded twice is taken from the later run. All parameters but
PARAMETER must be the same in what is drawn: --where picks one value (--where type=32, or --where type=float32
where the records know the word), and --where l2=cold one state of the cache. A ceiling that stays in the cache
is left out: it is no measure of the memory. With --stage 05_two_scans --each operation there is a line for each
operation of this stage.

Needs matplotlib (package python3-matplotlib). The same records give the same bytes, text stays text, and stages
are told apart by their marks as well as by their colours. A page shows the plot with a pair of comments that
reports/tables.py fills in. A record of a sweep belongs into a directory of its own (reports/h200/small_n/), since
reports/tables.py makes a column of each parameter set that lies in reports/h200/ itself.
"""

import argparse
import json
import math
import pathlib
import sys

from tables import light_of, made_on, number, significant

# Paul Tol's "muted" colours for qualitative data, which the colour-blind tell apart (Tol, "Colour Schemes",
# SRON/EPS/TN/09-002), the darkest first, and marks in a cycle of another length. Libraries are black and dashed.
COLOURS = ["#332288", "#117733", "#882255", "#CC6677", "#44AA99", "#AA4499", "#999933", "#88CCEE", "#DDCC77"]
MARKS = ["o", "s", "^", "D", "v", "P", "X", "<", ">", "*"]
REFERENCE = "#555555"


class Records:
    """The rows of a track that are to be drawn: `stages` has {x: nanoseconds} of each, `bytes` {x: bytes},
    `ceilings` {x: nanoseconds}, `floor` a time or None, `runs` what is drawn of them, `common` the parameters that
    all share, as text."""

    def __init__(self, files, track, parameter, where, stage=None, each=None):
        self.stages, self.libraries, self.bytes, self.ceilings = {}, set(), {}, {}
        self.ceiling_kind = self.floor = None
        self.common = {}
        self.parameter, self.stage, self.each = parameter, stage, each
        points = {}
        devices = set()
        for run in sorted(files, key=lambda run: run["created"]):
            groups = [group for group in run["groups"] if group["track"] == track and self.is_wanted(group, where)]
            if stage:
                groups = [group for group in groups if any(row["stage"] == f"{track}/{stage}" for row in group["rows"])]
            for group in groups:
                for name in filter(None, (parameter, each)):
                    if name not in group["parameters"]:
                        raise ValueError(f"{track} has no parameter {name}: {', '.join(group['parameters'])}")
                self.take(run, group, points)
            if groups:
                devices.add(run["device"]["name"])
                self.floor = run["floor"]["median"] if run["floor"] else self.floor
        if not points:
            raise ValueError(f"the records hold no time of {track}" + (" with these values" if where else ""))
        self.runs = [run for _, run in points.values()]
        if len(devices) > 1:
            raise ValueError(f"records of several devices: {', '.join(sorted(devices))}")
        for (stage, x), (median, _) in sorted(points.items()):
            self.stages.setdefault(stage, {})[x] = median

    @staticmethod
    def is_wanted(group, where):
        known = {**group["parameters"], "l2": group["l2"]}
        for name, text in where.items():
            if name not in known:
                raise ValueError(f"{group['track']} has no parameter {name}: {', '.join(known)}")
            if text != str(known[name]):
                return False
        return True

    def take(self, run, group, points):
        for name, value in {**group["parameters"], "l2": group["l2"]}.items():
            if name in (self.parameter, self.each):
                continue
            known = self.common.setdefault(name, (value, number(value) if isinstance(value, int) else value))
            if known[0] != value:
                raise ValueError(f"{name} is {known[0]} in one record and {value} in another: add --where {name}={known[0]}")
        x = group["parameters"][self.parameter]
        self.bytes[x] = group["fewest_bytes"]
        self.ceilings.pop(x, None)
        light = light_of(group)
        if light:
            self.ceilings[x] = light["timing"]["median"]
            self.ceiling_kind = light["kind"]
        for row in group["rows"]:
            stage = row["stage"].split("/", 1)[1]
            if self.stage not in (None, stage):
                continue
            if self.each:
                stage = str(group["parameters"][self.each])
            if row["status"] != "ok":
                # A time from before the stage failed is not shown; one that did not fit says nothing.
                if row["status"] == "failed":
                    points.pop((stage, x), None)
                continue
            points[stage, x] = (row["timing"]["median"], run)
            if row["library"]:
                self.libraries.add(stage)

    def speedup(self, gpus, nanoseconds):
        """Times one GPU's fastest stage; a launch of weak scaling does as many times its work as there are GPUs."""
        work = gpus if self.common.get("scaling", ("strong", ""))[1] == "weak" else 1
        own = [line[1] for stage, line in self.stages.items() if 1 in line and stage not in self.libraries]
        return min(own) * work / nanoseconds

    def provenance(self):
        device = self.runs[0]["device"]
        if device["id"] == "emulator":
            return f"{device['name']}: times are the host's, not a GPU's"
        return made_on(self.runs)

    def caption(self):
        values = [f"{name} = {text}" for name, (value, text) in self.common.items() if name != "l2" and value != 0]
        state = self.common["l2"][1]
        return ", ".join(values + ([f"L2 {state}"] if state != "none" else []))


def read(paths):
    runs = []
    for path in paths:
        text = pathlib.Path(path).read_text()
        found = [json.loads(line) for line in text.splitlines()] if path.endswith(".jsonl") else [json.loads(text)]
        if any(run.get("schema") != "kernel-lab-results" for run in found):
            raise ValueError(f"{path} is no record of a run")
        # What several processes measured is an experiment of its own.
        runs += [run for run in found if len(found) == 1 or not run["options"].get("processes")]
    return runs


def count_text(value):
    """A place on the axis: 1, 10, 100, 1000, then 10⁴; between the powers of ten, plain digits."""
    power = round(math.log10(value))
    if value >= 10_000 and 10**power == value:
        return "10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(power))
    return f"{value:g}"


def time_text(nanoseconds):
    """A time on the axis, or in a label: "1 µs", "0.5 µs", "2.95 µs"."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def style_of(stage, records, own):
    if stage in records.libraries:
        return {"color": "black", "linestyle": "--", "marker": "x", "zorder": 3}
    place = own.index(stage)
    # A colour's second stage is dashed.
    line = "-" if place < len(COLOURS) else (0, (6, 2))
    return {"color": COLOURS[place % len(COLOURS)], "marker": MARKS[place % len(MARKS)], "linestyle": line}


def draw(records, track, meaning, output):
    """`meaning` is "time", "throughput" or "speedup"."""
    try:
        import matplotlib
    except ImportError:
        sys.exit("plots need matplotlib: install python3-matplotlib")
    matplotlib.use("svg")
    from matplotlib import pyplot, ticker

    matplotlib.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "kernel-lab", "font.family": "sans-serif", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
    )
    figure, axes = pyplot.subplots(figsize=(9, 5.4), layout="constrained")
    parameter = records.parameter
    every = sorted({x for line in records.stages.values() for x in line})
    if every[0] <= 0:
        print(f"{parameter} = {every[0]} has no place on a logarithmic axis, and is left out", file=sys.stderr)
        every = [x for x in every if x > 0]
    own = [stage for stage in sorted(records.stages) if stage not in records.libraries]

    def height(x, nanoseconds):
        if meaning == "speedup":
            return records.speedup(x, nanoseconds)
        return nanoseconds if meaning == "time" else records.bytes[x] / nanoseconds

    def points(line):
        places = [x for x in every if x in line]
        return places, [height(x, line[x]) for x in places]

    for stage in sorted(records.stages):
        label = stage + (" (library)" if stage in records.libraries else "")
        axes.plot(*points(records.stages[stage]), label=label, linewidth=1.5, markersize=5, **style_of(stage, records, own))
    if meaning == "speedup":
        axes.plot(every, every, label="as many times as GPUs", color=REFERENCE, linestyle=":", linewidth=2)
    elif records.ceilings:
        mark = {"marker": "."} if len(records.ceilings) == 1 else {}
        axes.plot(
            *points(records.ceilings), label=f"speed of light: {records.ceiling_kind}", color=REFERENCE, linestyle=":", linewidth=2, **mark
        )
    if meaning == "time" and records.floor:
        axes.axhline(records.floor, label=f"launch floor: empty kernel, {significant(records.floor / 1e3)} µs", color=REFERENCE, linestyle="-.", linewidth=1.2)

    axes.set_xscale("linear" if meaning == "speedup" else "log")
    axes.set_xlabel(parameter)
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda x, _: count_text(x)))
    if every[-1] < 10 * every[0] or meaning == "speedup":
        # Within one power of ten a tick for each value says more.
        axes.xaxis.set_major_locator(ticker.FixedLocator(every))
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    if meaning == "time":
        axes.set_yscale("log")
        axes.set_ylabel("median time of a launch")
        axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda y, _: time_text(y)))
        axes.yaxis.set_minor_formatter(ticker.NullFormatter())
        if math.log10(axes.get_ylim()[1] / axes.get_ylim()[0]) < 2:
            axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    elif meaning == "speedup":
        axes.set_ylim(bottom=0)
        axes.set_ylabel("times the fastest stage on one GPU")
    else:
        axes.set_ylim(bottom=0)
        axes.set_ylabel("throughput: fewest bytes / median time, GB/s")
    axes.grid(which="major", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    caption = records.caption()
    axes.set_title(f"{track}{'/' + records.stage if records.stage else ''}{': ' + caption if caption else ''}", loc="left", fontsize=11)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    figure.supxlabel(records.provenance(), fontsize=8, color=REFERENCE, x=0.01, ha="left")
    # Neither the date nor the version of the library: the same records give the same file.
    figure.savefig(output, format=pathlib.Path(output).suffix[1:] or "svg", metadata=metadata_for(output))
    pyplot.close(figure)


def metadata_for(output):
    if pathlib.Path(output).suffix == ".svg":
        return {"Date": None, "Creator": "reports/plots.py"}
    return {"Software": "reports/plots.py"}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["time_against", "throughput_against", "speedup_against"])
    parser.add_argument("parameter")
    parser.add_argument("--track", required=True)
    parser.add_argument("--output", required=True, metavar="FILE.svg", help="or .png, to look at")
    parser.add_argument("--stage", metavar="NN_name", help="this stage alone")
    parser.add_argument("--each", metavar="PARAMETER", help="a line for each value of this parameter; with --stage")
    parser.add_argument("--where", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("records", nargs="+", metavar="RECORDS")
    options = parser.parse_args(arguments)
    if pathlib.Path(options.output).suffix not in (".svg", ".png"):
        parser.error("--output: the name must end in .svg or .png")
    if options.each and not options.stage:
        parser.error("--each goes with --stage")
    if any("=" not in text for text in options.where):
        parser.error("--where takes NAME=VALUE")
    try:
        records = Records(read(options.records), options.track, options.parameter, dict(text.split("=", 1) for text in options.where), options.stage, options.each)
        meaning = options.what.removesuffix("_against")
        if meaning == "speedup" and options.parameter != "gpus":
            raise ValueError(f"a speedup is one against gpus, and not against {options.parameter}")
        if meaning == "speedup" and not any(1 in line for stage, line in records.stages.items() if stage not in records.libraries):
            raise ValueError("the records hold no time on one GPU, with which others would be compared")
        if meaning == "throughput" and any(size is None for size in records.bytes.values()):
            raise ValueError("these records know no fewest bytes: the emulator, which has no bandwidth, measures no ceiling")
    except (OSError, ValueError) as problem:
        sys.exit(f"reports/plots.py: {problem}")
    draw(records, options.track, meaning, options.output)


if __name__ == "__main__":
    main(sys.argv[1:])
