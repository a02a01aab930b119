#!/usr/bin/env python3
"""Times what a user would pick instead of the lab's stages, on the same GPU: reports/DEVICE/peers.json.

usage: reports/peers.py --output FILE                   every peer whose library is here
       reports/peers.py --output FILE --only PATTERN    tracks or peers, shell-style: 'rolling/*', '*/torch*' (repeatable)
       reports/peers.py ... --resume                    only those of which FILE has no row yet
       reports/peers.py --list                          the peers, and whether their libraries are here
       reports/peers.py ... --values 1e6                fewer values than the pages' sizes, for a trial of the script

Peers are Numba with the algorithms of the article that the tracks begin with (64 threads of 48 outputs each, a tile in shared
memory), CuPy, PyTorch, Triton with the kernels of its tutorials' kind, pandas, and cuDF where it is installed. What is not installed
is named and left out. cuDNN may try its algorithms in the call that is not timed (`torch.backends.cudnn.benchmark`), and Triton its
configurations. No peer may use TF32.

Every peer is compared first: its outputs (all, or at 2000 places with both ends among them, or whole rows: docs/peers.md), with those of NumPy in float64 over the values that
they are made of, a sum with NumPy's in float64, and a histogram whole. One that is wrong gets no time. On the GPU, times are those
between two events on the default stream, the L2 cache filled with other data before each, meanwhile the host enqueues a call that waits for nothing; the median of
at least 10 samples, which end after 1 s, or of at least 3 where 10 take longer than 3 s. The inputs lie on the GPU already. Peers on
the CPU are timed by the clock, three times. What a peer cannot take (memory, a size beyond its indices) is a row with the reason. A
copy of the same bytes is timed in the same process, for the percentage. A GPU that no longer answers after a peer's fault gets a new
process for the others.

The file: {"schema": "kernel-lab-peers", "version": 1, "created", "device": {"name", "driver"}, "host", "libraries": {name: version},
"copies": [{"bytes", "median"}], "rows": [{"track", "peer", "library", "on": "gpu" or "cpu", "parameters", "status": "ok", "wrong" or
"failed", "message", "largest_error", "samples", "median", "bytes", "operations"}]}; times in nanoseconds, bytes those that the problem
must move. An error is relative to the largest value compared; of convolutions and products, to the sum of the magnitudes of the
output's own terms.
"""

import argparse
import concurrent.futures
import datetime
import fnmatch
import functools
import gc
import importlib
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time
import types

try:
    import numpy
except ImportError:
    sys.exit("reports/peers.py needs NumPy: python3 -m pip install numpy")

LIBRARIES = ("numba", "cupy", "torch", "triton", "pandas", "cudf")
PLACES = 2000
MINIMUM_SAMPLES, SECONDS, MOST_SECONDS = 10, 1.0, 3.0
FILLS = 8  # of the 256 MiB that stand for other data, before a sample: half a millisecond
WINDOWS = (4, 300, 3000, 16384)
# The tracks in the order in which they are measured: those with the same input stand together.
ORDER = ("transpose", "histogram", "convolution", "matrix_product", "matrix_product_bf16", "softmax", "reduction_2d", "reduction", "scan", "udf",
         "elementwise", "moving_average", "rolling", "ewm", "redact")
DEVICE = "cuda"
PEERS = []  # of class Peer


class Peer:
    """One way to solve one problem. `make(problem)` returns the function that is timed, and one that returns what that has left: an
    array of NumPy, or one of which NumPy can take parts. `bound` is the allowed error, or a function of the parameters, and `rounding`
    what each output may differ beside it, a part of itself."""

    def __init__(self, track, name, library, make, parameters, bound=1e-9, rounding=0.0):
        self.track, self.name, self.library, self.make, self.parameters, self.rounding = track, name, library, make, parameters, rounding
        self.bound = bound
        self.on = "cpu" if library == "pandas" else "gpu"

    @property
    def allowed(self):
        return self.bound(self.parameters) if callable(self.bound) else self.bound

    @property
    def path(self):
        return f"{self.track}/{self.name}"


def peer(track, name, library, parameters, **more):
    def add(make):
        PEERS.extend(Peer(track, name, library, make, one, **more) for one in parameters)
        return make
    return add


def library(name):
    """The module, or None. Numba calls a function that NumPy 2 has under another name."""
    if not hasattr(numpy, "row_stack"):
        numpy.row_stack = numpy.vstack
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# --- problems: what is right ------------------------------------------------------------------------------------------

def windows_of(values, window, places):
    return numpy.stack([values[place - window + 1:place + 1] for place in places])


OPERATIONS = {
    "mean": lambda rows: rows.mean(axis=1),
    "sum": lambda rows: rows.sum(axis=1),
    "min": lambda rows: rows.min(axis=1),
    "max": lambda rows: rows.max(axis=1),
    "var": lambda rows: rows.var(axis=1, ddof=1),
    "std": lambda rows: rows.std(axis=1, ddof=1),
    "first_minus_last": lambda rows: rows[:, 0] - rows[:, -1],
}


def places_of(first, count):
    """Both ends, and places between them."""
    if count <= PLACES:
        return numpy.arange(first, first + count)
    drawn = numpy.random.default_rng(1).integers(0, count, PLACES - 200)
    return first + numpy.unique(numpy.concatenate([numpy.arange(100), count - 1 - numpy.arange(100), drawn]))


def right_windows(values, parameters, places):
    parts = numpy.array_split(places, max(1, len(places) * parameters["window"] // 4_000_000))
    return numpy.concatenate([OPERATIONS[parameters.get("operation", "mean")](windows_of(values, parameters["window"], part)) for part in parts])


def right_ewm(values, parameters, places):
    alpha = 2 / (parameters["span"] + 1)
    found = []
    for place in places:  # what is older than this weighs less than 2^-60
        past = values[max(0, place - int(42 / -math.log1p(-alpha))):place + 1]
        weights = (1 - alpha) ** numpy.arange(len(past) - 1, -1, -1)
        found.append((past * weights).sum() / weights.sum())
    return numpy.array(found)


def right_convolution(image, given, parameters, places):
    """What the outputs are, and the sums of the magnitudes of their terms. A separable filter is a column and a row."""
    radius, columns = parameters["radius"], parameters["columns"]
    weights = numpy.asarray(given, dtype=numpy.float64)
    if parameters["filter"] == "separable":
        weights = weights[0][:, None] * weights[1][None, :]
    padded = numpy.pad(image, radius)
    right, magnitudes = numpy.zeros(len(places)), numpy.zeros(len(places))
    for i, j in numpy.ndindex(weights.shape):
        terms = weights[i, j] * padded[places // columns + i, places % columns + j]
        right += terms
        magnitudes += numpy.abs(terms)
    return right, magnitudes


def right_product(a, b, places):
    right, magnitudes = [], []
    for part in numpy.array_split(places, max(1, len(places) * a.shape[1] // 4_000_000)):
        terms = a[part // b.shape[1]].astype(numpy.float64) * b[:, part % b.shape[1]].T
        right.append(terms.sum(axis=1))
        magnitudes.append(numpy.abs(terms).sum(axis=1))
    return numpy.concatenate(right), numpy.concatenate(magnitudes)


def right_counts(keys, bins):
    return sum(numpy.bincount(keys[begin:begin + 2**24], minlength=bins) for begin in range(0, len(keys), 2**24))


def in_pieces(out, fill):
    """`fill(generator, piece)` for all pieces of a new array, on all cores; each piece has a seed of its own."""
    flat, size = out.reshape(-1), 2**22
    with concurrent.futures.ThreadPoolExecutor() as pool:
        list(pool.map(lambda begin: fill(numpy.random.default_rng([7, begin]), flat[begin:begin + size]), range(0, flat.size, size)))
    return out


def random_values(shape, kind="float32"):
    """Uniform in [0, 1)."""
    kind = numpy.dtype(kind)
    return in_pieces(numpy.empty(shape, kind), lambda generator, piece: generator.random(out=piece, dtype=kind.type))


def whole_values(n, low, high, kind):
    def fill(generator, piece):
        piece[:] = generator.integers(low, high, piece.size, dtype=piece.dtype)
    return in_pieces(numpy.empty(n, kind), fill)


def keys_of(content, n, kind):
    """The histogram's timed keys (harness/device/inputs.hpp). PyTorch counts no uint32: an int32 has the same bits here."""
    kind, bins = (numpy.uint8, 256) if kind == "uint8" else (numpy.int32, 65536)
    if content == "one_value":
        return numpy.full(n, 42, kind)
    if content == "sorted":  # eight values between one power of two and the next
        runs = [(8 * width + j, max(1, 2**width // 8)) for width in range(max(1, n.bit_length())) for j in range(0, 8, max(1, 8 >> width))]
        return numpy.repeat(numpy.array([key for key, _ in runs], kind), [count for _, count in runs])[:n]
    keys = whole_values(n, 0, bins, kind)
    if content == "mostly_one":
        keys[whole_values(n, 0, 10, numpy.uint8) != 0] = 42
    return keys


def as_bfloat16(values):
    """Float32 values that a bfloat16 holds: the lower half of each is cut off."""
    return (values.view(numpy.uint32) & numpy.uint32(0xFFFF0000)).view(numpy.float32)


def made_of(track, parameters):
    """What tells a track's input from others."""
    p = parameters
    if track == "redact":
        return "people", p["rows"]
    if track == "histogram":
        return "keys", p["content"], p["n"], p["type"]
    if track == "udf":
        return "whole", p["n"]
    if track == "convolution":
        return "image", p["rows"], p["columns"], p["radius"], p["filter"]
    if track.startswith("matrix_product"):
        return "factors", p["m"], p["n"], p["k"], track.endswith("bf16")
    if track == "transpose":
        return "random", (p["rows"], p["columns"]), "float32"
    if track in ("reduction_2d", "softmax"):
        return "random", (p["height"], p["width"]), "float32"
    return "random", (p["n"],), p.get("type", "float64")


def arrays_of(kind, *of):
    if kind == "people":
        return [people(of[0])]
    if kind == "keys":
        return [keys_of(*of)]
    if kind == "whole":
        return [whole_values(of[0], -1000, 1000, numpy.int64)]
    if kind == "image":
        rows, columns, radius, separable = *of[:3], of[3] == "separable"
        return [random_values((rows, columns)), random_values((2 if separable else 2 * radius + 1, 2 * radius + 1))]
    if kind == "factors":
        m, n, k, bf16 = of
        factors = [random_values((m, k)), random_values((k, n))]
        factors[1] = factors[1][::-1, ::-1].copy()  # not A's own values
        return [as_bfloat16(one) for one in factors] if bf16 else factors
    return [random_values(*of)]


class Problem:
    """The input of a track's peers, where the outputs to compare are, and the fewest bytes."""

    def __init__(self, track, parameters):
        self.track, self.parameters = track, parameters
        self.made_of = made_of(track, parameters)
        self.arrays = arrays_of(*self.made_of)
        self.values = self.arrays[0]
        self.on_gpu, self.known = None, {}

    @property
    def bytes(self):
        track = self.track
        if track == "redact":
            return 0
        if track.startswith("matrix_product"):
            (m, k), n = self.values.shape, self.arrays[1].shape[1]
            return (2 if track.endswith("bf16") else 4) * (m * k + k * n) + 4 * m * n
        return self.values.nbytes * (1 if track in ("reduction", "reduction_2d", "histogram") else 2)

    @property
    def operations(self):
        """Of arithmetic, where there are many."""
        p = self.parameters
        if self.track == "convolution":
            taps = 2 * p["radius"] + 1
            return 2 * p["rows"] * p["columns"] * taps * (2 if p["filter"] == "separable" else taps)
        return 2 * p["m"] * p["n"] * p["k"] if self.track.startswith("matrix_product") else None

    def places(self):
        track, p = self.track, self.parameters
        if track == "transpose":
            return places_of(0, p["rows"] * p["columns"])
        if track == "convolution":
            rows, columns = p["rows"], p["columns"]
            begins = numpy.linspace(0, rows - 1, 50).astype(int) * columns  # and both ends of these rows
            return numpy.unique(numpy.concatenate([places_of(0, rows * columns), begins, begins + columns - 1]))
        if track.startswith("matrix_product"):
            return places_of(0, p["m"] * p["n"])
        window = p.get("window", 1)
        return places_of(window - 1, len(self.values) - window + 1)

    def right(self):
        """(the right outputs at the compared places, what their errors are relative to or None for the largest of them)."""
        key = self.track + json.dumps(self.parameters, sort_keys=True)
        if key not in self.known:
            found = self.computed()
            self.known = {key: found if isinstance(found, tuple) else (found, None)}
        return self.known[key]

    def computed(self):
        track, parameters, values = self.track, self.parameters, self.values
        if track in ("reduction", "reduction_2d"):
            axis = {"sum": None, "rows": 1, "columns": 0}[parameters.get("operation", "sum")]
            return numpy.atleast_1d(values.sum(axis=axis, dtype=numpy.float64))
        if track == "softmax":
            exponentials = numpy.exp(values[self.softmax_rows()].astype(numpy.float64))
            return exponentials / exponentials.sum(axis=1, keepdims=True)
        if track == "histogram":
            return right_counts(values, 256 if parameters["type"] == "uint8" else 65536)
        places = self.places()
        if track == "transpose":
            return values[places % len(values), places // len(values)]
        if track == "convolution":
            return right_convolution(*self.arrays, parameters, places)
        if track.startswith("matrix_product"):
            return right_product(*self.arrays, places)
        if track in ("moving_average", "rolling"):
            return right_windows(values, parameters, places)
        if track == "ewm":
            return right_ewm(values, parameters, places)
        if track == "scan":
            return numpy.cumsum(values, dtype=numpy.float64)[places]
        return values[places] ** 2 if track == "udf" else values[places] * 2

    def softmax_rows(self):
        return numpy.unique(numpy.linspace(0, len(self.values) - 1, 16).astype(int))

    def shape_of_output(self):
        """Of a matrix; None of what may be without its incomplete windows."""
        p = self.parameters
        if self.track.startswith("matrix_product"):
            return p["m"], p["n"]
        if self.track in ("convolution", "softmax"):
            return self.values.shape
        return self.values.shape[::-1] if self.track == "transpose" else None

    def taken(self, outputs):
        """Of complete outputs those that are compared."""
        shape = self.shape_of_output()
        if shape is not None and tuple(outputs.shape) != tuple(shape):
            return numpy.empty(0)
        if self.track in ("reduction", "reduction_2d", "histogram"):
            return numpy.atleast_1d(numpy.asarray(outputs))
        if self.track == "softmax":
            return outputs[self.softmax_rows()]
        places = self.places()
        if shape is not None:
            return outputs[places // shape[1], places % shape[1]]
        # What a peer leaves out are the incomplete windows.
        return outputs[places - (len(self.values) - len(outputs))]

    def compare(self, outputs, rounding=0.0):
        """The largest error, relative to what the track says, without the `rounding` of the outputs themselves."""
        if self.track == "redact":
            return 0.0 if list(outputs) == [redacted(*row) for row in self.values] else math.inf
        right, scale = self.right()
        found, right = numpy.asarray(self.taken(outputs), dtype=numpy.float64), numpy.asarray(right, dtype=numpy.float64)
        if found.shape != right.shape or not numpy.isfinite(found).all():
            return math.inf
        scale = numpy.abs(right).max() if scale is None else scale
        errors = numpy.maximum(numpy.abs(found - right) - rounding * numpy.abs(right), 0) / numpy.maximum(scale, 1e-300)
        return float(errors.max())


def people(rows):
    names = ("Ada Lovelace", "Alan Turing", "Grace Hopper", "Edsger Dijkstra", "Barbara Liskov", "Donald Knuth")
    return [(names[k % 6], "private" if k % 3 == 0 else "public") for k in range(rows)]


def redacted(name, visibility):
    """The last name's initial and the first name, or what stands for both (stages/redact/reference.hpp)."""
    first, _, last = name.partition(" ")
    return f"{last[:1]} {first}" if visibility == "public" else "X X"


# --- arrays on the GPU ------------------------------------------------------------------------------------------------

class Taken:
    """An array on the GPU, of which NumPy gets what it asks for."""

    def __init__(self, array, to_device, to_host):
        self.array, self.to_device, self.to_host, self.shape = array, to_device, to_host, tuple(array.shape)

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        index = tuple(self.to_device(numpy.asarray(one)) for one in (index if isinstance(index, tuple) else (index,)))
        return self.to_host(self.array[index])

    def __array__(self, dtype=None, copy=None):
        return numpy.asarray(self.to_host(self.array), dtype=dtype)


def of_torch(array):
    import torch

    def to_host(one):
        return (one.float() if one.dtype == torch.bfloat16 else one).cpu().numpy()
    return Taken(array, lambda index: torch.as_tensor(index, device=array.device), to_host)


def of_cupy(array):
    import cupy

    return Taken(array, cupy.asarray, cupy.asnumpy)


def tensors_of(problem):
    """The problem's input on the GPU, as PyTorch has it: one tensor, or a list of two. All peers read the same."""
    import torch

    if problem.on_gpu is None:
        problem.on_gpu = [torch.from_numpy(one).to(DEVICE) for one in problem.arrays]
        if problem.track == "matrix_product_bf16":
            problem.on_gpu = [one.bfloat16() for one in problem.on_gpu]
    return problem.on_gpu[0] if len(problem.on_gpu) == 1 else problem.on_gpu


# --- Numba, with the article's algorithms -----------------------------------------------------------------------------

THREADS, OUTPUTS = 64, 48
SHARED_BYTES = 48 * 1024  # that a launch may have without being asked for more
cuda = float64 = None  # of Numba: kernels, and Numba's simulator, look for global names


def use_numba():
    global cuda, float64  # noqa: PLW0603
    cuda, float64 = importlib.import_module("numba.cuda"), importlib.import_module("numba").float64


def numba_arrays(problem, size, kind):
    """The input and a new output as Numba's kernels take them, and how to read the output."""
    import torch

    if not torch.cuda.is_available():  # Numba's simulator
        out = cuda.device_array(size, kind)
        return cuda.to_device(problem.values), out, out.copy_to_host
    out = torch.empty(size, dtype=getattr(torch, numpy.dtype(kind).name), device=DEVICE)
    return cuda.as_cuda_array(tensors_of(problem)), cuda.as_cuda_array(out), lambda: of_torch(out)


def numba_window_function(operation):
    """A device function as if for one thread: outputs [0, count) of the windows that begin at tile[begin]."""
    if operation in ("mean", "sum"):
        mean = operation == "mean"

        def function(tile, begin, window, count, out, to):
            total = 0.0
            for k in range(window):
                total += tile[begin + k]
            for i in range(count):
                if i > 0:
                    total += tile[begin + i + window - 1] - tile[begin + i - 1]
                out[to + i] = total / window if mean else total
    elif operation in ("var", "std"):
        root = operation == "std"

        def function(tile, begin, window, count, out, to):
            mean = 0.0
            for k in range(window):
                mean += tile[begin + k]
            mean /= window
            squares = 0.0
            for k in range(window):
                squares += (tile[begin + k] - mean) ** 2
            for i in range(count):
                if i > 0:
                    new, old, before = tile[begin + i + window - 1], tile[begin + i - 1], mean
                    mean += (new - old) / window
                    squares += (new - old) * (new - mean + old - before)
                variance = max(squares, 0.0) / (window - 1)
                out[to + i] = math.sqrt(variance) if root else variance
    elif operation in ("min", "max"):
        greatest = operation == "max"

        def function(tile, begin, window, count, out, to):
            for i in range(count):
                found = tile[begin + i]
                for k in range(1, window):
                    value = tile[begin + i + k]
                    if (value > found) if greatest else (value < found):
                        found = value
                out[to + i] = found
    else:

        def function(tile, begin, window, count, out, to):
            for i in range(count):
                out[to + i] = tile[begin + i] - tile[begin + i + window - 1]

    return cuda.jit(device=True)(function)


def numba_tiled(problem):
    use_numba()
    window = problem.parameters["window"]
    tile_bytes = (THREADS * OUTPUTS + window - 1) * 8
    if tile_bytes > SHARED_BYTES:
        raise MemoryError(f"a tile of {tile_bytes} bytes of shared memory, of {SHARED_BYTES}")
    function = numba_window_function(problem.parameters.get("operation", "mean"))

    @cuda.jit
    def kernel(values, window, out):
        tile = cuda.shared.array(0, float64)
        first = cuda.blockIdx.x * THREADS * OUTPUTS
        needed = min(THREADS * OUTPUTS, out.size - first) + window - 1
        for k in range(cuda.threadIdx.x, needed, THREADS):
            tile[k] = values[first + k]
        cuda.syncthreads()
        begin = cuda.threadIdx.x * OUTPUTS
        count = min(OUTPUTS, out.size - first - begin)
        if count > 0:
            function(tile, begin, window, count, out, first + begin)

    values, out, outputs = numba_arrays(problem, len(problem.values) - window + 1, numpy.float64)
    launch = kernel[(out.size + THREADS * OUTPUTS - 1) // (THREADS * OUTPUTS), THREADS, 0, tile_bytes]
    return lambda: launch(values, window, out), outputs


def numba_naive(problem):
    use_numba()

    @cuda.jit
    def kernel(values, window, out):
        i = cuda.grid(1)
        if i < out.size:
            total = 0.0
            for k in range(window):
                total += values[i + k]
            out[i] = total / window

    window = problem.parameters["window"]
    values, out, outputs = numba_arrays(problem, len(problem.values) - window + 1, numpy.float64)
    launch = kernel[(out.size + 255) // 256, 256]
    return lambda: launch(values, window, out), outputs


def numba_elements(scalar):
    def make(problem):
        use_numba()
        function = cuda.jit(device=True)(scalar)

        @cuda.jit
        def kernel(values, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = function(values[i])

        values, out, outputs = numba_arrays(problem, len(problem.values), problem.values.dtype)
        launch = kernel[(out.size + 255) // 256, 256]
        return lambda: launch(values, out), outputs
    return make


# --- CuPy, PyTorch, pandas, cuDF --------------------------------------------------------------------------------------

def keeping(work):
    """A function that keeps the last result of `work()` alone, for the comparison, and a list of that result."""
    last = []

    def run():
        last.clear()  # its memory is used again
        last.append(work())
    return run, last


def with_cupy(work):
    """`work(cupy, values, parameters)` returns the result; `values` are a pair where the problem has two inputs."""
    def make(problem):
        import cupy

        values = tensors_of(problem)
        values = [cupy.asarray(one) for one in values] if isinstance(values, list) else cupy.asarray(values)
        run, last = keeping(lambda: work(cupy, values, problem.parameters))
        return run, lambda: of_cupy(last[0])
    return make


def with_torch(work):
    def make(problem):
        import torch

        values = tensors_of(problem)
        run, last = keeping(lambda: work(torch, values, problem.parameters))
        return run, lambda: of_torch(last[0])
    return make


def with_triton(work):
    """`work(kernels, torch, values, parameters)` allocates, launches and returns the result."""
    def make(problem):
        import torch

        kernels, values = triton_kernels(), tensors_of(problem)
        run, last = keeping(lambda: work(kernels, torch, values, problem.parameters))
        return run, lambda: of_torch(last[0])
    return make


def with_pandas(work):
    def make(problem):
        import pandas

        values, last = pandas.Series(problem.values), []

        def run():
            last[:] = [work(pandas, values, problem.parameters)]
        return run, lambda: last[0].to_numpy()
    return make


def cupy_prefix_mean(cupy, values, parameters):
    window = parameters["window"]
    sums = cupy.cumsum(values)
    sums[window:] -= sums[:-window].copy()
    return sums[window - 1:] / window


def torch_prefix_mean(torch, values, parameters):
    window = parameters["window"]
    sums = torch.cumsum(values, 0)
    return torch.cat([sums[window - 1:window], sums[window:] - sums[:-window]]) / window


def torch_copy_transposed(problem):
    import torch

    values = tensors_of(problem)
    out = torch.empty(tuple(reversed(values.shape)), dtype=values.dtype, device=DEVICE)
    return lambda: out.copy_(values.t()), lambda: of_torch(out)


def torch_convolution(torch, values, parameters):
    (image, weights), radius, convolve = values, parameters["radius"], torch.nn.functional.conv2d
    image = image[None, None]
    if parameters["filter"] == "separable":
        along_columns = convolve(image, weights[0].view(1, 1, -1, 1), padding=(radius, 0))
        return convolve(along_columns, weights[1].view(1, 1, 1, -1), padding=(0, radius))[0, 0]
    return convolve(image, weights[None, None], padding=radius)[0, 0]


def cupy_convolution(cupy, values, parameters):
    from cupyx.scipy import ndimage

    image, weights = values
    if parameters["filter"] == "separable":
        return ndimage.correlate1d(ndimage.correlate1d(image, weights[0], axis=0, mode="constant"), weights[1], axis=1, mode="constant")
    return ndimage.correlate(image, weights, mode="constant")


def pandas_redact(pandas):
    def make(problem):
        table = pandas.DataFrame(problem.values, columns=["name", "visibility"])
        last = []

        def run():
            parts = table["name"].str.split(" ", n=1, expand=True)
            last[:] = [(parts[1].str[0] + " " + parts[0]).where(table["visibility"] == "public", "X X")]
        return run, lambda: last[0].tolist()
    return make


def cudf_redact(problem):
    import cudf

    table = cudf.DataFrame({"name": [row[0] for row in problem.values], "visibility": [row[1] for row in problem.values]})
    last = []

    def run():
        parts = table["name"].str.split(" ", n=1, expand=True)
        last[:] = [(parts[1].str.get(0) + " " + parts[0]).where(table["visibility"] == "public", "X X")]
    return run, lambda: last[0].to_pandas().tolist()


# --- Triton -----------------------------------------------------------------------------------------------------------

triton = tl = None  # Triton's kernels look for global names


@functools.cache
def triton_kernels():
    """The kernels and what launches them, once Triton is here."""
    global triton, tl  # noqa: PLW0603
    triton, tl = importlib.import_module("triton"), importlib.import_module("triton.language")

    @triton.jit
    def double_kernel(values, out, n, block: tl.constexpr):
        i = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
        inside = i < n
        tl.store(out + i, tl.load(values + i, mask=inside) * 2, mask=inside)

    @triton.jit
    def transpose_kernel(values, out, rows, columns, block: tl.constexpr):
        row = tl.program_id(1).to(tl.int64) * block + tl.arange(0, block)
        column = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
        inside = (row[:, None] < rows) & (column[None, :] < columns)
        tile = tl.load(values + row[:, None] * columns + column[None, :], mask=inside)
        tl.store(out + column[:, None] * rows + row[None, :], tl.trans(tile), mask=tl.trans(inside))

    @triton.jit
    def softmax_kernel(values, out, columns, block: tl.constexpr):
        # A program a row, which it keeps.
        begin = tl.program_id(0).to(tl.int64) * columns
        column = tl.arange(0, block)
        inside = column < columns
        row = tl.load(values + begin + column, mask=inside, other=-float("inf"))
        exponentials = tl.exp(row - tl.max(row, axis=0))
        tl.store(out + begin + column, exponentials / tl.sum(exponentials, axis=0), mask=inside)

    @triton.jit
    def long_softmax_kernel(values, out, columns, block: tl.constexpr):
        # A program a row, which it reads twice: for the maximum and the sum, and for the results.
        begin = tl.program_id(0).to(tl.int64) * columns
        lane = tl.arange(0, block)
        largest = tl.max(tl.full([block], -float("inf"), tl.float32), axis=0)
        total = tl.sum(tl.zeros([block], tl.float32), axis=0)
        for first in range(0, columns, block):
            row = tl.load(values + begin + first + lane, mask=first + lane < columns, other=-float("inf"))
            now = tl.maximum(largest, tl.max(row, axis=0))
            total = total * tl.exp(largest - now) + tl.sum(tl.exp(row - now), axis=0)
            largest = now
        for first in range(0, columns, block):
            inside = first + lane < columns
            row = tl.load(values + begin + first + lane, mask=inside, other=-float("inf"))
            tl.store(out + begin + first + lane, tl.exp(row - largest) / total, mask=inside)

    @triton.jit
    def partial_sums_kernel(values, sums, n, pieces, programs, block: tl.constexpr):
        # Every program adds up each so-many-th piece of `block` values.
        program = tl.program_id(0)
        lane = tl.arange(0, block)
        total = tl.zeros([block], values.dtype.element_ty)
        for k in range(0, pieces):
            i = (program + k * programs).to(tl.int64) * block + lane
            total += tl.load(values + i, mask=i < n, other=0)
        tl.store(sums + program, tl.sum(total, axis=0))

    @triton.jit
    def product_kernel(a, b, c, m, n, k, block_m: tl.constexpr, block_n: tl.constexpr, block_k: tl.constexpr, group: tl.constexpr):
        # A program a tile of C. `group` rows of tiles together, so that their factors stay in the L2 cache.
        program = tl.program_id(0)
        tiles_m, tiles_n = tl.cdiv(m, block_m), tl.cdiv(n, block_n)
        first = program // (group * tiles_n) * group
        height = min(tiles_m - first, group)
        within = program % (group * tiles_n)
        row = (first + within % height) * block_m + tl.arange(0, block_m)
        column = within // height * block_n + tl.arange(0, block_n)
        inner = tl.arange(0, block_k)
        # Rows and columns beyond the ends are read from the beginning, and not stored.
        a_tile = a + (row % m)[:, None] * k + inner[None, :]
        b_tile = b + inner[:, None] * n + (column % n)[None, :]
        total = tl.zeros((block_m, block_n), tl.float32)
        for piece in range(0, tl.cdiv(k, block_k)):
            left = k - piece * block_k
            total = tl.dot(tl.load(a_tile, mask=inner[None, :] < left, other=0.0), tl.load(b_tile, mask=inner[:, None] < left, other=0.0), total)
            a_tile += block_k
            b_tile += block_k * n
        tl.store(c + row[:, None] * n + column[None, :], total, mask=(row[:, None] < m) & (column[None, :] < n))

    configurations = [
        triton.Config({"block_m": block_m, "block_n": block_n, "block_k": 64, "group": 8}, num_warps=warps, num_stages=stages)
        for block_m, block_n, warps, stages in ((128, 256, 8, 3), (128, 256, 8, 4), (128, 128, 4, 4))
    ]
    tuned_product = triton.autotune(configurations, key=["m", "n", "k"])(product_kernel)

    def double(torch, x, _):
        out = torch.empty_like(x)
        double_kernel[(triton.cdiv(len(x), 1024),)](x, out, len(x), block=1024)
        return out

    def transpose(torch, x, _):
        rows, columns = x.shape
        out = torch.empty((columns, rows), dtype=x.dtype, device=x.device)
        transpose_kernel[(triton.cdiv(columns, 64), triton.cdiv(rows, 64))](x, out, rows, columns, block=64, num_warps=8)
        return out

    def softmax(torch, x, _):
        out, block = torch.empty_like(x), triton.next_power_of_2(x.shape[1])
        softmax_kernel[(len(x),)](x, out, x.shape[1], block=block, num_warps=min(max(block // 256, 1), 32))
        return out

    def long_softmax(torch, x, _):
        out = torch.empty_like(x)
        long_softmax_kernel[(len(x),)](x, out, x.shape[1], block=8192, num_warps=16)
        return out

    def total(torch, x, _):
        block, programs = 4096, 2048
        sums = torch.empty(programs, dtype=x.dtype, device=x.device)
        partial_sums_kernel[(programs,)](x, sums, len(x), triton.cdiv(len(x), block * programs), programs, block=block, num_warps=8)
        return sums.sum()

    def product(torch, factors, p):
        a, b = factors
        c = torch.empty((p["m"], p["n"]), dtype=torch.float32, device=a.device)
        tuned_product[lambda chosen: (triton.cdiv(p["m"], chosen["block_m"]) * triton.cdiv(p["n"], chosen["block_n"]),)](a, b, c, p["m"], p["n"], p["k"])
        return c

    return types.SimpleNamespace(**{name: value for name, value in locals().items() if callable(value)})


# --- all of them ------------------------------------------------------------------------------------------------------

def float32_product(parameters):
    """The allowed error of a sum of k products, relative to the sum of magnitudes. Roundings of random signs add up to about
    sqrt(k) 2^-24 of it (Higham and Mary, "A New Approach to Probabilistic Rounding Error Analysis", 2019). The worst case, k 2^-24, would
    let TF32 pass."""
    return 1.5 * math.sqrt(parameters["k"]) * 2**-24 + 2**-22


def bfloat16_product(parameters):
    """As stages/matrix_product_bf16/problem.hpp has it: an addition of the matrix units may be wrong by 2^-23 of the sum of magnitudes."""
    return (parameters["k"] + 16) * 2**-23


def register():
    n, cpu = 10**9, 10**7
    windows = [{"n": n, "window": w} for w in WINDOWS]
    short = windows[:2]

    def operations(names, size=n, over=(300,)):
        return [{"n": size, "window": w, "operation": one} for one in names for w in over]

    def torch_pool(name):
        return with_torch(lambda torch, x, p: getattr(torch.nn.functional, name)(x.view(1, 1, -1), p["window"], stride=1).view(-1))

    peer("elementwise", "numba", "numba", [{"n": n}])(numba_elements(lambda x: x * 2))
    peer("elementwise", "cupy_multiply", "cupy", [{"n": n}])(with_cupy(lambda cupy, x, _: x * 2))
    peer("elementwise", "torch_mul", "torch", [{"n": n}])(with_torch(lambda torch, x, _: x * 2))
    peer("elementwise", "triton", "triton", [{"n": n}])(with_triton(lambda kernels, *of: kernels.double(*of)))

    shapes = [{"rows": rows, "columns": columns} for rows, columns in ((16384, 16384), (10000, 30011))]
    peer("transpose", "cupy_ascontiguousarray", "cupy", shapes, bound=0)(with_cupy(lambda cupy, x, _: cupy.ascontiguousarray(x.T)))
    peer("transpose", "torch_contiguous", "torch", shapes, bound=0)(with_torch(lambda torch, x, _: x.t().contiguous()))
    peer("transpose", "torch_copy_", "torch", shapes, bound=0)(torch_copy_transposed)
    peer("transpose", "triton", "triton", shapes, bound=0)(with_triton(lambda kernels, *of: kernels.transpose(*of)))

    keys = [{"n": n, "content": content, "type": "uint8"} for content in ("uniform", "one_value", "sorted", "mostly_one")]
    keys += [{"n": n, "content": content, "type": "uint32"} for content in ("uniform", "one_value")]
    bins = {"uint8": 256, "uint32": 65536}
    peer("histogram", "cupy_bincount", "cupy", keys, bound=0)(with_cupy(lambda cupy, x, p: cupy.bincount(x, minlength=bins[p["type"]])))
    peer("histogram", "torch_bincount", "torch", keys, bound=0)(with_torch(lambda torch, x, p: torch.bincount(x, minlength=bins[p["type"]])))
    # Of bytes it would return bytes, and of float32 counts up to 2^24.
    peer("histogram", "torch_histc_int32", "torch", keys[:4], bound=0)(with_torch(lambda torch, x, _: torch.histc(x.int(), 256, 0, 255)))

    images_and_filters = [{"rows": 8192, "columns": 8192, "radius": radius, "filter": kind} for kind in ("general", "separable") for radius in (1, 2, 4, 8)]
    # cuDNN may take a Fourier transform, whose errors no output's own terms bound. TF32 errs by 5e-5 and more.
    peer("convolution", "torch_conv2d", "torch", images_and_filters, bound=1e-5)(with_torch(torch_convolution))
    peer("convolution", "cupy_ndimage_correlate", "cupy", images_and_filters, bound=1e-5)(with_cupy(cupy_convolution))

    sides = [{"m": 4096, "n": 4096, "k": 4096}, {"m": 8192, "n": 8192, "k": 8192}]
    products = [*sides, {"m": 4095, "n": 5000, "k": 3001}]
    peer("matrix_product", "torch_matmul", "torch", products, bound=float32_product)(with_torch(lambda torch, ab, _: torch.matmul(*ab)))
    peer("matrix_product", "cupy_matmul", "cupy", products, bound=float32_product)(with_cupy(lambda cupy, ab, _: cupy.matmul(*ab)))
    peer("matrix_product_bf16", "torch_mm_float32_out", "torch", sides, bound=bfloat16_product)(
        with_torch(lambda torch, ab, _: torch.mm(*ab, out_dtype=torch.float32)))
    peer("matrix_product_bf16", "torch_matmul_bfloat16_out", "torch", sides, bound=bfloat16_product, rounding=2**-8)(
        with_torch(lambda torch, ab, _: torch.matmul(*ab)))
    peer("matrix_product_bf16", "triton_dot", "triton", sides, bound=bfloat16_product)(with_triton(lambda kernels, *of: kernels.product(*of)))

    peer("moving_average", "numba_naive", "numba", short)(numba_naive)
    peer("moving_average", "numba_tiled", "numba", windows)(numba_tiled)
    peer("moving_average", "cupy_cumsum", "cupy", windows, bound=1e-6)(with_cupy(cupy_prefix_mean))
    peer("moving_average", "torch_cumsum", "torch", windows, bound=1e-6)(with_torch(torch_prefix_mean))
    peer("moving_average", "torch_avg_pool1d", "torch", windows[:3])(torch_pool("avg_pool1d"))
    peer("moving_average", "torch_unfold_mean", "torch", short)(with_torch(lambda torch, x, p: x.unfold(0, p["window"], 1).mean(-1)))
    peer("moving_average", "pandas_rolling", "pandas", [{"n": cpu, "window": w} for w in WINDOWS])(
        with_pandas(lambda pandas, x, p: x.rolling(p["window"]).mean()))

    peer("rolling", "numba_window_function", "numba", operations(OPERATIONS))(numba_tiled)
    peer("rolling", "torch_max_pool1d", "torch", operations(["max"]))(torch_pool("max_pool1d"))
    for name in ("mean", "sum", "min", "max", "var", "std"):
        peer("rolling", f"pandas_{name}", "pandas", operations([name], cpu))(
            with_pandas(lambda pandas, x, p, name=name: getattr(x.rolling(p["window"]), name)()))

    peer("ewm", "pandas_ewm", "pandas", [{"n": cpu, "span": span} for span in (30, 300, 3000)])(
        with_pandas(lambda pandas, x, p: x.ewm(span=p["span"]).mean()))

    sums = [{"n": n, "type": one} for one in ("float32", "float64")]
    peer("reduction", "cupy_sum", "cupy", sums, bound=1e-4)(with_cupy(lambda cupy, x, _: x.sum()))
    peer("reduction", "torch_sum", "torch", sums, bound=1e-4)(with_torch(lambda torch, x, _: x.sum()))
    peer("reduction", "triton", "triton", sums, bound=1e-4)(with_triton(lambda kernels, *of: kernels.total(*of)))

    peer("scan", "cupy_cumsum", "cupy", sums[:1], bound=1e-4)(with_cupy(lambda cupy, x, _: cupy.cumsum(x)))
    peer("scan", "torch_cumsum", "torch", sums[:1], bound=1e-4)(with_torch(lambda torch, x, _: torch.cumsum(x, 0)))

    matrices = [{"height": 2**28 // width, "width": width} for width in (64, 1024, 4096, 32768, 262144)]
    peer("softmax", "torch_softmax", "torch", matrices, bound=1e-5)(with_torch(lambda torch, x, _: torch.softmax(x, 1)))
    peer("softmax", "triton_row_in_registers", "triton", matrices[:4], bound=1e-5)(with_triton(lambda kernels, *of: kernels.softmax(*of)))
    peer("softmax", "triton_two_passes", "triton", matrices[3:], bound=1e-5)(with_triton(lambda kernels, *of: kernels.long_softmax(*of)))

    images = [{"height": 20000, "width": 20000, "operation": one} for one in ("sum", "rows", "columns")]
    axis = {"sum": None, "rows": 1, "columns": 0}
    peer("reduction_2d", "cupy_sum", "cupy", images, bound=1e-4)(with_cupy(lambda cupy, x, p: x.sum(axis=axis[p["operation"]])))
    peer("reduction_2d", "torch_sum", "torch", images, bound=1e-4)(
        with_torch(lambda torch, x, p: x.sum() if p["operation"] == "sum" else x.sum(axis[p["operation"]])))

    peer("udf", "numba", "numba", [{"n": n}])(numba_elements(lambda x: x * x))
    peer("udf", "cupy_elementwise", "cupy", [{"n": n}])(
        with_cupy(lambda cupy, x, _: cupy.ElementwiseKernel("int64 x", "int64 y", "y = x * x", "lab_square")(x)))
    peer("udf", "torch", "torch", [{"n": n}])(with_torch(lambda torch, x, _: x * x))
    peer("udf", "pandas_apply", "pandas", [{"n": cpu}])(with_pandas(lambda pandas, x, _: x.apply(lambda value: value * value)))

    people_table = [{"rows": 600_000}]
    peer("redact", "pandas_str", "pandas", people_table)(lambda problem: pandas_redact(library("pandas"))(problem))
    peer("redact", "cudf_str", "cudf", people_table)(cudf_redact)


# --- timing -----------------------------------------------------------------------------------------------------------

class Gpu:
    """Events on the default stream and a way to fill the L2 cache, by whichever library is here."""

    def __init__(self):
        self.cupy, self.torch = library("cupy"), library("torch")
        self.here = False
        if self.torch is not None and self.torch.cuda.is_available():
            self.here = True
            self.allow_no_tf32()
            self.flush_buffer = self.torch.empty(256 << 20, dtype=self.torch.uint8, device="cuda")

    def allow_no_tf32(self):
        """The comparison would find TF32 out; the names of the settings depend on PyTorch's version."""
        backends = self.torch.backends
        try:
            backends.cuda.matmul.allow_tf32 = backends.cudnn.allow_tf32 = False
        except (AttributeError, RuntimeError):
            backends.fp32_precision = "ieee"
        backends.cudnn.benchmark = True

    def answers(self):
        """Whether the GPU still does, after what a peer has done."""
        try:
            self.torch.cuda.synchronize()
            self.flush_buffer.fill_(1)
            self.torch.cuda.synchronize()
        except Exception:  # noqa: BLE001
            return False
        return True

    def nanoseconds(self, run):
        """Of one run, between events; the cache is filled before, for so long that the host has enqueued the run by then."""
        for _ in range(FILLS):
            self.flush_buffer.fill_(1)
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e6

    def copy(self, moved):
        source = self.torch.empty(moved // 2, dtype=self.torch.uint8, device="cuda")
        target = self.torch.empty_like(source)
        found = samples_of(lambda: self.nanoseconds(lambda: target.copy_(source)))
        del source, target
        self.release()
        return found

    def release(self):
        gc.collect()
        if not self.here:
            return
        if self.cupy is not None:
            self.cupy.get_default_memory_pool().free_all_blocks()
        self.torch.cuda.empty_cache()


def samples_of(one):
    found, begin = [], time.monotonic()
    while len(found) < MINIMUM_SAMPLES or (len(found) < 100 and time.monotonic() - begin < SECONDS):
        found.append(one())
        if time.monotonic() - begin > MOST_SECONDS and len(found) >= 3:
            break
    return found


def on_the_clock(run):
    begin = time.perf_counter_ns()
    run()
    return time.perf_counter_ns() - begin


def measure(one, problem, gpu):
    """The row of one peer. Whatever it does wrong costs this row alone."""
    row = {"track": one.track, "peer": one.name, "library": one.library, "on": one.on, "parameters": one.parameters,
           "bytes": problem.bytes, "operations": problem.operations, "status": "ok", "message": "", "largest_error": None, "samples": [], "median": None}
    try:
        run, outputs = one.make(problem)
        run()
        error = problem.compare(outputs(), one.rounding)
        row["largest_error"] = error if math.isfinite(error) else str(error)
        if not error <= one.allowed:
            row.update(status="wrong", message=f"an error of {error:.3g}, where {one.allowed:.3g} is allowed")
            return row
        if one.on == "gpu":
            run()
        row["samples"] = [on_the_clock(run) for _ in range(3)] if one.on == "cpu" else samples_of(lambda: gpu.nanoseconds(run))
        row["median"] = statistics.median(row["samples"])
    except Exception as problem_of_peer:  # noqa: BLE001 - a library's own errors are of any class
        row.update(status="failed", message=f"{type(problem_of_peer).__name__}: {str(problem_of_peer).splitlines()[0] if str(problem_of_peer) else ''}")
    return row


def smaller(parameters, values):
    """The same with at most so many values."""
    if values is None:
        return parameters
    side = max(2, math.isqrt(values) // 8 * 8)
    limits = {"n": values, "rows": values, "height": side, "width": side}
    if "columns" in parameters or "k" in parameters:
        limits = dict.fromkeys(("rows", "columns", "m", "n", "k"), side)
    return {name: min(value, limits[name]) if name in limits else value for name, value in parameters.items()}


def driver():
    try:
        return subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True, check=True).stdout.split()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return None


def document_of(rows, copies, device, modules):
    return {
        "schema": "kernel-lab-peers", "version": 1, "created": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "device": device,
        "host": platform.processor() or platform.machine(),
        "libraries": {name: str(getattr(module, "__version__", "unknown")) for name, module in modules.items() if module is not None},
        "copies": [{"bytes": moved, "median": median} for moved, median in sorted(copies.items())],
        "rows": rows,
    }


def write(path, document):
    """A line for each row."""
    head = json.dumps({name: value for name, value in document.items() if name != "rows"})[:-1]
    text = head + ', "rows": [\n' + ",\n".join(map(json.dumps, document["rows"])) + "\n]}\n"
    unfinished = path.with_name(path.name + f".{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.rename(path)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--values", type=lambda text: int(float(text)), metavar="N")
    options = parser.parse_args(arguments)
    register()
    chosen = [one for one in PEERS if not options.only or any(fnmatch.fnmatchcase(one.path, pattern) for pattern in options.only)]
    if not chosen:
        parser.error("no peer is called so; --list shows them")
    modules = {name: library(name) for name in LIBRARIES}
    if options.list:
        for one in chosen:
            print(f"{one.path} {json.dumps(one.parameters)}{'' if modules[one.library] else ': ' + one.library + ' is not installed'}")
        return 0
    if options.output is None:
        parser.error("--output FILE is needed")
    gpu = Gpu()
    device = {"name": gpu.torch.cuda.get_device_name() if gpu.here else None, "driver": driver()}
    rows, copies, problem = [], {}, None
    if options.resume and options.output.exists():
        before = json.loads(options.output.read_text(encoding="utf-8"))
        rows, copies = before["rows"], {one["bytes"]: one["median"] for one in before["copies"]}
    for one in chosen:
        one.parameters = smaller(one.parameters, options.values)
    done = [(row["track"], row["peer"], row["parameters"]) for row in rows]
    # What runs on a GPU first, and together what has the same input.
    for one in sorted(chosen, key=lambda each: (each.on == "cpu", ORDER.index(each.track), json.dumps(each.parameters))):
        if (one.track, one.name, one.parameters) in done:
            continue
        if modules[one.library] is None or (one.on == "gpu" and not gpu.here):
            why = f"{one.library} is not installed" if modules[one.library] is None else "no GPU here, or no PyTorch to time it with"
            print(f"{one.path}: left out: {why}", file=sys.stderr)
            continue
        if problem is None or problem.made_of != made_of(one.track, one.parameters):
            problem = None  # its memory first
            gpu.release()
            problem = Problem(one.track, one.parameters)
        problem.track, problem.parameters = one.track, one.parameters
        row = measure(one, problem, gpu)
        rows.append(row)
        lost = one.on == "gpu" and row["status"] == "failed" and not gpu.answers()
        if one.on == "gpu" and not lost:
            gpu.release()
            if problem.bytes and problem.bytes not in copies:
                copies[problem.bytes] = statistics.median(gpu.copy(problem.bytes))
        told = row["message"] if row["median"] is None else f"{row['median'] / 1e6:.3f} ms"
        print(f"{one.path} {json.dumps(one.parameters)}: {told}", flush=True)
        # After every peer: a call that is cut off loses none that it has measured.
        write(options.output, document_of(rows, copies, device, modules))
        if lost:
            print("the GPU no longer answers: a new process for the others", flush=True)
            os.execv(sys.executable, [sys.executable, os.path.abspath(__file__), *arguments, *([] if options.resume else ["--resume"])])
    if not rows:
        print("nothing was measured", file=sys.stderr)
        return 2
    return 1 if any(row["status"] == "wrong" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
