#!/usr/bin/env python3
"""Writes tests/ptx/inputs/: the PTX that nvcc and Numba make of small functions, as far as it differs in kind, and
inputs.json, which says of each file how it is called: the convention, and the C++ types of the result and of the
parameters.

Needed: nvcc 13.0 on the PATH, and from PyPI numba and numba-cuda (0.30.4 made the files). No GPU is needed.
usage: tests/ptx/make_inputs.py
"""

import json
import math
import os
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
OUTPUT = HERE / "inputs"
ARCHITECTURES = (75, 90, 100)
CPP_TYPES = {"int64": "long long", "int32": "int", "int8": "signed char", "uint8": "unsigned char", "int16": "short",
             "float64": "double", "float32": "float", "boolean": "bool", "uint64": "unsigned long long",
             "float64[]": "double[]", "int64[]": "long long[]", "float32[]": "float[]"}


def square(x):
    return x ** 2


def in_two(x):
    return 1 if x in (9, 44) else 2


def above_nine(x):
    return 8 if x > 9 else 1


def in_list(x):
    return x in [1027, 1000, 59, 980, 1027, 1000, 59, 980, 1027, 1000, 59, 980, 1027, 1000, 59, 980, 1027, 1000, 59,
                 980]


def in_different(x):
    return x in [1027, 1000, 59, 980, 3, 14, 15, 92, 65, 35, 89, 79, 32, 38, 46, 26, 43, 383, 2795, 28841]


def window_sum(window):
    total = 0
    for value in window:
        total = total + value
    return total


def window_range(window):
    least = window[0]
    most = window[0]
    for value in window:
        least = min(least, value)
        most = max(most, value)
    return most - least


def cube_plus(x, y):
    return x * x * x + y


def three_types(a, b, c):
    return a * b + c


def narrow(a, b):
    return a if a > b else b


def both(a, b):
    return a and not b


def hypotenuse(x, y):
    return math.sqrt(x * x + y * y)


def divide(x, y):
    return x // y if y != 0 else 0


def remainder(x, y):
    return x % y if y != 0 else 0


def ratio(x, y):
    return x / y if y != 0 else 0.0


def collatz(x):
    steps = 0
    while x > 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    return steps


def early(x):
    if x < 0:
        return -1
    for k in range(100):
        if k * k > x:
            return k
    return 100


def chain(x):
    if x == 0:
        return 11
    elif x == 1:
        return 7
    elif x == 2:
        return 900
    elif x == 3:
        return -5
    elif x == 4:
        return 123
    elif x == 5:
        return 42
    elif x == 6:
        return 77
    elif x == 7:
        return 1
    return 0


def chain_of_work(x, y):
    if x == 0:
        return y * 3
    elif x == 1:
        return y + 7
    elif x == 2:
        return y ^ 900
    elif x == 3:
        return -y
    elif x == 4:
        return y << 3
    elif x == 5:
        return y >> 2
    elif x == 6:
        return y * y
    elif x == 7:
        return y * y * y
    return 0


def local_values(x):
    values = cuda.local.array(8, numba.int64)
    for k in range(8):
        values[k] = x * k
    return values[x & 7] + values[(x >> 3) & 7]


def table(x):
    values = cuda.const.array_like(TABLE)
    return values[x & 7]


def constant_half(x):
    return 0.5


def thread(x):
    return x + cuda.threadIdx.x


NUMBA = [(square, "int64"), (square, "float64"), (in_two, "int64"), (above_nine, "int64"), (above_nine, "float64"),
         (in_list, "int64"), (in_different, "int64"), (window_sum, "float64[]"),
         (window_sum, "int64[]"), (window_range, "float32[]"), (cube_plus, "float32", "float32"),
         (three_types, "int64", "float32", "int8"), (narrow, "int8", "int8"), (narrow, "uint8", "uint8"),
         (narrow, "int32", "int16"), (both, "boolean", "boolean"), (hypotenuse, "float64", "float64"),
         (divide, "int64", "int64"), (remainder, "int32", "int32"),
         (ratio, "int64", "int64"), (collatz, "int64"), (early, "int64"), (chain, "int64"),
         (chain_of_work, "int64", "int64"), (local_values, "int64"), (table, "int64"),
         (constant_half, "int64"), (thread, "int64")]


def numba_type(name):
    if name.endswith("[]"):
        return numba.types.Array(getattr(numba.types, name[:-2]), 1, "C")
    return getattr(numba.types, name)


def compile_with_numba(entry):
    function, *types = entry
    for convention in ("numba", "c"):
        ptx, result = cuda.compile(function, tuple(map(numba_type, types)), device=True, abi=convention, cc=(9, 0),
                                   output="ptx")
        name = "_".join([function.__name__, *(t.replace("[]", "_array") for t in types)])
        if str(result) == "bool":
            result = "boolean"
        yield {"file": f"numba/{name}.{convention}.ptx", "convention": convention, "name": function.__name__,
               "result": CPP_TYPES[str(result)], "parameters": [CPP_TYPES[t] for t in types]}, ptx


def compile_with_nvcc(head, source):
    name, result, parameters = re.fullmatch(r'(\w+) ("[^"]+"|\S+) ("[^"]+"|\S+).*', head).groups()
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "function.cu"
        path.write_text(source)
        for architecture in ARCHITECTURES:
            subprocess.run(["nvcc", "-std=c++20", "-rdc=true", "-ptx", f"-arch=sm_{architecture}", "function.cu",
                            "-o", "function.ptx"], cwd=directory, check=True)
            ptx = path.with_suffix(".ptx").read_text()
            convention = "numba" if name == "add_scaled" else "c"
            types = parameters.strip('"').split(",")
            yield {"file": f"nvcc/{name}.sm_{architecture}.ptx", "convention": convention, "name": name,
                   "result": result.strip('"'), "parameters": types[convention == "numba":]}, ptx


# Tests name these.
NAMED = {"numba/above_nine_float64.numba.ptx", "numba/constant_half_int64.numba.ptx", "numba/narrow_int32_int16.c.ptx",
         "numba/square_float64.c.ptx", "numba/square_int64.c.ptx", "numba/square_int64.numba.ptx",
         "numba/three_types_int64_float32_int8.numba.ptx", "numba/window_sum_float64_array.numba.ptx", "nvcc/saxpy.sm_100.ptx",
         "nvcc/structures.sm_90.ptx", "nvcc/widen.sm_90.ptx"}
AS_WRITTEN = {"numba/square_int64.numba.ptx", "nvcc/saxpy.sm_100.ptx"}


def kinds_of(ptx):
    """The instructions with all their words, guarded or not, and the shapes of directives."""
    kinds = set()
    for line in ptx.splitlines():
        line = line.partition("//")[0].strip()
        if line.startswith("."):
            kinds.add(" ".join(re.findall(r"\.[a-z_]\w*", line)[:6]) + ("[]" if "[" in line else ""))
        elif match := re.match(r"(@!?%\w+\s+)?([a-z_][\w.]*)", line):
            kinds.add(("@" if match[1] else "") + match[2])
    return kinds


def that_differ(made):
    """All but those, the longest first, whose kinds all stand in others; each function of nvcc is a kind, too."""
    kinds = {entry["file"]: kinds_of(ptx) | ({entry["name"]} if "nvcc/" in entry["file"] else set()) for entry, ptx in made}
    lines = {entry["file"]: ptx.count("\n") for entry, ptx in made}
    for file in sorted(set(kinds) - NAMED, key=lambda file: (-lines[file], file)):
        if kinds[file] <= set().union(*(kinds[other] for other in kinds if other != file)):
            del kinds[file]
    return [(entry, ptx) for entry, ptx in made if entry["file"] in kinds]


def code_of(ptx):
    """Without comments and empty lines, of which AS_WRITTEN has all that there are."""
    lines = (re.sub(r"\s*//.*", "", line) for line in ptx.splitlines())
    return "".join(f"{line}\n" for line in lines if line.strip())


def main():
    entries = []
    made = [one for entry in NUMBA for one in compile_with_numba(entry)]
    for part in (HERE / "functions.cu").read_text().split("// FILE ")[1:]:
        head, source = part.split("\n", 1)
        made += compile_with_nvcc(head, source)
    for entry, ptx in that_differ(made):
        path = OUTPUT / entry["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ptx if entry["file"] in AS_WRITTEN else code_of(ptx))
        entries.append(entry)
    lines = ",\n".join("  " + json.dumps(entry) for entry in entries)
    (OUTPUT / "inputs.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    # Read by Numba when it is imported: where the toolkit is, and no warnings about a missing GPU.
    os.environ.setdefault("CUDA_HOME", "/usr/local/cuda")
    import numba
    import numpy
    from numba import cuda
    TABLE = numpy.array([5, 3, 9, 1, 7, 2, 8, 6])
    main()
