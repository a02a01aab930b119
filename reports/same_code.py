#!/usr/bin/env python3
"""Says of which stages the machine code stayed as it was though their sources changed: reports/same_code.json.

A record keeps the digest of the sources that made it (reports/source_digest.py). A comment, a name or a line of the
registration changes that digest and no kernel. Where this script has found the same machine code before and after, the
record is still one of the present kernels, and reports/tables.py says so.

usage: reports/same_code.py OLD                          compare the stages as of commit OLD with those of the working tree
       reports/same_code.py OLD --renamed PATH=NEW_PATH  a stage's directory has another name now (repeatable)
       reports/same_code.py OLD --only PATTERN           these stages alone, a shell's pattern (repeatable)
       reports/same_code.py OLD --launches-reviewed      take kernels alone for the code: somebody has read what changed in
                                                         the host's, and it launches the same grids as before

Stages whose sources differ in comments and white space alone are the same without a compiler. Of the others both sides are
compiled, two at a time (--jobs), with the flags of a release build, for --arch (sm_90). Compared are

  the kernels: every function's instructions, registers, shared memory and constants, as nvcc leaves them in the cubin;
  what launches them: the host functions that call cudaLaunchKernel and its like, and the functions that call those.

Names do not count, nor the order of functions. Not compared is what a host function reads from its object's data: text, and
real numbers that stand in no instruction. A stage of which anything differs is named and not written down, and
the script exits with 1. What has been compiled is kept in build/same_code/.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import source_digest

ROOT = source_digest.ROOT
RECORD = ROOT / "reports" / "same_code.json"
CACHE = ROOT / "build" / "same_code"
# What g++ inlines into a function depends on the size of all the others, so nothing is; nvcc optimises kernels in any case.
FLAGS = ["-std=c++20", "-DNDEBUG", "-DLAB_EMULATED=0", "-Xcompiler", "-O1,-fno-inline,-ffunction-sections"]
LAUNCHES = re.compile(r"(__)?cu(da)?(Launch|PushCallConfiguration|GraphLaunch)")
BRANCH = 4  # R_X86_64_PLT32: a call or a jump to another function

Section = collections.namedtuple("Section", "name kind info link bytes")
SYMBOLS, RELOCATIONS_WITH_ADDENDS, NO_BITS = 2, 4, 8


class Elf:
    """The sections, symbols and relocations of a 64-bit ELF file: a cubin, or a host's object."""

    def __init__(self, data):
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("no 64-bit ELF file")
        (start,) = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3A)
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, start + size * number) for number in range(count)]
        text = data[headers[names][4]:][:headers[names][5]] if count else b""
        self.sections = []
        for name, kind, _, _, offset, length, link, info, _, _ in headers:
            content = bytes(length) if kind == NO_BITS else data[offset:offset + length]
            self.sections.append(Section(zero_ended(text, name), kind, info, link, content))

    def symbols(self):
        """(name, index of the section) of every symbol."""
        for section in self.sections:
            if section.kind == SYMBOLS:
                names = self.sections[section.link].bytes
                for name, _, _, where, _, _ in struct.iter_unpack("<IBBHQQ", section.bytes):
                    yield zero_ended(names, name), where

    def relocations(self):
        """(index of the section that is patched, type, symbol's number) of every relocation."""
        for section in self.sections:
            if section.kind == RELOCATIONS_WITH_ADDENDS:
                for _, info, _ in struct.iter_unpack("<QQq", section.bytes):
                    yield section.info, info & 0xFFFFFFFF, info >> 32


def zero_ended(table, offset):
    return table[offset:table.index(b"\0", offset)].decode()


def digest(*parts):
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def kernels(cubin):
    """Function -> digest of its instructions and of what it needs, of a cubin."""
    elf = Elf(cubin)
    # The number of registers stands in the upper byte of the section's info; the rest is the number of a symbol.
    found = {section.name.removeprefix(".text."): [section.bytes, b"%d" % (section.info >> 24)] for section in elf.sections if section.name.startswith(".text.")}
    for section in elf.sections:
        for kind in (".nv.shared.", ".nv.constant0.", ".nv.constant2."):
            function = section.name.removeprefix(kind)
            if function != section.name and function in found:
                found[function] += [kind.encode(), section.bytes if kind == ".nv.constant2." else b"%d" % len(section.bytes)]
    result = {function: digest(*parts) for function, parts in found.items()}
    # Constants and tables that all functions share.
    shared = [digest(section.name.encode(), section.bytes) for section in elf.sections if section.name in (".nv.constant3", ".nv.global.init")]
    return {**result, **({"constants of the module": digest("".join(sorted(shared)).encode())} if shared else {})}


def launchers(host_object):
    """Function -> digest of its instructions, of the host functions that launch kernels, and of those that call them. The
    object must have a section for each function."""
    elf = Elf(host_object)
    symbols = list(elf.symbols())
    calls = collections.defaultdict(set)  # section -> sections, or names of what is defined elsewhere
    for section, kind, symbol in elf.relocations():
        if kind == BRANCH:
            name, where = symbols[symbol]
            calls[section].add(where or name)
    found = {section for section, called in calls.items() if any(isinstance(one, str) and LAUNCHES.match(one) for one in called)}
    while more := {section for section, called in calls.items() if called & found} - found:
        found |= more
    return {elf.sections[number].name.removeprefix(".text."): digest(elf.sections[number].bytes) for number in found}


def compiled(tree, stage, arch, nvcc):
    """{"kernels": {function: digest}, "launchers": {...}} of a stage in a tree of sources."""
    flags = hashlib.sha1(" ".join(FLAGS).encode()).hexdigest()[:8]
    cached = CACHE / f"{tree.digest(tree.files_of(stage))}.{arch}.{nvcc}.{flags}.json"
    if cached.exists():
        return json.loads(cached.read_text())
    with tempfile.TemporaryDirectory() as directory:
        command = ["nice", "nvcc", *FLAGS, f'-DLAB_PATH="{stage}"', f"-I{tree.root}", "-gencode", f"arch={arch.replace('sm', 'compute')},code={arch}",
                   "--keep", "--keep-dir", directory, "-c", str(tree.root / "stages" / stage / "stage.cu"), "-o", f"{directory}/stage.host.o"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{stage} does not compile:\n{done.stderr}")
        (cubin,) = pathlib.Path(directory).glob("*.cubin")
        found = {"kernels": kernels(cubin.read_bytes()), "launchers": launchers(pathlib.Path(directory, "stage.host.o").read_bytes())}
    CACHE.mkdir(parents=True, exist_ok=True)
    unfinished = cached.with_suffix(f".{os.getpid()}")
    unfinished.write_text(json.dumps(found, indent=1, sort_keys=True))
    unfinished.rename(cached)
    return found


def differences(old, new, kinds=("kernels", "launchers")):
    """What differs between the functions of two compilations, a line each; none where all are the same but for names."""
    lines = []
    for kind in kinds:
        word = {"kernels": "kernel", "launchers": "launching function"}[kind]
        before, after = (collections.Counter(one[kind].values()) for one in (old, new))
        for functions, missing, text in ((old[kind], before - after, "before"), (new[kind], after - before, "now")):
            for function, code in sorted(functions.items()):
                if missing[code] > 0:
                    missing[code] -= 1
                    lines.append(f"{word} {function} {text} has no equal")
    return lines


def code_digest(found):
    """Of all kernels, whatever their names and order."""
    return digest("\n".join(sorted(found["kernels"].values())).encode())


def text_digest(tree, stage):
    """Of a stage's source and all that it includes, without comments."""
    files = sorted(tree.files_of(stage))
    return digest("\0".join(f"{path}\0{source_digest.code_text(tree.text(path).decode())}" for path in files).encode())


class Pairs:
    """Which sources compile to the same machine code."""

    def __init__(self, path=RECORD):
        self.entries = []
        if path.exists():
            document = json.loads(path.read_text(encoding="utf-8"))
            if document.get("schema") != "kernel-lab-same-code" or document.get("version") != 1:
                raise ValueError(f"{path} is no record of same_code.py's")
            self.entries = document["pairs"]
        self.next = {(one["from"], one["old"]): (one["to"], one["new"]) for one in self.entries}

    def follow(self, stage, sources):
        """The last stage and digest that have the code of this stage with these sources."""
        seen = set()
        while (stage, sources) in self.next and (stage, sources) not in seen:
            seen.add((stage, sources))
            stage, sources = self.next[stage, sources]
        return stage, sources

    def add(self, entry):
        self.entries = [one for one in self.entries if (one["from"], one["old"]) != (entry["from"], entry["old"])] + [entry]

    def write(self, path=RECORD):
        entries = sorted(self.entries, key=lambda one: (one["from"], one["old"]))
        path.write_text(json.dumps({"schema": "kernel-lab-same-code", "version": 1, "pairs": entries}, indent=1) + "\n", encoding="utf-8")


def release_of(nvcc_says):
    found = re.search(r"V(\d+\.\d+\.\d+)", nvcc_says)
    return found[1] if found else "unknown"


def compare(old_tree, new_tree, renamed, compiled_of, jobs, kinds=("kernels", "launchers"), only=("*",)):
    """The pairs of stages with other sources and the same code, and a line for each difference in the others."""
    before, now = old_tree.digests()["stages"], new_tree.digests()["stages"]
    stages = [(stage, renamed.get(stage, stage)) for stage in before]
    stages = [(old, new) for old, new in stages if new in now and (old, before[old]) != (new, now[new])]
    stages = [(old, new) for old, new in stages if any(fnmatch.fnmatchcase(new, pattern) for pattern in only)]
    pairs, refused, to_compile = [], [], []
    for old, new in stages:
        if old == new and (text := text_digest(old_tree, old)) == text_digest(new_tree, new):
            print(f"{new}: the same text but for comments", flush=True)
            pairs.append({"from": old, "old": before[old], "to": new, "new": now[new], "code": text, "compared": ["text"]})
        else:
            to_compile.append((old, new))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = [(old, new, pool.submit(compiled_of, old_tree, old), pool.submit(compiled_of, new_tree, new)) for old, new in to_compile]
        for old, new, first, second in waiting:
            first, second = first.result(), second.result()
            found = differences(first, second, kinds)
            refused += [f"{new}: {line}" for line in found]
            print(f"{new}: {'other code' if found else 'the same code'}", flush=True)
            if not found:
                pairs.append({"from": old, "old": before[old], "to": new, "new": now[new], "code": code_digest(first), "compared": list(kinds)})
    return pairs, refused


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="the commit to compare with")
    parser.add_argument("--renamed", action="append", default=[], metavar="PATH=NEW_PATH")
    parser.add_argument("--only", action="append", metavar="PATTERN")
    parser.add_argument("--launches-reviewed", action="store_true")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    recorded = Pairs()
    nvcc = release_of(subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout)
    with tempfile.TemporaryDirectory() as directory:
        old = pathlib.Path(directory) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(old), options.old], check=True)
        try:
            pairs, refused = compare(
                source_digest.Tree(old),
                source_digest.Tree(),
                dict(one.split("=", 1) for one in options.renamed),
                lambda tree, stage: compiled(tree, stage, options.arch, nvcc),
                options.jobs,
                ("kernels",) if options.launches_reviewed else ("kernels", "launchers"),
                options.only or ("*",),
            )
        finally:
            subprocess.run([*git, "remove", "--force", str(old)], check=True)
    for pair in pairs:
        recorded.add(pair if pair["compared"] == ["text"] else {**pair, "arch": options.arch, "nvcc": nvcc})
    recorded.write()
    for line in refused:
        print(f"not the same: {line}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
