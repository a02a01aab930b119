#!/usr/bin/env python3
"""Draws the pictures of the pages: what `lab draw` shows of the kernels as they stand.

A page says what is to be drawn with a pair of comments, and what stands between them is generated, the picture
docs/pictures/NAME.svg and words for who cannot see it:

    <!-- picture: strided moving_average/03_thread_tiled --at "averages[i] = sum / count" --n 100000 -->
    <!-- /picture -->

The words after NAME are those of `lab draw`. `--at TEXT` stands for `--line N`: the only line of the stage's source (or,
with `--at FILE:TEXT`, of that file) that holds TEXT, so that a picture survives a line that is added above. Of one NAME
there is one picture, whichever pages show it.

usage: reports/pictures.py            draw the pictures and rewrite the pages
       reports/pictures.py --check    write nothing; exit 1 when a page or a picture is not what the kernels do
       --program FILE                 the built program (default: build/emulator/lab); `./lab build` builds what it needs
"""

import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = "docs/pictures"
MARKER = re.compile(r"(<!-- picture: ([\w-]+) (.+?) -->\n).*?(<!-- /picture -->)", re.DOTALL)
SKIPPED = {".git", "build", "node_modules"}


class Problem(Exception):
    """What is wrong with a page."""


def pages_of(root):
    """The pages below `root` that may hold pictures."""
    return [path for path in sorted(root.rglob("*.md")) if not SKIPPED & set(path.relative_to(root).parts)]


def line_with(root, stage, text):
    """FILE:LINE of the only line with `text`: in the stage's source, or in FILE of "FILE:TEXT"."""
    name, separator, rest = text.partition(":")
    file = f"stages/{stage}/stage.cu"
    if separator and (root / name).is_file():
        file, text = name, rest
    if not (root / file).is_file():
        raise Problem(f"there is no {file}")
    found = [number for number, line in enumerate((root / file).read_text(encoding="utf-8").splitlines(), 1) if text in line]
    if len(found) != 1:
        raise Problem(f"{len(found)} lines of {file} hold '{text}', and one should")
    return f"{file}:{found[0]}"


def call_of(root, words):
    """The arguments of `lab draw` that a marker's words mean."""
    try:
        arguments = shlex.split(words)
    except ValueError as error:
        raise Problem(str(error)) from error
    for option in ("--output", "--json"):
        if any(argument.split("=")[0] == option for argument in arguments):
            raise Problem(f"{option} is not for a page to say")
    while "--at" in arguments:
        place = arguments.index("--at")
        if place + 1 == len(arguments):
            raise Problem("--at needs a text")
        arguments[place : place + 2] = ["--line", line_with(root, arguments[0], arguments[place + 1])]
    return arguments


def draw(program, arguments):
    """(SVG, words) of a call of `lab draw`. Raises Problem with what the program says."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "picture.svg")
        done = subprocess.run([program, "draw", *arguments, "--output", str(file)], capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0 or not file.exists():
            raise Problem(f"lab draw {shlex.join(arguments)}: {(done.stdout + done.stderr).strip()}")
        said = done.stdout.splitlines()[:-1]  # the last says where it was written
        return file.read_text(encoding="utf-8"), said


def words_for(said, arguments):
    """The alternative text: what the program says of the access."""
    stage = said[0].split(":")[0]
    last = said[-1].replace("[", "(").replace("]", ")")
    return f"{stage}: {last}" if "--block" in arguments else f"{stage}, line {said[1].split(':')[1]}: {last}"


def results(root, program):
    """{path: text} of every picture and of every page with pictures, as they should be. Raises Problem."""
    texts, calls = {}, {}
    for page in pages_of(root):
        def replaced(match, page=page):
            opening, name, words, closing = match.groups()
            picture = root / FOLDER / f"{name}.svg"
            try:
                arguments = call_of(root, words)
                if name not in calls:
                    texts[picture], said = draw(program, arguments)
                    calls[name] = (arguments, words_for(said, arguments))
                if calls[name][0] != arguments:
                    raise Problem(f"another page draws something else as {name}")
            except Problem as problem:
                raise Problem(f"{page.relative_to(root)}: {problem}") from problem
            link = os.path.relpath(picture, page.parent)
            return f"{opening}![{calls[name][1]}]({link})\n{closing}"

        before = page.read_text(encoding="utf-8")
        # What is shown in a fenced block is an example.
        parts = re.split(r"(^```.*?^```$)", before, flags=re.DOTALL | re.MULTILINE)
        after = "".join(part if part.startswith("```") else MARKER.sub(replaced, part) for part in parts)
        if after != before or any(MARKER.search(part) for part in parts if not part.startswith("```")):
            texts[page] = after
    return texts


def differences(root, texts):
    """Files that are not as they should be, and pictures that no page shows."""
    found = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    return found, [path for path in sorted((root / FOLDER).glob("*.svg")) if path not in texts]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--program", default=str(ROOT / "build" / "emulator" / "lab"))
    options = parser.parse_args()
    if not pathlib.Path(options.program).is_file():
        sys.exit(f"pictures.py: there is no {options.program}: build the lab, or name it with --program")
    try:
        texts = results(ROOT, options.program)
    except Problem as problem:
        sys.exit(f"pictures.py: {problem}")
    changed, unused = differences(ROOT, texts)
    for path in changed:
        print(f"{path.relative_to(ROOT)}: {'is not what the kernels do; reports/pictures.py draws it' if options.check else 'written'}")
    for path in unused:
        print(f"{path.relative_to(ROOT)}: no page shows it{'' if options.check else '; removed'}")
    if not options.check:
        (ROOT / FOLDER).mkdir(exist_ok=True)
        for path in changed:
            path.write_text(texts[path], encoding="utf-8")
        for path in unused:
            path.unlink()
    return 1 if options.check and (changed or unused) else 0


if __name__ == "__main__":
    sys.exit(main())
