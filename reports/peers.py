#!/usr/bin/env python3
"""Times what a user would pick instead of the lab's stages, on the same GPU: reports/DEVICE/peers.json.

usage: reports/peers.py --output FILE                   every peer whose library is here
       reports/peers.py --output FILE --only PATTERN    tracks or peers, shell-style: 'rolling/*', '*/torch*' (repeatable)
       reports/peers.py --list                          the peers, and whether their libraries are here
       reports/peers.py ... --values 1e6                fewer values than the pages' sizes, for a trial of the script

Peers are Numba with the algorithms of the article that the tracks begin with (64 threads of 48 outputs each, a tile in shared
memory), CuPy, PyTorch, pandas, and cuDF where it is installed. What is not installed is named and left out.

Every peer is compared first: its outputs at 2000 places, both ends among them, with those of NumPy over the values that they are
made of, and a sum with math.fsum's. One that is wrong gets no time. On the GPU, times are those between two events on the
default stream, the L2 cache filled with other data before each; the median of at least 10 samples, which end after 2 s. Peers on
the CPU are timed by the clock, three times. What a peer cannot take (memory, a size beyond its indices) is a row with the reason.
A copy of the same bytes is timed in the same process, for the percentage.

The file: {"schema": "kernel-lab-peers", "version": 1, "created", "device": {"name", "driver"}, "host", "libraries": {name: version},
"copies": [{"bytes", "median"}], "rows": [{"track", "peer", "library", "on": "gpu" or "cpu", "parameters", "status": "ok", "wrong" or
"failed", "message", "largest_error" (relative to the largest value compared), "samples", "median", "bytes"}]}; times in nanoseconds,
bytes those that the problem must move.
"""

import argparse
import datetime
import fnmatch
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

try:
    import numpy
except ImportError:
    sys.exit("reports/peers.py needs NumPy: python3 -m pip install numpy")

LIBRARIES = ("numba", "cupy", "torch", "pandas", "cudf")
PLACES = 2000
MINIMUM_SAMPLES, SECONDS = 10, 2.0
WINDOWS = (4, 300, 3000, 16384)
PEERS = []  # of class Peer


class Peer:
    """One way to solve one problem. `make(size, inputs)` returns the function that is timed, and what it left as a NumPy array."""

    def __init__(self, track, name, library, make, parameters, bound=1e-9):
        self.track, self.name, self.library, self.make, self.parameters, self.bound = track, name, library, make, parameters, bound
        self.on = "cpu" if library == "pandas" else "gpu"

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


class Problem:
    """The input of a track's peers, where the outputs to compare are, and the fewest bytes."""

    def __init__(self, track, parameters):
        self.track, self.parameters = track, parameters
        generator = numpy.random.default_rng(7)
        n = parameters.get("n", 0)
        if track == "redact":
            self.values = people(parameters["rows"])
            self.bytes = 0
        elif track in ("reduction_2d", "softmax"):
            self.values = generator.random((parameters["height"], parameters["width"]), dtype=numpy.float32)
            self.bytes = self.values.nbytes * (1 if track == "reduction_2d" else 2)
        elif track == "udf":
            self.values = generator.integers(-1000, 1000, n)
            self.bytes = self.values.nbytes * 2
        else:
            self.values = generator.random(n, dtype=numpy.dtype(parameters.get("type", "float64")).type)
            self.bytes = self.values.nbytes * (1 if track == "reduction" else 2)

    def compare(self, outputs):
        """The largest error, relative to the largest right value. `outputs`: index -> values, of the complete outputs."""
        track, parameters, values = self.track, self.parameters, self.values
        if track in ("reduction", "reduction_2d"):
            axis = {"sum": None, "rows": 1, "columns": 0}[parameters.get("operation", "sum")]
            right = numpy.atleast_1d(values.sum(axis=axis, dtype=numpy.float64))
            found = numpy.atleast_1d(outputs)
        elif track == "softmax":
            rows = numpy.unique(numpy.linspace(0, len(values) - 1, 16).astype(int))
            right = numpy.exp(values[rows].astype(numpy.float64))
            right /= right.sum(axis=1, keepdims=True)
            found = outputs[rows]
        elif track == "redact":
            return 0.0 if list(outputs) == [redacted(*row) for row in self.values[:len(outputs)]] else math.inf
        else:
            window = parameters.get("window", 1)
            places = places_of(window - 1, len(values) - window + 1)
            if track in ("moving_average", "rolling"):
                right = right_windows(values, parameters, places)
            elif track == "ewm":
                right = right_ewm(values, parameters, places)
            elif track == "scan":
                right = numpy.cumsum(values, dtype=numpy.float64)[places]
            elif track == "udf":
                right = values[places] ** 2
            else:
                right = values[places] * 2
            # What a peer leaves out are the incomplete windows.
            found = outputs[places - (len(values) - len(outputs))]
        found, right = numpy.asarray(found, dtype=numpy.float64), numpy.asarray(right, dtype=numpy.float64)
        if found.shape != right.shape or not numpy.isfinite(found).all():
            return math.inf
        return float(numpy.abs(found - right).max() / max(numpy.abs(right).max(), 1e-300))


def people(rows):
    names = ("Ada Lovelace", "Alan Turing", "Grace Hopper", "Edsger Dijkstra", "Barbara Liskov", "Donald Knuth")
    return [(names[k % 6], "private" if k % 3 == 0 else "public") for k in range(rows)]


def redacted(name, visibility):
    """The last name's initial and the first name, or what stands for both (stages/redact/reference.hpp)."""
    first, _, last = name.partition(" ")
    return f"{last[:1]} {first}" if visibility == "public" else "X X"


# --- Numba, with the article's algorithms -----------------------------------------------------------------------------

THREADS, OUTPUTS = 64, 48
SHARED_BYTES = 48 * 1024  # that a launch may have without being asked for more
cuda = float64 = None  # of Numba: kernels, and Numba's simulator, look for global names


def use_numba():
    global cuda, float64  # noqa: PLW0603
    cuda, float64 = importlib.import_module("numba.cuda"), importlib.import_module("numba").float64


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

    values = cuda.to_device(problem.values)
    out = cuda.device_array(len(problem.values) - window + 1, numpy.float64)
    launch = kernel[(out.size + THREADS * OUTPUTS - 1) // (THREADS * OUTPUTS), THREADS, 0, tile_bytes]
    return lambda: launch(values, window, out), out.copy_to_host


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
    values = cuda.to_device(problem.values)
    out = cuda.device_array(len(problem.values) - window + 1, numpy.float64)
    launch = kernel[(out.size + 255) // 256, 256]
    return lambda: launch(values, window, out), out.copy_to_host


def numba_elements(scalar):
    def make(problem):
        use_numba()
        function = cuda.jit(device=True)(scalar)

        @cuda.jit
        def kernel(values, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = function(values[i])

        values = cuda.to_device(problem.values)
        out = cuda.device_array(len(problem.values), problem.values.dtype)
        launch = kernel[(out.size + 255) // 256, 256]
        return lambda: launch(values, out), out.copy_to_host
    return make


# --- CuPy, PyTorch, pandas, cuDF --------------------------------------------------------------------------------------

def with_library(load, back):
    """Makes peers of `work(library, values, parameters)`, which returns a result; the last one is kept for the comparison.
    `load(problem)` gives the library and its values, and `back(library, result)` what stands in the host's memory."""
    def peer_of(work):
        def make(problem):
            module, values = load(problem)
            last = []

            def run():
                last.clear()  # its memory is used again
                last.append(work(module, values, problem.parameters))
            return run, lambda: back(module, last[0])
        return make
    return peer_of


def loaded(name, values_of):
    def load(problem):
        module = importlib.import_module(name)
        return module, values_of(module, problem.values)
    return load


def table_of(module, rows):
    return module.DataFrame({"name": [row[0] for row in rows], "visibility": [row[1] for row in rows]})


with_cupy = with_library(loaded("cupy", lambda cupy, values: cupy.asarray(values)), lambda cupy, result: cupy.asnumpy(result))
with_torch = with_library(loaded("torch", lambda torch, values: torch.from_numpy(values).cuda()), lambda _, result: result.cpu().numpy())
with_pandas = with_library(loaded("pandas", lambda pandas, values: pandas.Series(values)), lambda _, result: result.to_numpy())
with_pandas_table = with_library(loaded("pandas", table_of), lambda _, result: result.tolist())
with_cudf_table = with_library(loaded("cudf", table_of), lambda _, result: result.to_pandas().tolist())


def cupy_prefix_mean(cupy, values, parameters):
    window = parameters["window"]
    sums = cupy.cumsum(values)
    sums[window:] -= sums[:-window].copy()
    return sums[window - 1:] / window


def torch_prefix_mean(torch, values, parameters):
    window = parameters["window"]
    sums = torch.cumsum(values, 0)
    return torch.cat([sums[window - 1:window], sums[window:] - sums[:-window]]) / window


def redact_table(_module, table, _parameters):
    parts = table["name"].str.split(" ", n=1, expand=True)
    return (parts[1].str.get(0) + " " + parts[0]).where(table["visibility"] == "public", "X X")


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

    peer("scan", "cupy_cumsum", "cupy", sums[:1], bound=1e-4)(with_cupy(lambda cupy, x, _: cupy.cumsum(x)))
    peer("scan", "torch_cumsum", "torch", sums[:1], bound=1e-4)(with_torch(lambda torch, x, _: torch.cumsum(x, 0)))

    matrices = [{"height": 2**30 // width, "width": width} for width in (64, 1024, 4096, 32768, 262144)]
    peer("softmax", "torch_softmax", "torch", matrices, bound=1e-5)(with_torch(lambda torch, x, _: torch.softmax(x, 1)))

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
    peer("redact", "pandas_str", "pandas", people_table)(with_pandas_table(redact_table))
    peer("redact", "cudf_str", "cudf", people_table)(with_cudf_table(redact_table))


# --- timing -----------------------------------------------------------------------------------------------------------

class Gpu:
    """Events on the default stream and a way to fill the L2 cache, by whichever library is here."""

    def __init__(self):
        self.cupy, self.torch = library("cupy"), library("torch")
        self.here = False
        if self.torch is not None and self.torch.cuda.is_available():
            self.here = True
            self.flush_buffer = self.torch.empty(256 << 20, dtype=self.torch.uint8, device="cuda")

    def nanoseconds(self, run):
        """Of one run, between events; the cache is filled before."""
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
        return samples_of(lambda: self.nanoseconds(lambda: target.copy_(source)))

    def release(self):
        if self.cupy is not None:
            self.cupy.get_default_memory_pool().free_all_blocks()
        if self.torch is not None:
            self.torch.cuda.empty_cache()


def samples_of(one):
    found, begin = [], time.monotonic()
    while len(found) < MINIMUM_SAMPLES or (len(found) < 100 and time.monotonic() - begin < SECONDS):
        found.append(one())
        if time.monotonic() - begin > 10 * SECONDS and len(found) >= 3:
            break
    return found


def on_the_clock(run):
    begin = time.perf_counter_ns()
    run()
    return time.perf_counter_ns() - begin


def measure(one, problem, gpu):
    """The row of one peer. Whatever it does wrong costs this row alone."""
    row = {"track": one.track, "peer": one.name, "library": one.library, "on": one.on, "parameters": one.parameters,
           "bytes": problem.bytes, "status": "ok", "message": "", "largest_error": None, "samples": [], "median": None}
    try:
        run, outputs = one.make(problem)
        run()
        error = problem.compare(outputs())
        row["largest_error"] = error if math.isfinite(error) else str(error)
        if not error <= one.bound:
            row.update(status="wrong", message=f"an error of {error:.3g}, where {one.bound:.3g} is allowed")
            return row
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
    side = max(2, math.isqrt(values))
    limits = {"n": values, "rows": values, "height": side, "width": side}
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
    unfinished = path.with_name(path.name + f".{os.getpid()}")
    unfinished.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    unfinished.rename(path)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN")
    parser.add_argument("--list", action="store_true")
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
    for one in sorted(chosen, key=lambda each: (each.track, json.dumps(each.parameters))):
        if modules[one.library] is None or (one.on == "gpu" and not gpu.here):
            why = f"{one.library} is not installed" if modules[one.library] is None else "no GPU here, or no PyTorch to time it with"
            print(f"{one.path}: left out: {why}", file=sys.stderr)
            continue
        one.parameters = smaller(one.parameters, options.values)
        wanted = {name: value for name, value in one.parameters.items() if name in ("n", "rows", "height", "width", "type")}
        if problem is None or (problem.track, problem.made_of) != (one.track, wanted):
            problem = None  # its memory first
            problem = Problem(one.track, one.parameters)
            problem.made_of = wanted
        problem.parameters = one.parameters
        row = measure(one, problem, gpu)
        if one.on == "gpu":
            gpu.release()
            if problem.bytes and problem.bytes not in copies:
                copies[problem.bytes] = statistics.median(gpu.copy(problem.bytes))
                gpu.release()
        rows.append(row)
        told = row["message"] if row["median"] is None else f"{row['median'] / 1e6:.3f} ms"
        print(f"{one.path} {json.dumps(one.parameters)}: {told}", flush=True)
        # After every peer: a call that is cut off loses none that it has measured.
        write(options.output, document_of(rows, copies, device, modules))
    if not rows:
        print("nothing was measured", file=sys.stderr)
        return 2
    return 1 if any(row["status"] == "wrong" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
