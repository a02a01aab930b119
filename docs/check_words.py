#!/usr/bin/env python3
"""Refuses the worn phrases of docs/worn_phrases.txt in the repository's pages and comments.

usage: docs/check_words.py   exit 1, with a line FILE:LINE: "PHRASE": say INSTEAD for each

Of C++ and CUDA the comments are read, since a text there may be what a proof or a test compares; of pages, Python, JSON
and CMake everything. A phrase may be broken at a line's end. The Nsight labs' page has recorded output of tools, and is left out.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = pathlib.Path(__file__).with_name("worn_phrases.txt")
COMMENTED = (".cpp", ".hpp", ".cu", ".cuh")
READ = ("*.md", "*.py", "*.cpp", "*.hpp", "*.cu", "*.cuh", "docs/*.json", "stages/*.json", "*.cmake", "*CMakeLists.txt")
LEFT_OUT = ("docs/nsight-labs.md", "docs/check_words.py", "tests/reports/links_test.py")


def phrases(text):
    """[(pattern, what to say instead)] of a list's text."""
    pairs = [line.split(" => ", 1) for line in text.splitlines() if line and not line.startswith("#")]
    return [(re.compile(pattern.replace(" ", r"[\s/]+"), re.IGNORECASE), instead) for pattern, instead in pairs]


def problems(path, text, worn):
    """What is refused in a file's text, as texts "FILE:LINE: MESSAGE"."""
    if path.endswith(COMMENTED):
        text = re.sub(r"^(?:[^\n/\"]|\"(?:[^\"\\\n]|\\.)*\"|/(?!/))*", "", text, flags=re.MULTILINE)
    found = [(text.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), instead) for pattern, instead in worn for match in pattern.finditer(text)]
    return [f'{path}:{line}: "{phrase}": say {instead}' for line, phrase, instead in sorted(found)]


def main(arguments):
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    worn = phrases(LIST.read_text(encoding="utf-8"))
    listed = subprocess.run(["git", "ls-files", "-z", *READ], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = [path for path in listed.split("\0") if path and path not in LEFT_OUT and (ROOT / path).exists()]
    found = [problem for path in files for problem in problems(path, (ROOT / path).read_text(encoding="utf-8", errors="replace"), worn)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
