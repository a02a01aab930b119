#!/usr/bin/env python3
"""Draws docs/rooms.svg: the rooms of the source tree, and who includes whom, from the lines #include "..." as they are.

A room stands below all that include it. An arrow goes from a room to one that it includes; one that a longer way says
as well is left out (the table in docs/architecture.md says what each room holds). Includes in a circle are an error.

Graphviz (`dot`, package graphviz) places the boxes. Its releases draw alike and not to the byte, so the graph itself
stands in the picture as a comment, and --check compares that: it needs no Graphviz.

usage: reports/rooms.py            draw the picture, if the graph has changed
       reports/rooms.py --check    draw nothing; exit with 1 when the committed picture is of another graph
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "rooms.svg"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
IMPORT = re.compile(r"^(?:from|import) (\w+)", re.MULTILINE)
SOURCES = (".hpp", ".cpp", ".cu", ".cuh", ".in")
FRONT = "harness/front"

# What dot is told of the drawing; colours follow in STYLE, since they are the reader's, light or dark.
LAYOUT = """  graph [ranksep=0.45 nodesep=0.2 pad=0.15 bgcolor=transparent]
  node [shape=box style=rounded height=0.4 margin="0.12,0.05" fontname="sans-serif" fontsize=13]
  edge [arrowsize=0.7]
"""
STYLE = """<style>
text { font: 13px sans-serif; fill: #1f2328 } .node path { fill: #f6f8fa; stroke: #59636e } .front path { fill: #ddf4ff }
.edge path { fill: none; stroke: #59636e } .edge polygon { fill: #59636e; stroke: #59636e }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .node path { fill: #21262d; stroke: #9198a1 } .front path { fill: #12375c }
.edge path { stroke: #9198a1 } .edge polygon { fill: #9198a1; stroke: #9198a1 } }
</style>"""


def room_of(path):
    """The room of a file, by its path from the root; None for one that is in none."""
    parts = pathlib.PurePosixPath(path).parts
    if path.startswith((FRONT + "/", "common/emulator/")):
        return "/".join(parts[:min(3, len(parts) - 1)])
    if path.startswith(("harness/device/", "harness/grade/")):
        return "/".join(parts[:2])
    return parts[0] if len(parts) > 1 and parts[0] in ("common", "harness", "stages", "tests", "reports") else None


def edges(root=ROOT):
    """The rooms, and the pairs of rooms of which the first includes the second."""
    rooms, pairs = set(), set()
    for top in ("common", "harness", "stages", "tests", "reports"):
        for file in (root / top).rglob("*"):
            path = file.relative_to(root).as_posix()
            if file.suffix in SOURCES:
                named = INCLUDE.findall(file.read_text(encoding="utf-8", errors="replace"))
            elif file.suffix == ".py":
                named = [f"reports/{name}.py" for name in IMPORT.findall(file.read_text(encoding="utf-8"))]
            else:
                continue
            rooms.add(room_of(path))
            for name in named:
                target = next((base / name for base in (root, file.parent) if (base / name).is_file()), None)
                other = room_of(target.resolve().relative_to(root.resolve()).as_posix()) if target else None
                if other and other != room_of(path):
                    pairs.add((room_of(path), other))
    return rooms, pairs


def refuse_circles(pairs):
    """Raises ValueError for rooms that include each other in a circle."""
    after = {one: sorted(other for start, other in pairs if start == one) for one, _ in pairs}
    done = set()

    def visit(room, above):
        if room in above:
            raise ValueError("rooms include each other in a circle: " + " > ".join([*above[above.index(room):], room]))
        if room not in done:
            for other in after.get(room, ()):
                visit(other, (*above, room))
            done.add(room)

    for room in sorted(after):
        visit(room, ())


def without_shortcuts(pairs):
    """The pairs that no way over other rooms says as well."""
    def reaches(one, other):
        return any(middle == other or reaches(middle, other) for start, middle in pairs if start == one)

    return {(one, other) for one, other in pairs if not any(reaches(middle, other) for start, middle in pairs if start == one and middle != other)}


def graph(rooms, pairs):
    """The graph in Graphviz's language. Raises ValueError for a circle."""
    refuse_circles(pairs)
    lines = ["digraph rooms {", LAYOUT.rstrip("\n")]
    for room in sorted(rooms):
        kind = ' class="front"' if room.startswith(FRONT) else ""
        lines.append(f'  "{room}" [label="{room.replace(FRONT + "/", "front/")}"{kind}]')
    lines += [f'  "{one}" -> "{other}"' for one, other in sorted(without_shortcuts(pairs))]
    return "\n".join([*lines, "}"]) + "\n"


def comment(text):
    return f"<!--\n{text}-->\n"


def draw(text):
    """The picture of a graph as SVG text."""
    try:
        drawn = subprocess.run(["dot", "-Tsvg"], input=text, stdout=subprocess.PIPE, check=True, text=True).stdout
    except FileNotFoundError:
        sys.exit("rooms.py: drawing needs Graphviz's dot (package graphviz)")
    drawn = drawn[drawn.index("<svg"):]
    drawn = re.sub(r"<!--.*?-->\n", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r' (?:fill|stroke|font-family|font-size)="[^"]*"', "", drawn)  # as STYLE has it
    drawn = re.sub(r"<title>[^<]*</title>\n", "", drawn)
    # As wide as the page that shows it, whatever its own width.
    drawn = re.sub(r'<svg width="[^"]*" height="[^"]*"\s*', '<svg role="img" aria-label="who includes whom" ', drawn, count=1)
    head, _, body = drawn.partition(">\n")
    return f"{head}>\n{comment(text)}{STYLE}\n{body}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when the picture differs")
    check = parser.parse_args().check
    try:
        text = graph(*edges())
    except ValueError as circle:
        sys.exit(f"rooms.py: {circle}")
    if PICTURE.exists() and comment(text) in PICTURE.read_text(encoding="utf-8"):
        return 0
    if not check:
        PICTURE.write_text(draw(text), encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)}: {'differs from the tree; reports/rooms.py draws it' if check else 'drawn'}")
    return 1 if check else 0


if __name__ == "__main__":
    sys.exit(main())
