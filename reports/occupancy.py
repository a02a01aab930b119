#!/usr/bin/env python3
"""How many blocks of a kernel fit into a multiprocessor, for compute capabilities that this machine need not have: nvcc says
what a thread and a block take, the emulator how the kernel is launched, and the rest is arithmetic.

usage: reports/occupancy.py PROGRAM STAGE KERNELS [parameters, as --n 1e5]

PROGRAM is `lab`, which calls this for `lab profile STAGE --occupancy`; KERNELS is what it has counted, as JSON: the name and the
metrics of each. It prints JSON: for each kernel its name, the threads of its blocks, and a row for each compute capability.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADINGS = ["compiled for", "registers", "shared memory, bytes", "blocks", "of its warps", "limited by"]
KIB = 1024
REGISTERS, SUBPARTITIONS = 65536, 4  # of a multiprocessor


class Multiprocessor(NamedTuple):
    threads: int
    blocks: int
    shared: int  # bytes of shared memory
    of_block: int  # the most for one block
    reserved: int  # taken for each block besides
    granularity: int  # of an allocation


# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; granularities from cuda_occupancy.h.
MULTIPROCESSORS = {
    "sm_75": Multiprocessor(1024, 16, 64 * KIB, 64 * KIB, 0, 256),
    "sm_80": Multiprocessor(2048, 32, 164 * KIB, 163 * KIB, KIB, 128),
    "sm_86": Multiprocessor(1536, 16, 100 * KIB, 99 * KIB, KIB, 128),
    "sm_89": Multiprocessor(1536, 24, 100 * KIB, 99 * KIB, KIB, 128),
    "sm_90": Multiprocessor(2048, 32, 228 * KIB, 227 * KIB, KIB, 128),
    "sm_100": Multiprocessor(2048, 32, 228 * KIB, 227 * KIB, KIB, 128),
}


class Failed(Exception):
    """The program refused a call: its exit code and its words."""

    def __init__(self, code, words):
        super().__init__(words)
        self.code = code


def call(program, *arguments, shows_progress=False):
    done = subprocess.run([program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=None if shows_progress else subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Failed(done.returncode, ((done.stderr or "") + done.stdout).strip())


def is_drawn(program, *words):
    """Whether `lab draw` had something to draw: a line whose accesses it does not keep has no picture."""
    try:
        call(program, "draw", *words)
        return True
    except Failed as problem:
        if problem.code != 2:
            raise
        return False


def block_of(program, stage, parameters, kernel, folder):
    """What `lab draw` says of a block in the middle of the grid, which no edge cuts, or of the first; None where it asks nothing of memory."""
    output = folder / f"{abs(hash((stage, kernel['name'])))}"
    words = [stage, *parameters, "--block", "--kernel", kernel["name"], "--output", f"{output}.svg", "--json", f"{output}.json"]
    for number in (int(kernel["metrics"]["launch__grid_size"]) // 2, 0):
        if is_drawn(program, *words, "--block-number", number):
            return json.loads(pathlib.Path(f"{output}.json").read_text(encoding="utf-8"))
    return None


def rounded_up(value, unit):
    return -(-value // unit) * unit


def limits(of, threads, registers, shared):
    """{resource: how many blocks it has room for} of a multiprocessor, for blocks of so many threads and bytes."""
    warps = rounded_up(threads, 32) // 32
    of_warp = rounded_up(max(registers, 1) * 32, 256)
    of_block = rounded_up(shared + of.reserved, of.granularity)
    return {
        "blocks": of.blocks,
        "warps": of.threads // 32 // warps,
        "registers": REGISTERS // SUBPARTITIONS // of_warp * SUBPARTITIONS // warps if of_warp * rounded_up(warps, SUBPARTITIONS) <= REGISTERS else 0,
        "shared memory": 0 if shared > of.of_block else of.shared // of_block if of_block else of.blocks,
    }


def find_nvcc():
    found = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    return found if os.access(found, os.X_OK) else None


def plain(name):
    """A kernel's name as the emulator and c++filt both have it."""
    return re.sub(r"\s", "", name.replace("(anonymous namespace)", "<unnamed>")).removeprefix("void")


def resources(stage, nvcc):
    """[(architecture, kernel as plain() has it and its parameters, registers, bytes of static shared memory)] of a stage."""
    targets = [f"-gencode=arch=compute_{name[3:]},code={name}" for name in MULTIPROCESSORS]
    done = subprocess.run(
        [nvcc, "-t0", "-std=c++20", "-O3", f"-I{ROOT}", "-DLAB_EMULATED=0", f'-DLAB_PATH="{stage}"', *targets, "-w", "-Xptxas=-v", "-fatbin", "-o", os.devnull, str(ROOT / "stages" / stage / "stage.cu")],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )
    demangled = subprocess.run(["c++filt"], input=done.stdout, stdout=subprocess.PIPE, text=True, check=False).stdout
    found = re.findall(r"Compiling entry function '(.*)' for '(\w+)'\n(?:(?!Compiling).*\n)*?.*Used (\d+) registers(.*)", demangled)
    return [(target, plain(name), int(registers), sum(map(int, re.findall(r"(\d+) bytes smem", rest)))) for name, target, registers, rest in found]


def rows(compiled, kernel, threads, dynamic):
    """[architecture, registers of a thread, bytes of a block, blocks, share of the warps, what limits] as texts."""
    found = {}
    for target, name, registers, static in compiled:
        if not name.startswith(plain(kernel) + "("):
            continue
        of = MULTIPROCESSORS[target]
        room = limits(of, threads, registers, static + dynamic)
        blocks = min(room.values())
        share = blocks * rounded_up(threads, 32) / of.threads
        found[target] = [target, str(registers), str(static + dynamic), str(blocks), f"{100 * share:.3g} %", ", ".join(name for name, most in room.items() if most == blocks)]
    return [found[target] for target in MULTIPROCESSORS if target in found]


def rows_of(compiled, block):
    """rows() of the kernel whose block this is."""
    dynamic = max((one["array"]["bytes"] for phase in block["phases"] for one in phase if one["array"]["name"] == "dynamic shared memory"), default=0)
    return rows(compiled, block["kernel"], block["threads"], dynamic)


def main(arguments):
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    program, stage, kernels, *parameters = arguments
    try:
        with tempfile.TemporaryDirectory() as folder:
            blocks = [block for kernel in json.loads(kernels) if (block := block_of(program, stage, parameters, kernel, pathlib.Path(folder)))]
        compiled = resources(stage, find_nvcc()) if blocks else []
        print(json.dumps([{"kernel": block["kernel"], "threads": block["threads"], "headings": HEADINGS, "rows": fits} for block in blocks if (fits := rows_of(compiled, block))]))
        return 0
    except Failed as problem:
        print(problem, file=sys.stderr)
        return problem.code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
