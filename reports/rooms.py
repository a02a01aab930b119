#!/usr/bin/env python3
"""Draws docs/rooms.svg: the rooms of the source tree, and who includes whom, from the lines #include "..." as they are.

A room stands below all that include it. An arrow goes from a room to one that it includes; one that a longer way says
as well is left out (the table in docs/architecture.md says what each room holds). Includes in a circle are an error.

usage: reports/rooms.py            write the picture
       reports/rooms.py --check    write nothing; exit with 1 when the committed picture is not what the tree says
"""

import argparse
import pathlib
import re
import sys
from html import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "rooms.svg"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
IMPORT = re.compile(r"^(?:from|import) (\w+)", re.MULTILINE)
SOURCES = (".hpp", ".cpp", ".cu", ".cuh", ".in")
FRONT = "harness/front"

WIDTH, BOX, HEIGHT, LEVEL, MARGIN = 1060, 150, 34, 92, 20


def room_of(path):
    """The room of a file, by its path from the root; None for one that is in none."""
    parts = pathlib.PurePosixPath(path).parts
    if path.startswith(FRONT + "/"):
        return "/".join(parts[:3]) if len(parts) > 3 else FRONT
    if path.startswith(("common/emulator/", "harness/device/")):
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


def levels(rooms, pairs):
    """How many rooms stand below each at most. Raises ValueError for a circle."""
    found = {}

    def level(room, above=()):
        if room in above:
            raise ValueError("rooms include each other in a circle: " + " > ".join([*above[above.index(room):], room]))
        if room not in found:
            found[room] = 1 + max((level(other, (*above, room)) for one, other in sorted(pairs) if one == room), default=-1)
        return found[room]

    for room in sorted(rooms):
        level(room)
    return found


def without_shortcuts(pairs):
    """The pairs that no way over other rooms says as well."""
    def reaches(one, other):
        return any(middle == other or reaches(middle, other) for start, middle in pairs if start == one)

    return {(one, other) for one, other in pairs if not any(reaches(middle, other) for start, middle in pairs if start == one and middle != other)}


def picture(rooms, pairs):
    """The drawing as SVG text: colours are the reader's, light or dark."""
    level = levels(rooms, pairs)
    rows = [sorted(room for room in rooms if level[room] == number) for number in range(max(level.values()) + 1)]
    place = {}
    for number, row in enumerate(reversed(rows)):
        # The front's rooms stand on the left; of the others, what both sides share stands beside them.
        halves = ([room for room in row if room.startswith(FRONT)], sorted((room for room in row if not room.startswith(FRONT)), key=lambda room: room != "harness"))
        for half, members in enumerate(halves):
            for column, room in enumerate(members):
                x = WIDTH / 2 * (half + (column + 0.5) / len(members))
                # A row of one steps aside, so that an arrow to the row after next passes it.
                x += (number % 2 * 2 - 1) * 60 if len(members) == 1 else 0
                place[room] = (x, MARGIN + HEIGHT / 2 + number * LEVEL)
    height = 2 * MARGIN + HEIGHT + (len(rows) - 1) * LEVEL
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="who includes whom">',
        "<style>",
        "text { font: 13px sans-serif; text-anchor: middle; fill: #1f2328 } rect { fill: #f6f8fa; stroke: #59636e }",
        ".front { fill: #ddf4ff } path { fill: none; stroke: #59636e } #tip path { fill: #59636e }",
        "@media (prefers-color-scheme: dark) {",
        "text { fill: #f0f6fc } rect { fill: #21262d; stroke: #9198a1 } .front { fill: #12375c }",
        "path { stroke: #9198a1 } #tip path { fill: #9198a1 } }",
        "</style>",
        '<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z"/></marker>',
    ]
    for one, other in sorted(without_shortcuts(pairs)):
        (x, y), (to_x, to_y) = place[one], place[other]
        y, to_y = y + HEIGHT / 2, to_y - HEIGHT / 2
        bend = (to_y - y) / 2
        lines.append(f'<path marker-end="url(#tip)" d="M{x:.0f} {y:.0f}C{x:.0f} {y + bend:.0f} {to_x:.0f} {to_y - bend:.0f} {to_x:.0f} {to_y:.0f}"/>')
    for room, (x, y) in sorted(place.items()):
        kind = ' class="front"' if room.startswith(FRONT) else ""
        lines.append(f'<rect{kind} x="{x - BOX / 2:.0f}" y="{y - HEIGHT / 2:.0f}" width="{BOX}" height="{HEIGHT}" rx="6"/>')
        label = room.replace(FRONT + "/", "front/")
        lines.append(f'<text x="{x:.0f}" y="{y + 5:.0f}">{escape(label)}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when the picture differs")
    check = parser.parse_args().check
    try:
        text = picture(*edges())
    except ValueError as circle:
        sys.exit(f"rooms.py: {circle}")
    if PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{PICTURE.relative_to(ROOT)}: {'differs from the tree; reports/rooms.py draws it' if check else 'drawn'}")
    if not check:
        PICTURE.write_text(text, encoding="utf-8")
    return 1 if check else 0


if __name__ == "__main__":
    sys.exit(main())
