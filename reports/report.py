#!/usr/bin/env python3
"""Makes pages of recorded runs: `lab report`.

usage: lab report FILE... [--output report.html]     one page that needs nothing else, of result files and of counters
       lab report DIR --output SITE/                 a gallery: a page for each record below DIR, and an index

FILEs are what `lab run --json` and `lab profile --json` write. A page shows the device and the versions, each ladder on
its way to the speed of light, sweeps as lines, a roofline with the roofs that were measured, the samples as
distributions, counters with the stages as columns, and the records themselves to download. Every figure stands beside a
table of its numbers, so that the page reads without JavaScript and aloud.

The figures are Plotly's. Its script is embedded; it is taken from --plotly FILE, else from the Python package (python3 -m
pip install plotly), else from Debian's and Ubuntu's python3-plotly. --no-figures makes pages of tables alone.

Exit codes: 0, or 2 for a file that is no record, which is named, or where Plotly is missing. Nothing is written then.
"""

import argparse
import base64
import importlib.util
import json
import math
import os
import pathlib
import sys
import tempfile
from html import escape

import counters
import report_figures
from tables import BrokenRecord, duration, link_text, number, parameter_set, parameters_text, problem_of, read_json, read_records, significant

HERE = pathlib.Path(__file__).resolve().parent
LARGEST = 256 << 20  # bytes of a record


class Refused(Exception):
    """What was asked cannot be done, in words for a person."""


class NoRecord(Refused):
    """A file of JSON that does not say to be a record of the lab's."""


def read(path):
    """A record: ("run" or "counters", its document, its bytes). None for another of the lab's records. Raises Refused. Of a
    file of records (.jsonl), a run of the newest row of each stage and its parameters."""
    if not path.is_file():
        raise Refused(f"{path}: " + ("no such file" if not path.exists() else "is no regular file"))
    if path.stat().st_size > LARGEST:
        raise Refused(f"{path}: {path.stat().st_size} bytes are too many for a record; {LARGEST} are read at most")
    try:
        document = newest_rows(read_records(path)) if path.suffix == ".jsonl" else read_json(path)
        schema = document.get("schema") if isinstance(document, dict) else None
        if schema == "kernel-lab-results":
            if document.get("version") != 1:
                raise Refused(f"{path}: is of version {json.dumps(document.get('version'))[:40]}, and this program reads version 1")
            problem = problem_of(document) or problem_of_times(document)
            if problem:
                raise Refused(f"{path}: {problem}")
            return "run", document, path.read_bytes()
        if schema == "kernel-lab-profile":
            problem = problem_of_counters(document)
            if problem:
                raise Refused(f"{path}: {problem}")
            return "counters", document, path.read_bytes()
    except BrokenRecord as problem:
        raise Refused(str(problem)) from None
    if isinstance(schema, str) and schema.startswith("kernel-lab-"):
        return None
    raise NoRecord(f"{path}: is no record of lab run or lab profile (--json FILE writes one)")


def newest_rows(runs):
    """One run, with a group for each parameter set. What several processes measured at once is an experiment of its own, which
    the tables show, and is left out where there is another; None where there is no run."""
    alone = [run for run in runs if not run.get("options", {}).get("processes")] or runs
    groups = {}
    for run in sorted(alone, key=lambda run: run["created"]):
        for group in run["groups"]:
            key = group["track"], parameter_set(group["parameters"]), group["l2"]
            rows = {**groups.get(key, {"rows": {}})["rows"], **{row["stage"]: row for row in group["rows"]}}
            groups[key] = {**group, "rows": rows}
    return alone and {**max(alone, key=lambda run: run["created"]), "groups": [{**group, "rows": [rows[stage] for stage in sorted(rows)]} for group in groups.values() for rows in [group["rows"]]]}


def problem_of_times(run):
    """A time that is none has no place in a logarithm."""
    for group in run["groups"]:
        timings = [one["timing"] for one in group["ceilings"]]
        for row in group["rows"]:
            timings += [row["timing"], *row.get("processes", [])]
        for timing in filter(None, timings):
            if not (timing["median"] > 0 and all(sample > 0 for sample in timing["samples"])):
                return "a time that is not positive"
    return None


def problem_of_counters(document):
    if document.get("version") not in (1, 2):
        return f"counters of version {json.dumps(document.get('version'))[:40]}, and this program reads 1 and 2"
    try:
        str(document["device"]["name"])
        for stage in document["stages"]:
            if not isinstance(stage["stage"], str):
                return "a stage without a name"
            for kernel in (stage["profile"] or {"kernels": []})["kernels"]:
                if not all(isinstance(value, (int, float)) and math.isfinite(value) for value in kernel["metrics"].values()):
                    return "a counter that is no finite number"
    except (KeyError, TypeError, AttributeError) as problem:
        return f"is no record of counters: {problem}"
    return None


def plotly_script(given):
    """The text of Plotly's script. Raises Refused that says where it comes from."""
    candidates = [pathlib.Path(given)] if given else []
    if not given:
        try:
            package = importlib.util.find_spec("plotly")
        except (ImportError, ValueError):
            package = None
        for folder in package.submodule_search_locations if package else []:
            candidates.append(pathlib.Path(folder) / "package_data" / "plotly.min.js")
        for pattern in ("python3-plotly/plotly.min.js", "python3-plotly/plotly.js", "javascript/plotly*/plotly*.min.js", "nodejs/plotly*/dist/plotly*.min.js"):
            candidates += sorted(pathlib.Path("/usr/share").glob(pattern))
    for path in candidates:
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            if "plotly" not in text[:2000].lower():
                raise Refused(f"{path}: is not Plotly's script")
            # Within a page only this text would end the script early.
            return text.replace("</script", "<\\/script")
    if given:
        raise Refused(f"{given}: no such file")
    raise Refused(
        "figures need Plotly's script: install python3-plotly (apt) or plotly (python3 -m pip install plotly), name the file "
        "with --plotly, or make a page of tables with --no-figures"
    )


def json_in_page(value):
    """JSON as the content of a script element: no text in it can end the element or begin a comment."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def table(headings, rows, caption, numbers=1):
    """An HTML table of texts; columns from `numbers` on are right-aligned. The first cell of a row names it."""
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in headings)
    lines = []
    for row in rows:
        cells = "".join(f'<td class="{"number" if place >= numbers else "text"}">{escape(cell)}</td>' for place, cell in enumerate(row[1:], 1))
        lines.append(f'<tr><th scope="row">{escape(row[0])}</th>{cells}</tr>')
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def ratio(row, name):
    value = row.get(name)
    if value is None:
        return "~" if name in row.get("undecided", []) else "–"
    if value < 0.01:
        return f"{value:.2g}×"
    return f"{value:.2f}×" if value < 10 else f"{significant(value)}×"


def percent(value, digits=1):
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def ladder_table(group, caption):
    rows = []
    for row in group["rows"]:
        name = report_figures.name_of(row)
        timing = row["timing"]
        if row["status"] != "ok" or not timing:
            state = {"failed": "FAIL", "expected_failure": "fails as expected"}.get(row["status"], row["status"])
            rows.append([name, f"{state}: {row['message']}" if row["message"] else state, "–", "–", "–", "–", "–", "–", "–"])
            continue
        state = "verified" + (", unstable" if timing["unstable"] else "")
        processes = len(row.get("processes", [])) or 1
        rows.append(
            [name, state, duration(timing["median"]), percent(timing["spread"], 2), f"{len(timing['samples'])}" + (f" × {processes}" if processes > 1 else ""),
             ratio(row, "over_previous"), ratio(row, "over_first"), percent(row.get("speed_of_light")), percent(row.get("over_library"))]
        )
    headings = ["stage", "state", "median", "spread", "samples", "× previous", "× first", "of the speed of light", "of the fastest library"]
    # A column that no row fills says nothing.
    kept = [place for place in range(len(headings)) if place < 2 or any(row[place] != "–" for row in rows)]
    return table([headings[place] for place in kept], [[row[place] for place in kept] for row in rows], caption, numbers=2)


def facts(run):
    """What the times depend on, as rows of a table."""
    device, program, kernels = run["device"] or {}, run["program"], run.get("kernels", {})
    rows = [["device", device.get("name")], ["compute capability", device.get("compute_capability")], ["driver", device.get("driver")],
            ["toolkit", device.get("toolkit")], ["multiprocessors", device.get("multiprocessors")],
            ["highest SM clock", device.get("sm_clock_mhz") and f"{device['sm_clock_mhz']:g} MHz"],
            ["memory clock", device.get("memory_clock_mhz") and f"{device['memory_clock_mhz']:g} MHz"],
            ["an empty kernel takes", run.get("floor") and duration(run["floor"]["median"])],
            ["recorded", run["created"]], ["program", f"{program.get('name', 'Kernel Lab')} {program.get('version', '')}, commit {program['commit'][:12]}"],
            ["compiler of the kernels", kernels.get("compiler")], ["flags of the kernels", kernels.get("flags")],
            ["seed", run.get("seed")], ["complete", "yes" if run.get("complete", True) else "no: the run was interrupted"]]
    return [[name, str(value)] for name, value in rows if value not in (None, "")]


class Page:
    """One HTML page, made of sections; its figures are filled in by reports/page.js."""

    def __init__(self, title, figures):
        self.title, self.with_figures = title, figures
        self.parts, self.figures, self.contents = [], [], []

    def section(self, heading, level=2):
        place = f"s{len(self.contents) + 1}"
        self.contents.append((level, place, heading))
        self.parts.append(f'<h{level} id="{place}">{escape(heading)}</h{level}>')

    def text(self, text, kind="p"):
        self.parts.append(f"<{kind}>{escape(text)}</{kind}>")

    def figure(self, figure):
        """`figure`: what report_figures makes, or None."""
        if figure is None or not self.with_figures:
            return
        place = f"f{len(self.figures) + 1}"
        self.figures.append({"id": place, **figure})
        self.parts.append(
            f'<figure><div class="plot" id="{place}" role="img" aria-label="{escape(figure["description"])}" style="height:{figure["height"]}px"></div>'
            f"<figcaption>{escape(figure['description'])}</figcaption></figure>"
        )

    def download(self, name, content):
        data = base64.b64encode(content).decode()
        self.parts.append(f'<p class="download"><a download="{escape(name)}" href="data:application/json;base64,{data}">{escape(name)}</a> ({len(content) / 1000:.0f} kB)</p>')

    def html(self, script, home=None, own=None):
        """`script`: the text of Plotly's script, or the name of the file beside the page; None without figures. `own`: the
        name of a script of reports/ for a page without figures."""
        links = "".join(f'<li class="level{level}"><a href="#{place}">{escape(heading)}</a></li>' for level, place, heading in self.contents)
        nav = f'<nav aria-label="On this page"><ul>{links}</ul></nav>' if len(self.contents) > 1 else ""
        back = f'<a href="{escape(home)}">All runs</a>' if home else ""
        scripts, policy = "", "script-src 'none'"
        if self.figures and script:
            policy = "script-src 'unsafe-inline'" + (" 'self' file:" if script.endswith(".js") else "")
            source = f'<script src="{escape(script)}"></script>' if script.endswith(".js") else f"<script>{script}</script>"
            drawing = (HERE / "page.js").read_text(encoding="utf-8")
            scripts = f'<script type="application/json" id="figures">{json_in_page(self.figures)}</script>\n{source}\n<script>{drawing}</script>'
        elif own:
            policy = "script-src 'unsafe-inline'"
            scripts = f'<script>{(HERE / own).read_text(encoding="utf-8")}</script>'
        return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; {policy}">
<title>{escape(self.title)}</title>
<style>{(HERE / "page.css").read_text(encoding="utf-8")}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><p class="home">Kernel Lab {back}</p><h1>{escape(self.title)}</h1></header>
{nav}
<main id="content">
{chr(10).join(self.parts)}
</main>
{scripts}
</body>
</html>
"""


def heading_of(group):
    parameters = parameters_text(group["parameters"].items())
    state = f"L2 {group['l2']}" if group["l2"] != "none" else ""
    return ", ".join(filter(None, [parameters, state]))


def ceiling_text(group):
    ceiling = report_figures.ceiling_of(group)
    if ceiling is None:
        return f"Speed of light: not measured: {group['ceiling_problem']}" if group.get("ceiling_problem") else ""
    size, median = ceiling["bytes"], ceiling["timing"]["median"]
    if ceiling.get("cached"):
        return f"A {ceiling['kind']} of {size} bytes takes {duration(median)}; so few stay in the L2 cache, and no stage has a part of the speed of light."
    if "operations" in ceiling:
        return f"Speed of light, measured in the same run: {ceiling['operations']:.3g} operations on {ceiling['kind']} in {duration(median)} ({ceiling['operations'] / median / 1e3:.1f} TFLOP/s)."
    link = f" {link_text(ceiling['link'])}" if "link" in ceiling else ""
    return f"Speed of light, measured in the same run: a {ceiling['kind']} of {report_figures.size_text(size)} in {duration(median)} ({size / median:.0f} GB/s).{link}"


def add_run(page, run):
    page.section("Device and versions")
    if (run["device"] or {}).get("id") == "emulator":
        page.text("These times are the host's, on the CPU emulator. They say nothing about a GPU.")
    page.parts.append(table(["what", "value"], facts(run), "What the times depend on", numbers=9))
    for track in dict.fromkeys(group["track"] for group in run["groups"]):
        groups = [group for group in run["groups"] if group["track"] == track]
        title = groups[0].get("title") or ""
        page.section(f"{track}: {title}" if title else track)
        if run.get("verb") == "verify":
            for group in groups:
                page.parts.append(ladder_table(group, f"{track}, verified"))
            continue
        page.figure(report_figures.sweep(track, groups))
        page.figure(report_figures.roofline(track, groups, run.get("floor")))
        page.figure(report_figures.arithmetic_roofline(track, groups))
        for group in groups:
            heading = heading_of(group)
            page.section(heading or "the ladder", level=3)
            if ceiling_text(group):
                page.text(ceiling_text(group))
            page.figure(report_figures.ladder(track, group, heading))
            page.parts.append(ladder_table(group, f"The ladder of {track}" + (f" at {heading}" if heading else "")))
            page.figure(report_figures.distributions(track, group, heading))


def add_counters(page, document):
    page.section("Counters")
    source = document.get("source") or ""
    page.text(f"On {document['device']['name']}. Source: {source}." if source else f"On {document['device']['name']}.")
    stages = [stage for stage in document["stages"] if stage["profile"] and stage["profile"]["kernels"]]
    names = sorted({metric for stage in stages for kernel in stage["profile"]["kernels"] for metric in kernel["metrics"]})

    def shown(stage, metric):
        value = counters.total(stage["profile"]["kernels"], metric)
        return "–" if value is None else f"{value:,.0f}".replace(",", "\u202f") if value == round(value) else f"{value:.3f}"

    rows = [[metric, *(shown(stage, metric) for stage in stages)] for metric in names]
    rows = [row for row in rows if any(cell not in ("–", "0") for cell in row[1:])]
    modelled = any(stage["profile"].get("modelled") for stage in stages)
    caption = "Counters, a column for each stage" + (": modelled by the emulator" if modelled else ": measured by Nsight Compute")
    page.parts.append(table(["metric", *(stage["stage"] for stage in stages)], rows, caption))
    page.figure(report_figures.counter_bars(stages, rows))
    for stage in document["stages"]:
        for word in ("failure", "skipped", "expected_failure"):
            if stage.get(word):
                page.text(f"{stage['stage']}: {word.replace('_', ' ')}: {stage[word]}")


def page_of(records, title, figures):
    """The page of some records: [(path, kind, document, bytes)]."""
    page = Page(title, figures)
    for path, kind, document, content in records:
        if len(records) > 1:
            page.section(path.name)
        (add_run if kind == "run" else add_counters)(page, document)
    page.section("The records")
    page.text("What this page was made of, as the program wrote it:")
    for path, _, _, content in records:
        page.download(path.name, content)
    return page


def title_of(records):
    tracks = dict.fromkeys(group["track"] for _, kind, document, _ in records if kind == "run" for group in document["groups"])
    devices = dict.fromkeys((document["device"] or {}).get("name", "an unknown device") for _, _, document, _ in records)
    return f"{', '.join(tracks) or 'Counters'} on {', '.join(devices)}"


def values_of(groups, name):
    """What the groups have of a parameter, in their order, as texts and as keys to sort by."""
    values = dict.fromkeys((number(value), value if isinstance(value, (int, float)) else str(value))
                           for group in groups for value in [group["parameters"].get(name)] if value is not None)
    return [text for text, _ in values], [(isinstance(key, str), key) for _, key in values]


def range_text(name, texts):
    if len(texts) == 1:
        return f"{name} = {texts[0]}"
    return f"{name} = {', '.join(texts)}" if len(texts) <= 4 else f"{name}: {len(texts)} values"


def entry_of(kind, document):
    """What the index calls a record, "moving_average: n = 1e9, window = 4, 300", and what it is sorted by."""
    if kind == "counters":
        tracks = ", ".join(dict.fromkeys(stage["stage"].split("/")[0] for stage in document["stages"]))
        return f"{tracks}: counters", (tracks, 1, ())
    tracks, parts, keys = dict.fromkeys(group["track"] for group in document["groups"]), [], []
    for track in tracks:
        groups = [group for group in document["groups"] if group["track"] == track]
        words = []
        for name in groups[0]["parameters"]:
            texts, values = values_of(groups, name)
            words += [range_text(name, texts)] if texts != ["0"] else []  # 0 is how an option is off
            keys.append((name, tuple(values)))
        words += ["L2 warm"] if all(group["l2"] == "warm" for group in groups) else []
        processes = document.get("options", {}).get("processes")
        words += ["a process for each GPU"] if processes else []
        stages = list(dict.fromkeys(report_figures.stage_of(row) for group in groups for row in group["rows"]))
        parts.append((f"{track}: {', '.join(words)}" if words else track) + (f" ({stages[0]} alone)" if len(stages) == 1 else ""))
    return "; ".join(parts), (", ".join(tracks), 0, tuple(keys))


def write(path, text):
    """Writes a file whole or not at all."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=path.name, suffix=".part", delete=False) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def gallery(folder, output, script):
    """A page for each record below `folder`, an index, and Plotly's script once. Raises Refused."""
    records = []
    for path in sorted([*folder.rglob("*.json"), *folder.rglob("*.jsonl")]):
        try:
            found = read(path) if path.is_file() else None
        except NoRecord as problem:
            print(f"lab report: left out: {problem}", file=sys.stderr)
            continue
        if found and (found[0] == "counters" or found[1]["groups"]):
            records.append((path, *found))
    if not records:
        raise Refused(f"{folder}: holds no record of lab run or lab profile")
    if output.exists() and not output.is_dir():
        raise Refused(f"{output}: is no directory, and a gallery is one")
    pages, rows = {}, []
    for record in records:
        path, kind, document, _ = record
        name = "_".join(path.relative_to(folder).with_suffix("").parts) + ".html"
        pages[name] = page_of([record], title_of([record]), script is not None).html(script and "plotly.js", home="index.html")
        best = [row.get("speed_of_light") or 0 for group in document.get("groups", []) for row in group["rows"] if row["timing"] and not row["library"]]
        title, key = entry_of(kind, document)
        created = str(document.get("created", "–"))
        rows.append((key, created, name, title, str((document["device"] or {}).get("name", "–")), max(best, default=0), str(path.relative_to(folder))))
    rows.sort()
    index = Page(f"Recorded runs: {folder.resolve().name}", False)
    index.section("Runs")
    head = "".join(f'<th scope="col">{one}</th>' for one in ("run", "device", "recorded", "best, of the speed of light", "record"))
    body = "".join(
        f'<tr><th scope="row"><a href="{escape(name)}">{escape(title)}</a></th><td>{escape(device)}</td><td class="number" data-key="{escape(created)}">{escape(created[:10])}</td>'
        f'<td class="number" data-key="{best}">{percent(best) if best > 0 else "–"}</td><td class="text">{escape(record)}</td></tr>'
        for _, created, name, title, device, best, record in rows
    )
    index.parts.append(f'<div class="scroll" role="region" tabindex="0" aria-label="Runs"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>')
    output.mkdir(parents=True, exist_ok=True)
    if script is not None:
        write(output / "plotly.js", script)
    for name, text in pages.items():
        write(output / name, text)
    write(output / "index.html", index.html(None, own="index.js"))
    return len(pages)


def main(arguments):
    parser = argparse.ArgumentParser(prog="lab report", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", metavar="FILE|DIR", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, help="the page (default: report.html), or the directory of a gallery (default: site)")
    parser.add_argument("--plotly", metavar="FILE", help="Plotly's script")
    parser.add_argument("--no-figures", action="store_true", help="tables alone, without JavaScript")
    options = parser.parse_args(arguments)
    try:
        if options.plotly and options.no_figures:
            raise Refused("--plotly and --no-figures exclude each other")
        if any(path.is_dir() for path in options.records):
            if len(options.records) > 1:
                raise Refused("a gallery is made of one directory, and of nothing beside it")
            script = None if options.no_figures else plotly_script(options.plotly)
            output = options.output or pathlib.Path("site")
            pages = gallery(options.records[0], output, script)
            print(f"wrote {output / 'index.html'}: {pages} pages")
            return 0
        output = options.output or pathlib.Path("report.html")
        records, seen = [], []
        for path in options.records:
            found = read(path)
            if found is None:
                raise Refused(f"{path}: another record of the lab's; a page is made of those of lab run and lab profile")
            if found[2] in seen:
                raise Refused(f"{path}: is given twice")
            if output.exists() and output.samefile(path):
                raise Refused(f"{path}: --output would write over it")
            seen.append(found[2])
            records.append((path, *found))
        if output.is_dir() or not output.parent.is_dir():
            raise Refused(f"{output}: " + ("is a directory, and a page is a file" if output.is_dir() else "there is no such directory"))
        script = None if options.no_figures else plotly_script(options.plotly)
        page = page_of(records, title_of(records), script is not None)
        write(output, page.html(script))
        print(f"wrote {output}")
        return 0
    except (Refused, OSError) as problem:
        print(f"lab report: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
