#!/usr/bin/env python3
"""Writes what Numba makes of the track's functions: functions/FUNCTION.TYPE.RESULT.ptx, for each element type and each type
of the result. These are the functions of functions.cuh as a person writes them in Python.

Needed: from PyPI numba and numba-cuda (0.30.4 made the files), and CUDA_HOME with the toolkit. No GPU is needed.
usage: stages/udf/functions/functions.py
"""

import os
import pathlib

os.environ.setdefault("CUDA_HOME", "/usr/local/cuda")

from numba import cuda, types  # noqa: E402  (CUDA_HOME is read at import)

HERE = pathlib.Path(__file__).resolve().parent
ELEMENTS = {"int64": types.int64, "float64": types.float64}
RESULTS = {"bool": types.boolean, "int64": types.int64, "float64": types.float64}
OPTIONS = {"device": True, "abi": "numba", "cc": (7, 5), "output": "ptx"}


SAME_FOUR = (1027, 1000, 59, 980) * 5
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71)


def among(numbers):
    """`x in numbers`, of which Numba would make a loop with a tree of branches in it: 200 instructions an element."""
    return " or ".join(f"x == {number}" for number in numbers)


FUNCTIONS = {
    "square": "return CONVERTED(x * x)",
    "choose": f"return CONVERTED(1 if {among((9, 44))} else 2)",
    "branch": "return CONVERTED(8 if x > 9 else 1)",
    "member": f"return CONVERTED({among(SAME_FOUR)})",
    "member20": f"return CONVERTED({among(PRIMES)})",
    "window_sum": """total = 0
    for value in x:
        total = total + value
    return CONVERTED(total)""",
}
# As bool(), int() and float() do it.
CONVERSIONS = {"bool": "0 != (", "int64": "types.int64(", "float64": "types.float64("}


def python_function(name, result):
    body = FUNCTIONS[name].replace("CONVERTED(", CONVERSIONS[result])
    defined = {"types": types}
    exec(f"def {name}(x):\n    {body}\n", defined)
    return defined[name]


def main():
    for name in FUNCTIONS:
        for element, numba_type in ELEMENTS.items():
            argument = types.Array(numba_type, 1, "C") if name == "window_sum" else numba_type
            for result, numba_result in RESULTS.items():
                ptx, found = cuda.compile(python_function(name, result), (argument,), **OPTIONS)
                if found != numba_result:
                    raise TypeError(f"{name} of {element} is {found}, not {numba_result}")
                (HERE / f"{name}.{element}.{result}.ptx").write_text(ptx)


if __name__ == "__main__":
    main()
