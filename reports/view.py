#!/usr/bin/env python3
"""A stage's source as one page for a browser: `lab view`. It needs nothing else, and no network.

usage: lab view STAGE [--baseline STAGE] [--occupancy] [--output FILE.html] [parameters, as --n 1e5]

Beside each line stand the counters that the emulator models for it, with their heat. Under the cursor a line shows its
access by one warp; a slider goes through a block's phases between barriers. The stage before, or --baseline, stands at its side.

Exit codes: 0; 1 where a stage fails; 2 for a call that makes no sense.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import sys
import tempfile
import urllib.parse
from html import escape

import occupancy
import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
# A column of the page: what is added up, and what that is.
COLUMNS = {
    "requests": (["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"], "of warps to global memory"),
    "sectors": (["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"], "of 32 bytes that they touch"),
    "wavefronts": (["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"], "of accesses to shared memory"),
    "conflicts": (["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"], "of their banks"),
}


def stage_before(stage):
    """The stage of the ladder before this one; None for the first."""
    track, _, name = stage.partition("/")
    names = sorted(file.parent.name for file in (ROOT / "stages" / track).glob("*/stage.cu"))
    place = next((place for place, one in enumerate(names) if one.startswith(name)), 0) if name else 0
    return f"{track}/{names[place - 1]}" if place else None


class Sight:
    """One stage: its profile, and what `lab draw` shows of each of its kernels."""

    def __init__(self, program, profile, parameters, folder, nvcc):
        self.path, self.folder = profile["stage"], folder
        self.problem = profile["failure"] or profile["skipped"]
        found = profile["profile"] or {"kernels": [], "diagnostics": []}
        self.diagnostics = found["diagnostics"]
        self.parameters = ", ".join(f"{name} = {value}" for name, value in profile["parameters"].items())
        self.lines, self.kernels, self.pictures = {}, [], {}
        for kernel in found["kernels"]:
            for line in kernel["lines"]:
                counts = self.lines.setdefault((line["file"], line["line"]), dict.fromkeys(COLUMNS, 0))
                for column, (metrics, _) in COLUMNS.items():
                    counts[column] += sum(line["metrics"].get(metric, 0) for metric in metrics)
        self.compiled = occupancy.resources(self.path, nvcc) if nvcc and not self.problem else []
        if not self.problem:
            kernels = {kernel["name"]: kernel for kernel in found["kernels"]}
            self.draw(program, kernels, parameters)

    def draw(self, program, kernels, parameters):
        def picture(job):
            kernel, number, (file, line, space) = job
            output = self.folder / f"{abs(hash((self.path, *job)))}.svg"
            drawn = occupancy.is_drawn(program, self.path, *parameters, "--kernel", kernel, "--block-number", number, "--line", f"{file}:{line}", "--memory", space, "--output", output)
            return (file, line), output.read_text(encoding="utf-8") if drawn else None

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            self.kernels = list(filter(None, workers.map(lambda kernel: occupancy.block_of(program, self.path, parameters, kernel, self.folder), kernels.values())))
            jobs = [(one["kernel"], one["block"], at) for one in self.kernels for at in dict.fromkeys((at["file"], at["line"], at["space"]) for at in one["lines"])]
            for at, svg in workers.map(picture, jobs):
                if svg:
                    self.pictures.setdefault(at, []).append(svg)


def sources_of(sight):
    """{file: (first line shown, lines)}: the whole stage, and of other files what was counted."""
    shown = {}
    for file in dict.fromkeys([f"stages/{sight.path}/stage.cu", *(file for file, _ in sight.lines)]):
        text = (ROOT / file).read_text(encoding="utf-8").splitlines()
        counted = [line for one, line in sight.lines if one == file]
        whole = file.endswith("/stage.cu")
        first = 1 if whole else max(1, min(counted) - 8)
        shown[file] = first, text[first - 1 : None if whole else max(counted) + 2]
    return shown


def source_table(sight, most):
    head = "".join(f'<th scope="col" title="{escape(column)} {escape(meaning)}">{column}</th>' for column, (_, meaning) in COLUMNS.items())
    rows = []
    for file, (first, lines) in sources_of(sight).items():
        rows.append(f'<tr class="file"><th colspan="{len(COLUMNS) + 2}" scope="rowgroup">{escape(file)}</th></tr>')
        for number, text in enumerate(lines, first):
            counts = sight.lines.get((file, number), {})
            cells = "".join(f'<td class="number" style="--heat:{counts.get(column, 0) / max(most[column], 1):.3f}">{f"{counts[column]:.0f}" if counts.get(column) else ""}</td>' for column in COLUMNS)
            race = any(f"{file}:{number}:" in one or f"{file}:{number}," in one for one in sight.diagnostics)
            drawn = ' tabindex="0" class="drawn"' if (file, number) in sight.pictures else ""
            mark = '<strong class="race">race</strong> ' if race else ""
            rows.append(f'<tr data-line="{escape(file)}:{number}"{drawn}><td class="number">{mark}{number}</td>{cells}<td><code>{escape(text)}</code></td></tr>')
    return f'<div class="source"><table><caption>{escape(sight.parameters)}</caption><thead><tr><th scope="col">line</th>{head}<th scope="col">source</th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def pictures_of(sight):
    figures = []
    for (file, line), svgs in sight.pictures.items():
        for svg in svgs:
            words = re.search(r'aria-label="([^"]*)"', svg)[1]
            figures.append(f'<figure data-line="{escape(file)}:{line}"><img alt="{words}" src="data:image/svg+xml,{urllib.parse.quote(svg)}"></figure>')
    return "".join(figures)


def activity_html(activity, threads):
    at = activity["at"]
    bars = "".join(f'<i style="left:{100 * first / threads:.2f}%;width:{100 * (last + 1 - first) / threads:.2f}%"></i>' for first, last in activity["threads"])
    each = f"{at['units'] / max(at['requests'], 1):.3g}"
    unit = ("sector" if at["space"] == "global" else "wavefront") + ("" if each == "1" else "s")
    place = f"{pathlib.Path(at['file']).name}:{at['line']}"
    return f'<tr data-line="{escape(at["file"])}:{at["line"]}"><th scope="row">{escape(place)}</th><td>{at["space"]} {at["operation"]}</td><td class="bar {at["space"]} {at["operation"]}">{bars}</td><td>{each} {unit} a request</td></tr>'


def phases_of(kernel, name):
    """A slider, and each kind of phase once."""
    kinds, order = {}, []
    for phase in kernel["phases"]:
        rows = "".join(activity_html(one, kernel["threads"]) for one in phase) or '<tr><td colspan="4">no access of memory</td></tr>'
        order.append(kinds.setdefault(rows, len(kinds)))
    tables = "".join(f'<table class="phase"><thead><tr><th>line</th><th>access</th><th>threads 0 to {kernel["threads"] - 1}</th><th>cost</th></tr></thead><tbody>{rows}</tbody></table>' for rows in kinds)
    short = re.sub(r"^.*::", "", re.sub(r"<.*", "", kernel["kernel"]))
    return (
        f'<div class="phases" data-order="{escape(json.dumps(order))}"><h3>{escape(short)}: block {kernel["block"]} of {kernel["blocks"]}</h3>'
        f'<label>phase between barriers <input type="range" min="0" max="{len(order) - 1}" value="0" aria-label="phase of {escape(short)}, {escape(name)}"><output>0</output>, of {kernel["phase_count"]}</label><div class="kinds">{tables}</div></div>'
    )


def occupancy_of(sight, kernel):
    """What fits into a multiprocessor, where nvcc was there to say."""
    rows = occupancy.rows_of(sight.compiled, kernel)
    caption = f"Occupancy of a multiprocessor by blocks of {kernel['threads']} threads, as nvcc compiles the kernel"
    return report.table(occupancy.HEADINGS, rows, caption) if rows else ""


def panel(sight, most):
    parts = [f'<section class="stage"><h2>{escape(sight.path)}</h2>']
    if sight.problem:
        parts.append(f"<p>{escape(sight.problem)}</p>")
    parts += [f'<p class="race">{escape(one)}</p>' for one in sight.diagnostics]
    parts.append(source_table(sight, most))
    parts += [phases_of(kernel, sight.path) for kernel in sight.kernels]
    occupancies = [occupancy_of(sight, kernel) for kernel in sight.kernels]
    parts.append(f'<div class="pictures">{pictures_of(sight)}</div>')
    return "".join(parts + occupancies) + "</section>"


def page_of(sights):
    most = {column: max((counts[column] for sight in sights for counts in sight.lines.values()), default=0) for column in COLUMNS}
    page = report.Page(" and ".join(sight.path for sight in sights), False)
    page.parts.append(f"<style>{(ROOT / 'reports' / 'view.css').read_text(encoding='utf-8')}</style>")
    page.text("Counters of one launch, modelled by the emulator; the colour is the share of the largest figure of its column. Point at a line, or go to one with the arrow keys, to see its dearest access by a warp.")
    page.parts.append(f'<div class="stages">{"".join(panel(sight, most) for sight in sights)}</div>')
    return page.html(None, own="view.js")


def main(arguments):
    parser = argparse.ArgumentParser(prog="lab view", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("stage", metavar="STAGE")
    parser.add_argument("--baseline", metavar="STAGE", help="the stage at its side (default: the one before)")
    parser.add_argument("--occupancy", action="store_true", help="compile the stages for sm_75 to sm_100 with nvcc, and say what limits the blocks on a multiprocessor")
    parser.add_argument("--output", metavar="FILE.html", type=pathlib.Path, help="the page (default: named as the stage, here)")
    parser.add_argument("--device", choices=["emulator"], help="the only one of this verb")
    parser.add_argument("--program", default=str(ROOT / "lab"), help=argparse.SUPPRESS)
    options, parameters = parser.parse_known_args(arguments)
    output = options.output or pathlib.Path(options.stage.replace("/", "_") + ".html")
    nvcc = occupancy.find_nvcc() if options.occupancy else None
    try:
        if options.occupancy and not nvcc:
            raise occupancy.Failed(2, "lab view: --occupancy needs nvcc, of the CUDA Toolkit")
        if not output.parent.is_dir():
            raise occupancy.Failed(2, f"lab view: {output}: there is no such directory")
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder, "profile.json")
            baseline = options.baseline or stage_before(options.stage)
            occupancy.call(options.program, "profile", options.stage, *parameters, *(["--baseline", baseline] if baseline else []), "--device", "emulator", "--json", record, shows_progress=True)
            sights = [Sight(options.program, one, parameters, pathlib.Path(folder), nvcc) for one in json.loads(record.read_text(encoding="utf-8"))["stages"]]
        report.write(output, page_of(sights))
        print(f"wrote {output}")
        return 0
    except occupancy.Failed as problem:
        print(problem, file=sys.stderr)
        return problem.code
    except OSError as problem:
        print(f"lab view: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
