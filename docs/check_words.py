#!/usr/bin/env python3
"""Refuses the worn phrases of docs/worn_phrases.txt in the repository's pages, comments and messages.

usage: docs/check_words.py   exit 1, with a line FILE:LINE: "PHRASE": say INSTEAD for each

Everything is read of pages (except what is generated, between comments such as <!-- nsight: NAME --> and <!-- /nsight -->), of C++ and CUDA,
Python, JavaScript, CMake and shell, and of the JSON that people write. A phrase may be broken at a line's end, of a comment or of a text that the
next line continues.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = pathlib.Path(__file__).with_name("worn_phrases.txt")
READ = {".cpp", ".hpp", ".cu", ".cuh", ".md", ".py", ".js", ".html", ".sh", ".cmake", ""}  # "": the launcher, and other scripts
SKIPPED = {".git", "build", "exercises"}  # at the root: what is built, and what a student writes
# They hold the phrases themselves.
LEFT_OUT = ("docs/check_words.py", "tests/reports/links_test.py")
LISTING = re.compile(r"^ *```.*?^ *```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
MICROSECONDS = [(re.compile(r"\d us\b"), "µs, as pages do; us is what the program and Nsight Compute print")]
GENERATED = re.compile(r"^<!-- (\w+): .*?^<!-- /\1 -->$", re.MULTILINE | re.DOTALL)


def phrases(text):
    """[(pattern, what to say instead)] of a list's text."""
    pairs = [line.split(" => ", 1) for line in text.splitlines() if line and not line.startswith("#")]
    return [(re.compile(pattern.replace(" ", r"[\s/#\"'+]+"), re.IGNORECASE), instead) for pattern, instead in pairs]


def problems(path, text, worn):
    """What is refused in a file's text, as texts "FILE:LINE: MESSAGE"."""
    if path.endswith(".md"):
        text = GENERATED.sub(lambda block: "\n" * block[0].count("\n"), text)
    prose = LISTING.sub(lambda block: "\n" * block[0].count("\n"), text) if path.endswith(".md") else ""
    found = [(read.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), instead)
             for read, refused in ((text, worn), (prose, MICROSECONDS)) for pattern, instead in refused for match in pattern.finditer(read)]
    return [f'{path}:{line}: "{phrase}": say {instead}' for line, phrase, instead in sorted(found)]


def files(root):
    """The paths of the files that are read, below `root`."""
    paths = sorted(path for top in sorted(root.iterdir()) if top.name not in SKIPPED for path in ([top] if top.is_file() else top.rglob("*")))
    return [path for path in (path.relative_to(root).as_posix() for path in paths if path.is_file())
            if path not in LEFT_OUT and (pathlib.PurePath(path).suffix in READ or path.endswith(("CMakeLists.txt", "verbs.txt"))
                                         or path.endswith(".json") and path.startswith(("docs/", "harness/", "stages/")))]


def main(arguments):
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    worn = phrases(LIST.read_text(encoding="utf-8"))
    found = [problem for path in files(ROOT) for problem in problems(path, (ROOT / path).read_text(encoding="utf-8", errors="replace"), worn)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
