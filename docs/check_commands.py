#!/usr/bin/env python3
"""Runs the commands that the pages show, and compares what they print with what the pages say.

A fenced block of the language `console` is a session: a line "$ COMMAND" is run by bash, and what follows to the next
such line, or to the block's end, is what it prints. A comment before the block says more:

    <!-- commands: exit 1 -->        the last command of the block ends with this code (default: 0)
    <!-- commands: not run: WHY -->  the block is shown and not run

`./lab` is the built program, or the launcher for its verbs list and doctor. A page's blocks share one folder, empty at first, so that a block can use what an earlier one
wrote. What may change from run to run does not count:

* times, spreads, ratios and the host's name, in lines that hold a time or a processor's name, and seeds that were drawn;
* lines for which the page has "..." alone.

usage: docs/check_commands.py [PAGE...]   exit 1, with the difference, where a page is wrong
       --program FILE   the built program (default: build/emulator/lab)
       --write          put what the commands print today into the pages, but for the lines of a "..."
"""

import argparse
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = {".git", "build", "node_modules"}
BLOCK = re.compile(r"(?:^<!-- commands: ([^\n]+?) -->\n+)?^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIME = re.compile(r"\d[\d.]* (?:ns|µs|us|ms|s)\b")
VARYING = re.compile(r"[\d.,]+(?:e[+-]?\d+)?x?|~")
SECONDS = 240


class Problem(Exception):
    """What is wrong with a page."""


def normal(line):
    """The line with what may change from run to run left out."""
    line = line.rstrip()
    if line.startswith("seed ") or line.startswith("device "):
        return line.split()[0]
    line = re.sub(r"( on )[^:]*(: [a-z-]+ = )", r"\1HOST\2", line)
    if line.lstrip().startswith("stage  "):
        return " ".join(line.split())  # a ladder's head: its columns are as wide as their widest figure
    if TIME.search(line):
        # One blank for many: a column is as wide as its widest figure.
        line = re.sub(r"\s+", " ", re.sub(r"µs|us|ms|ns|\bs\b", "TIME", VARYING.sub("N", line)))
    return line


def sessions(text):
    """[(command, [expected line])] of a block."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif not found:
            raise Problem("a block of commands begins with '$ '")
        elif found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1] = (found[-1][0] + "\n" + line, [])
        else:
            found[-1][1].append(line)
    return found


def matches(expected, printed):
    """Whether the printed lines are the expected ones, "..." standing for any number of lines."""
    if not expected:
        return not printed
    if expected[0].strip() == "...":
        return any(matches(expected[1:], printed[begin:]) for begin in range(len(printed) + 1))
    return bool(printed) and normal(expected[0]) == normal(printed[0]) and matches(expected[1:], printed[1:])


def run(command, folder, program):
    """(exit code, [printed line]) of a shell command in `folder`, where ./lab is the program."""
    lab = pathlib.Path(folder, "lab")
    if not lab.exists():
        lab.write_text(f'#!/bin/sh\ncase "$1" in list|doctor) exec "{ROOT}/lab" "$@" ;; esac\nexec "{program}" "$@"\n', encoding="utf-8")
        lab.chmod(0o755)
    try:
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        raise Problem(f"$ {command}\n  has not ended after {SECONDS} s") from late
    return done.returncode, [line.rstrip() for line in done.stdout.decode(errors="replace").splitlines()]


def check_block(remark, text, folder, program):
    """The block as it should be. Raises Problem where a command fails, or prints something else."""
    code_wanted = 0
    if remark:
        exit_code = re.fullmatch(r"exit (\d+)", remark)
        if not exit_code:
            raise Problem(f"a block is remarked '{remark}', which means nothing")
        code_wanted = int(exit_code[1])
    problems, right = [], []
    commands = sessions(text)
    for number, (command, expected) in enumerate(commands):
        code, printed = run(command, folder, program)
        wanted = code_wanted if number + 1 == len(commands) else 0
        if code != wanted:
            raise Problem(f"$ {command}\n  ends with {code} and not {wanted}:\n" + "\n".join(printed[-20:]))
        if matches(expected, printed):
            printed = expected
        else:
            difference = difflib.unified_diff([normal(line) for line in expected], [normal(line) for line in printed], "the page", "printed", lineterm="", n=1)
            problems.append(f"$ {command}\n" + "\n".join(difference))
        right += ["$ " + command, *printed]
    return "".join(line + "\n" for line in right), problems


def check_page(path, program):
    """(problems, text) of a page: the second as it should be."""
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        def checked(match):
            remark, text = match.groups()
            if remark and remark.startswith("not run: "):
                return match[0]
            try:
                right, found = check_block(remark, text, folder, program)
            except Problem as problem:
                right, found = text, [str(problem)]
            problems.extend(found)
            return match[0].replace(text, right)

        return problems, BLOCK.sub(checked, path.read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--program", default=str(ROOT / "build" / "emulator" / "lab"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    program = pathlib.Path(options.program).resolve()
    if not program.is_file():
        sys.exit(f"check_commands.py: there is no {program}: build the lab, or name it with --program")
    pages = options.pages or [path for path in sorted(ROOT.rglob("*.md")) if not SKIPPED & set(path.relative_to(ROOT).parts)]
    failed = False
    for page in pages:
        if "```console\n" not in page.read_text(encoding="utf-8"):
            continue
        problems, text = check_page(page, program)
        for problem in problems:
            print(f"{page}: {problem}\n")
        failed = failed or bool(problems)
        if options.write:
            page.write_text(text, encoding="utf-8")
    return 1 if failed and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
