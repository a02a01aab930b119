#!/usr/bin/env python3
"""Draws docs/ladder.svg for stages/moving_average/README.md: the ladder of the moving average, a panel for each window, each
stage's bar as long as its part of the speed of light. The figures are those of the table below it (reports/tables.py).

usage: reports/ladder_picture.py            write the picture
       reports/ladder_picture.py --check    write nothing; exit with 1 when the committed picture is not what the records say
"""

import argparse
import sys
from html import escape

import tables

TRACK = "moving_average"
PICTURE = tables.ROOT / "docs" / "ladder.svg"
NAMES, PANEL, GAP, BAR, ROW, TOP, BOTTOM = 168, 150, 20, 13, 21, 44, 34  # pixels
STYLE = """text { font: 13px sans-serif; fill: #1f2328 } .figure { font-size: 11px } .note { font-size: 11px; fill: #59636e }
.heading { font-weight: 600 } .bar { fill: #3b6fb6 } .library { fill: #6e7781 } .inside { fill: #ffffff } .ground { fill: #eaeef2 }
line { stroke: #bc4c00; stroke-width: 2; stroke-dasharray: 2 3 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .note { fill: #9198a1 } .bar { fill: #6ca4ec } .library { fill: #9198a1 } .inside { fill: #0d1117 } .ground { fill: #21262d }
line { stroke: #f0883e } }"""


def panels(records, track):
    """[(the panel's heading, {stage: row})], the stages in order, and what all panels have in common."""
    sets = records.parameter_sets(track)
    common = [pair for pair in sets[0] if all(pair in parameters for parameters in sets)] if sets else []
    found = []
    for parameters in sets:
        rows = {stage: row for stage, row in records.rows[track][parameters].items() if row["status"] == "ok" and row["ceiling"]}
        if rows:
            found.append((tables.parameters_text([pair for pair in parameters if pair not in common]), rows))
    stages = sorted({stage for _, rows in found for stage in rows})
    return found, stages, tables.parameters_text(common)


def picture(records, track=TRACK):
    found, stages, common = panels(records, track)
    if not found:
        raise tables.BrokenRecord(f"the records hold no ladder of {track} with a speed of light")
    width = NAMES + len(found) * (PANEL + GAP)
    height = TOP + ROW * len(stages) + BOTTOM
    best = max(((100 * row["ceiling"] / row["timing"]["median"], stage, head) for head, rows in found for stage, row in rows.items()))
    words = f"Parts of the speed of light that the stages of {track} reach, for {', '.join(head for head, _ in found)}. The most is {best[0]:.1f} %, by {best[1].split('/', 1)[1]} at {best[2]}."
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(words)}">',
        f"<style>\n{STYLE}\n</style>",
    ]
    libraries = {stage for _, rows in found for stage, row in rows.items() if row["library"]}
    for place, stage in enumerate(stages):
        name = stage.split("/", 1)[1] + (" (library)" if stage in libraries else "")
        lines.append(f'<text x="{NAMES - 10}" y="{TOP + ROW * place + BAR - 2}" text-anchor="end">{escape(name)}</text>')
    for number, (head, rows) in enumerate(found):
        left = NAMES + number * (PANEL + GAP)
        lines.append(f'<text class="heading" x="{left}" y="24">{escape(head)}</text>')
        for place, stage in enumerate(stages):
            top = TOP + ROW * place
            lines.append(f'<rect class="ground" x="{left}" y="{top}" width="{PANEL}" height="{BAR}"/>')
            if stage not in rows:
                continue
            part = rows[stage]["ceiling"] / rows[stage]["timing"]["median"]
            length = PANEL * min(part, 1)
            kind = "library" if stage in libraries else "bar"
            lines.append(f'<rect class="{kind}" x="{left}" y="{top}" width="{length:.1f}" height="{BAR}"/>')
            text = f"{100 * part:.1f} %"
            if length > 60:
                lines.append(f'<text class="figure inside" x="{left + length - 5:.1f}" y="{top + BAR - 3}" text-anchor="end">{text}</text>')
            else:
                lines.append(f'<text class="figure" x="{left + length + 5:.1f}" y="{top + BAR - 3}">{text}</text>')
        lines.append(f'<line x1="{left + PANEL}" x2="{left + PANEL}" y1="{TOP - 8}" y2="{TOP + ROW * len(stages) - 2}"/>')
    device = next(iter(found[0][1].values()))["run"]["device"]["name"]
    note = f"{common + ', ' if common else ''}{device}. A full bar is the speed of light: a copy of the same bytes."
    lines.append(f'<text class="note" x="{NAMES}" y="{height - 12}">{escape(note)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    drawn = picture(tables.first_with(tables.every_device(), TRACK))
    name = PICTURE.relative_to(tables.ROOT)
    if PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == drawn:
        return 0
    if options.check:
        print(f"{name}: differs from the records; reports/ladder_picture.py draws it")
        return 1
    PICTURE.write_text(drawn, encoding="utf-8")
    print(f"{name}: drawn")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except tables.BrokenRecord as broken:
        sys.exit(f"ladder_picture.py: {broken}")
