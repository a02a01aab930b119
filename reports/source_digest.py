#!/usr/bin/env python3
"""Digests of the lab's sources, which tell whether a record was made by the kernels as they stand.

A stage's digest is the SHA-1 over the tokens (no comments, no white space) of its stage.cu and what that includes from
this repository, and so on (#include "..."), outside harness/ and common/emulator/ and but for the track's problem.hpp:
how a kernel is measured, emulated or judged may change without the kernel. The digest of the tree is the SHA-1 over lines
"<SHA-1 of the file, as Git names a blob> <path>\n", sorted by path, of all of stages/, common/ and harness/ that is
compiled. Neither needs a repository.

The digest of a stage's proof covers what was proved: the tokens (no comments, no white space) of the stage's sources, of its
track's, and the version of the verifier (harness/device/verifier_version.hpp). So a comment costs no proof. Beside it a proof
names its judges: the tokens of the verifier and of the emulator, by which the tests know whether they must make it again.

usage: reports/source_digest.py                  print the digests as JSON
       reports/source_digest.py --output FILE    write them, unless they stand there already; every build does
"""

import argparse
import hashlib
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ("stages", "common", "harness")
NOT_THE_KERNEL = ("harness/", "common/emulator/")
JUDGES = ("common/", "harness/device/")
NOT_A_JUDGE = ("common/emulator/observe/", "common/emulator/programs/")  # no proof runs them
COMPILED = (".cu", ".cuh", ".cpp", ".hpp", ".h", ".in")
VERIFIER = "harness/device/verifier_version.hpp"
# A raw string, another string or a character (a digit separator begins none), or a run of white space and comments.
COMMENT = r"//(?:\\\n|[^\n])*|/\*.*?\*/"
LEXEMES = re.compile(
    r'R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])*\'|(?P<space>(?:\s|' + COMMENT + ")+)",
    re.DOTALL)
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\w+|[^\w\s]')
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def code_text(text):
    """Source without comments, each run of white space as one character: a line's end where there is one in it."""
    def shorter(match):
        if match["space"] is None:
            return match[0]
        return "\n" if "\n" in re.sub(COMMENT, " ", match[0], flags=re.DOTALL) else " "
    return LEXEMES.sub(shorter, text.replace("\r\n", "\n")).strip()


def tokens(text):
    """Its tokens with one blank between them, wherever its lines are broken; a directive keeps a line of its own."""
    found = []
    for line in code_text(text).split("\n"):
        words = " ".join(TOKEN.findall(line))
        found.append(f"\n{words}\n" if words.startswith("#") else words)
    return " ".join(found)


class Tree:
    """The sources below a directory, each read once."""

    def __init__(self, root=ROOT):
        self.root = pathlib.Path(root)
        self.texts = {}
        self.token_texts = {}

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = (self.root / path).read_bytes()
        return self.texts[path]

    def sources(self):
        """The paths of all that is compiled, from the root."""
        found = [file for room in ROOMS for file in (self.root / room).rglob("*") if file.suffix in COMPILED and file.is_file()]
        return sorted(file.relative_to(self.root).as_posix() for file in found)

    def stages(self):
        """The paths of all stages: "track/02_tree"."""
        return sorted(file.parent.relative_to(self.root / "stages").as_posix() for file in self.root.glob("stages/*/*/stage.cu"))

    def included(self, path):
        """What a file includes from here: names from the root, or from the file's own directory."""
        for name in INCLUDE.findall(self.text(path)):
            for base in (self.root, (self.root / path).parent):
                file = (base / name.decode(errors="replace")).resolve()
                if file.is_file() and file.is_relative_to(self.root.resolve()):
                    yield file.relative_to(self.root.resolve()).as_posix()
                    break

    def files_of(self, stage):
        """The stage's source, and what it includes outside harness/."""
        return self.closure([f"stages/{stage}/stage.cu"])

    def kernel_files(self, stage):
        """The same, but for what the track says of itself."""
        return [path for path in self.files_of(stage) if not path.endswith("/problem.hpp")]

    def proved_files(self, stage):
        """The same, with what is compiled for its track; and the version of the verifier."""
        track = self.root / "stages" / stage.split("/")[0]
        own = [file.relative_to(self.root).as_posix() for kind in ("*.cpp", "*.cu") for file in track.glob(kind)]
        return self.closure([f"stages/{stage}/stage.cu", *own]) | {VERIFIER}

    def closure(self, pending):
        found = set()
        while pending:
            path = pending.pop()
            if path in found or path.startswith(NOT_THE_KERNEL):
                continue
            found.add(path)
            pending += self.included(path)
        return found

    def digest(self, paths):
        lines = (f"{self.blob(path)} {path}\n" for path in sorted(paths))
        return hashlib.sha1("".join(lines).encode()).hexdigest()

    def blob(self, path):
        text = self.text(path)
        return hashlib.sha1(b"blob %d\0" % len(text) + text).hexdigest()

    def token_digest(self, paths):
        return hashlib.sha1("".join(f"{path}\0{self.tokens(path)}\0" for path in sorted(paths)).encode()).hexdigest()

    def tokens(self, path):
        if path not in self.token_texts:
            self.token_texts[path] = tokens(self.text(path).decode(errors="replace"))
        return self.token_texts[path]

    def proofs(self):
        """The digest that a proof of each stage has."""
        return {stage: self.token_digest(self.proved_files(stage)) for stage in self.stages()}

    def kernels(self):
        """The digest that a record of each stage has."""
        return {stage: hashlib.sha1("\0".join(map(self.tokens, sorted(self.kernel_files(stage)))).encode()).hexdigest() for stage in self.stages()}

    def judges(self):
        """The digest of the verifier and of the emulator, by which a proof was made."""
        return self.token_digest([path for path in self.sources() if path.startswith(JUDGES) and not path.startswith(NOT_A_JUDGE)])

    def digests(self):
        return {"tree": self.digest(self.sources()), "stages": self.kernels(), "proofs": self.proofs(), "judges": self.judges()}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--output", type=pathlib.Path)
    output = parser.parse_args(arguments).output
    text = json.dumps(Tree().digests(), indent=1, sort_keys=True) + "\n"
    if output is None:
        sys.stdout.write(text)
    elif not output.exists() or output.read_text() != text:
        output.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
