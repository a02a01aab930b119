#!/usr/bin/env python3
"""Writes the measured tables of the pages from the recorded runs.

A page says where a table goes with a pair of comments, and what stands between them is generated:

    <!-- ladder: moving_average -->            every stage of a track, a column for each parameter set
    <!-- /ladder -->
    <!-- measured: moving_average/01_naive --> one stage, a row for each parameter set
    <!-- /measured -->
    <!-- accuracy: reduction -->               the errors of a track's stages, and whether their bits repeat
    <!-- /accuracy -->
    <!-- plot: small_n.svg time against n -->  an image beside the page (reports/plots.py), and words for who cannot
    <!-- /plot -->                             see it

The records are the result files (docs/results-schema.md) in reports/h200/. A stage's time is compared with the
copy of its own run. A stage that was recorded twice with the same parameters is taken from the later run.

usage: reports/tables.py            rewrite the pages
       reports/tables.py --check    exit 1 when a page differs from what its records say
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDS = ROOT / "reports" / "h200"
MARKER = re.compile(r"(<!-- (ladder|measured|accuracy): (\S+) -->\n).*?(<!-- /\2 -->)", re.DOTALL)
PLOT = re.compile(r"(<!-- plot: (\S+) (.+?) -->\n).*?(<!-- /plot -->)", re.DOTALL)
NOTHING = "_Not recorded._\n"


def significant(value):
    """Three significant digits, zeros kept: "45.0"."""
    return f"{value:#.3g}".rstrip(".") if value < 1000 else f"{value:.0f}"


def duration(nanoseconds):
    """A time in the unit that leaves one to three digits before the point: "3.93 ms"."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{significant(nanoseconds / size)} {unit}"
    return f"{significant(nanoseconds)} ns"


def number(value):
    """A parameter as a person writes it: 1e9 for a round thousand million, plain digits otherwise."""
    text = f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
    return text if value >= 100_000 and float(text) == value else str(value)


class Records:
    """All recorded rows: track -> parameter set -> stage -> row, with the run that each comes from."""

    def __init__(self, directory):
        self.rows = {}
        self.choice_names = {}  # (track, parameter, value) -> the word for that value, where a run knows one
        files = [json.loads(path.read_text()) for path in sorted(directory.glob("*.json"))]
        for run in sorted(files, key=lambda run: run["created"]):
            for group in run["groups"]:
                parameters = tuple(sorted(group["parameters"].items()))
                stages = self.rows.setdefault(group["track"], {}).setdefault(parameters, {})
                for name, word in group.get("choice_names", {}).items():
                    self.choice_names[group["track"], name, group["parameters"][name]] = word
                # What stays in the cache is no measure of the memory.
                ceilings = [ceiling["timing"]["median"] for ceiling in group["ceilings"] if not ceiling.get("cached")]
                for row in group["rows"]:
                    if row["status"] == "skipped" and row["stage"] in stages:
                        continue
                    stages[row["stage"]] = {
                        **row,
                        "run": run,
                        "bytes": group["fewest_bytes"],
                        "ceiling": min(ceilings) if ceilings else None,
                        "ceiling_kind": group["ceilings"][0]["kind"] if ceilings else None,
                    }

    def parameter_sets(self, track):
        return sorted(self.rows.get(track, {}))

    def parameters_text(self, track, parameters):
        """ "n = 1e9, type = float32"."""
        return ", ".join(f"{name} = {self.choice_names.get((track, name, value), number(value))}" for name, value in parameters)


def light(row):
    """The part of the speed of light, in percent, as text; an unstable row says so."""
    if not row["ceiling"]:
        return "-"
    unstable = ", unstable" if row["timing"]["unstable"] else ""
    return f"{100 * row['ceiling'] / row['timing']['median']:.1f} %{unstable}"


def provenance(rows, track):
    """One line that says where the figures come from."""
    runs = {}
    for row in rows:
        run = row["run"]
        runs[run["created"]] = run
    last = runs[max(runs)]
    device = last["device"]
    commits = sorted({run["program"]["commit"][:12] for run in runs.values()})
    kinds = sorted({row["ceiling_kind"] for row in rows if row["ceiling_kind"]})
    copies = sorted({row["ceiling"] for row in rows if row["ceiling"]})
    rates = sorted(row["bytes"] / row["ceiling"] for row in rows if row["ceiling"])
    text = f"{device['name']}, driver {device['driver']}, toolkit {device['toolkit']}, {last['created'][:10]}, commit {', '.join(commits)}."
    if copies:
        middle = copies[len(copies) // 2]
        text += f" Speed of light: a {' or '.join(kinds)} of the same bytes in the same run, {duration(middle)} ({rates[len(rates) // 2]:.0f} GB/s)."
    return text


def ladder(records, track):
    sets = records.parameter_sets(track)
    if not sets:
        return NOTHING
    common = [pair for pair in sets[0] if all(pair in parameters for parameters in sets)]
    varying = [[pair for pair in parameters if pair not in common] for parameters in sets]
    heads = [records.parameters_text(track, pairs) or "time" for pairs in varying]
    stages = sorted({stage for parameters in sets for stage in records.rows[track][parameters]})
    used = []
    lines = ["| stage | " + " | ".join(heads) + " |", "| --- |" + " --- |" * len(heads)]
    for stage in stages:
        name = stage.split("/", 1)[1]
        cells = []
        library = False
        for parameters in sets:
            row = records.rows[track][parameters].get(stage)
            if row is None:
                cells.append("")
            elif row["status"] == "ok":
                used.append(row)
                library |= row["library"]
                cells.append(f"{duration(row['timing']['median'])} ({light(row)})")
            else:
                hidden = row["status"] == "skipped" and "specimen" in row["message"]
                words = {"specimen": "specimen", "skipped": "specimen, not run" if hidden else "does not fit"}
                cells.append(words.get(row["status"], "FAILED"))
        lines.append(f"| {name}{' (library)' if library else ''} | " + " | ".join(cells) + " |")
    caption = records.parameters_text(track, common)
    return "\n".join(lines) + f"\n\n{caption + '. ' if caption else ''}Median (part of the speed of light). {provenance(used, track)}\n"


def measured(records, stage):
    track = stage.split("/")[0]
    lines = ["| parameters | median | spread | samples | x previous | x first | x library | speed of light |", "| --- |" + " --- |" * 7]
    used = []
    for parameters in records.parameter_sets(track):
        stages = records.rows[track][parameters]
        row = stages.get(stage)
        if row is None:
            continue
        if row["status"] != "ok":
            lines.append(f"| {records.parameters_text(track, parameters)} | {row['status']}: {row['message']} | | | | | | |")
            continue
        used.append(row)
        own = [name for name in sorted(stages) if stages[name]["status"] == "ok" and not stages[name]["library"]]
        median = row["timing"]["median"]
        libraries = [name for name in sorted(stages) if stages[name]["status"] == "ok" and stages[name]["library"]]
        before = [name for name in own if name < stage]

        def over(name):
            # Ratios are of one run: another one is another experiment.
            if stages[name]["run"] is not row["run"]:
                return "-"
            return significant(stages[name]["timing"]["median"] / median)

        lines.append(
            f"| {records.parameters_text(track, parameters)} | {duration(median)} | {100 * row['timing']['spread']:.2f} % "
            f"| {len(row['timing']['samples'])} | {over(before[-1]) if before and not row['library'] else '-'} "
            f"| {over(own[0]) if own else '-'} | {over(libraries[0]) if libraries else '-'} | {light(row)} |"
        )
    if len(lines) == 2:
        return NOTHING
    return "\n".join(lines) + (f"\n\n{provenance(used, track)}\n" if used else "\n")


def accuracy(records, track):
    lines = ["| stage | parameters | largest error | allowed | same bits in every run |", "| --- |" + " --- |" * 4]
    used = []
    for stage in sorted({stage for stages in records.rows.get(track, {}).values() for stage in stages}):
        for parameters in records.parameter_sets(track):
            row = records.rows[track][parameters].get(stage)
            if row is None or row["status"] != "ok" or "relative_error" not in row["verification"]:
                continue
            used.append(row)
            error, bound = (row["verification"][name] for name in ("relative_error", "relative_bound"))
            same = "yes" if row["verification"]["reproducible"] else "no"
            lines.append(f"| {stage.split('/', 1)[1]} | {records.parameters_text(track, parameters)} | {error:.2g} | {bound:.2g} | {same} |")
    if not used:
        return NOTHING
    return "\n".join(lines) + f"\n\nErrors relative to the sum of magnitudes. {provenance(used, track)}\n"


def plot(directory, image, words):
    return f"![{words}]({image})\n" if (directory / image).exists() else NOTHING


def page(records, text, directory):
    makers = {"ladder": ladder, "measured": measured, "accuracy": accuracy}
    text = MARKER.sub(lambda match: match[1] + makers[match[2]](records, match[3]) + match[4], text)
    return PLOT.sub(lambda match: match[1] + plot(directory, match[2], match[3]) + match[4], text)


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    records = Records(RECORDS)
    stale = []
    for path in sorted([ROOT / "README.md", *ROOT.glob("stages/**/*.md")]):
        old = path.read_text()
        new = page(records, old, path.parent)
        if new == old:
            continue
        stale.append(path.relative_to(ROOT))
        if not arguments:
            path.write_text(new)
    for path in stale:
        print(f"{path}: {'differs from the records' if arguments else 'rewritten'}")
    return 1 if stale and arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
