#!/usr/bin/env python3
"""What other libraries make is compared before it is timed, and their times become a table. Needs NumPy; 77 without."""

import contextlib
import functools
import io
import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "reports"))

try:
    import numpy
except ImportError:
    print("this test is skipped: NumPy is not installed")
    sys.exit(77)

import peers
import tables


@functools.cache
def records_of_lab():
    return tables.Records(ROOT / "reports" / "h200")


def right_outputs(problem):
    window = problem.parameters["window"]
    places = numpy.arange(window - 1, len(problem.values))
    return peers.right_windows(problem.values, problem.parameters, places)


class Comparison(unittest.TestCase):
    def problem(self, operation="mean"):
        return peers.Problem("rolling", {"n": 5000, "window": 7, "operation": operation})

    def test_what_is_right_passes_with_or_without_incomplete_windows(self):
        for operation in peers.OPERATIONS:
            problem = self.problem(operation)
            outputs = right_outputs(problem)
            self.assertEqual(problem.compare(outputs), 0)
            self.assertEqual(problem.compare(numpy.concatenate([numpy.full(6, numpy.inf), outputs])), 0)

    def test_shifted_windows_a_wrong_end_nan_and_swapped_order_are_found(self):
        problem = self.problem()
        outputs = right_outputs(problem)
        self.assertGreater(problem.compare(numpy.roll(outputs, 1)), 1e-3)
        for place in (0, -1):
            changed = outputs.copy()
            changed[place] *= 1.001
            self.assertGreater(problem.compare(changed), 1e-5)
        changed = outputs.copy()
        changed[-1] = numpy.nan
        self.assertEqual(problem.compare(changed), numpy.inf)
        swapped = self.problem("first_minus_last")
        self.assertGreater(swapped.compare(-right_outputs(swapped)), 1)

    def test_other_tracks_have_their_own_right_outputs(self):
        ewm = peers.Problem("ewm", {"n": 3000, "span": 30})
        alpha, numerator, denominator, outputs = 2 / 31, 0.0, 0.0, []
        for value in ewm.values:  # pandas' adjust=True
            numerator, denominator = value + (1 - alpha) * numerator, 1 + (1 - alpha) * denominator
            outputs.append(numerator / denominator)
        self.assertLess(ewm.compare(numpy.array(outputs)), 1e-12)
        self.assertGreater(ewm.compare(ewm.values), 1e-3)
        columns = peers.Problem("reduction_2d", {"height": 40, "width": 50, "operation": "columns"})
        self.assertLess(columns.compare(columns.values.sum(axis=0)), 1e-5)
        self.assertEqual(columns.compare(columns.values.sum(axis=1)), numpy.inf)
        scan = peers.Problem("scan", {"n": 3000, "type": "float64"})
        self.assertLess(scan.compare(numpy.cumsum(scan.values)), 1e-12)
        self.assertGreater(scan.compare(numpy.cumsum(scan.values) - scan.values), 1e-5)  # exclusive
        softmax = peers.Problem("softmax", {"height": 40, "width": 50})
        exponentials = numpy.exp(softmax.values)
        self.assertLess(softmax.compare(exponentials / exponentials.sum(axis=1, keepdims=True)), 1e-6)
        self.assertGreater(softmax.compare(exponentials / exponentials.sum(axis=0)), 1e-2)
        redact = peers.Problem("redact", {"rows": 9})
        outputs = ["X X", "T Alan", "H Grace", "X X", "L Barbara", "K Donald", "X X", "T Alan", "H Grace"]
        self.assertEqual(redact.compare(outputs), 0)
        self.assertEqual(redact.compare(["X X"] * 9), numpy.inf)


class Matrices(unittest.TestCase):
    def test_a_transpose_must_be_equal_and_of_the_right_shape(self):
        problem = peers.Problem("transpose", {"rows": 70, "columns": 70})
        self.assertEqual(problem.compare(problem.values.T), 0)
        self.assertGreater(problem.compare(problem.values), 1e-3)
        longer = peers.Problem("transpose", {"rows": 40, "columns": 90})
        self.assertEqual(longer.compare(longer.values.T), 0)
        self.assertEqual(longer.compare(longer.values), numpy.inf)

    def test_a_histogram_is_compared_whole(self):
        for kind, bins in (("uint8", 256), ("uint32", 65536)):
            for content in ("uniform", "one_value", "sorted", "mostly_one"):
                problem = peers.Problem("histogram", {"n": 5000, "content": content, "type": kind})
                counts = numpy.bincount(problem.values, minlength=bins)
                self.assertEqual((len(problem.values), counts.sum(), problem.compare(counts)), (5000, 5000, 0))
                self.assertGreater(problem.compare(numpy.roll(counts, 1)), 1e-4)
                self.assertEqual(problem.compare(counts[:42]), numpy.inf)
        self.assertEqual(peers.keys_of("sorted", 12, "uint8").tolist(), [0, 8, 12, 16, 18, 20, 22, 24, 25, 26, 27, 28])

    def test_a_convolution_is_not_flipped_and_zero_beyond_the_edges(self):
        for kind in ("general", "separable"):
            problem = peers.Problem("convolution", {"rows": 30, "columns": 50, "radius": 2, "filter": kind})
            image, weights = problem.arrays
            weights = weights if kind == "general" else numpy.outer(*weights)

            def filtered(weights, mode="constant", image=image):
                padded = numpy.pad(image.astype(float), 2, mode=mode)
                return sum(weights[i, j] * padded[i:i + 30, j:j + 50] for i in range(5) for j in range(5)).astype(numpy.float32)
            self.assertLess(problem.compare(filtered(weights)), 1e-6)
            self.assertGreater(problem.compare(filtered(weights[::-1, ::-1])), 1e-3)
            self.assertGreater(problem.compare(filtered(weights, "edge")), 1e-2)
            self.assertEqual(problem.compare(filtered(weights)[None]), numpy.inf)

    def test_products_have_the_error_of_their_type(self):
        parameters = {"m": 30, "n": 40, "k": 2048}
        problem = peers.Problem("matrix_product", parameters)
        a, b = problem.arrays
        self.assertLess(problem.compare(a @ b), peers.float32_product(parameters))

        def shortened(one):  # to TF32, rounded
            return ((one.view(numpy.uint32) + numpy.uint32(0x1000)) & numpy.uint32(0xFFFFE000)).view(numpy.float32)
        self.assertGreater(problem.compare(shortened(a) @ shortened(b)), peers.float32_product(parameters))
        self.assertGreater(problem.compare((b.T @ a.T).T[::-1]), 1e-3)
        problem = peers.Problem("matrix_product_bf16", parameters)
        right = problem.arrays[0] @ problem.arrays[1]
        as_bfloat16 = peers.as_bfloat16((right.view(numpy.uint32) + numpy.uint32(0x8000)).view(numpy.float32))
        self.assertLess(problem.compare(right), peers.bfloat16_product(parameters))
        self.assertGreater(problem.compare(as_bfloat16), peers.bfloat16_product(parameters))
        self.assertLess(problem.compare(as_bfloat16, 2**-8), peers.bfloat16_product(parameters))


class Rows(unittest.TestCase):
    def row(self, outputs):
        problem = peers.Problem("elementwise", {"n": 1000})

        def make(made_for):
            return lambda: None, lambda: outputs(made_for.values)
        return peers.measure(peers.Peer("elementwise", "mine", "pandas", make, {"n": 1000}), problem, None)

    def test_who_is_wrong_or_raises_has_a_row_and_no_time(self):
        self.assertEqual((self.row(lambda x: 2 * x)["status"], len(self.row(lambda x: 2 * x)["samples"])), ("ok", 3))
        wrong = self.row(lambda x: x)
        self.assertEqual((wrong["status"], wrong["samples"], wrong["median"]), ("wrong", [], None))
        failed = self.row(lambda x: 1 // 0)
        self.assertEqual((failed["status"], failed["message"], failed["median"]),
                         ("failed", "ZeroDivisionError: integer division or modulo by zero", None))

    def test_a_record_becomes_a_table_and_a_broken_one_an_error(self):
        row = {"track": "elementwise", "peer": "mine", "library": "cupy", "on": "gpu", "parameters": {"n": 1_000_000_000}, "bytes": 16,
               "status": "ok", "message": "", "samples": [2e6], "median": 2e6}
        document = {"schema": "kernel-lab-peers", "version": 1, "created": "2026-01-02T03:04:05+00:00", "device": {"name": "H", "driver": "1"},
                    "libraries": {"cupy": "14", "torch": "2"}, "copies": [{"bytes": 16, "median": 1e6}], "rows": [row]}
        records = tables.Records(pathlib.Path(tempfile.mkdtemp()))
        self.assertEqual(tables.peers(records, "elementwise"), "Not recorded yet.\n")
        (records.directory / "peers.json").write_text(json.dumps(document))
        text = tables.peers(records, "elementwise")
        self.assertIn("| mine | n = 1e9 | 2.00 ms | 50.0 % |", text)
        self.assertIn("H, driver 1, 2026-01-02; cupy 14.", text)
        for broken in ({**document, "copies": 3}, {**document, "rows": [{}]}, {**document, "version": 2}):
            (records.directory / "peers.json").write_text(json.dumps(broken))
            with self.assertRaises(tables.BrokenRecord):
                tables.peers(records, "elementwise")

    def test_a_track_without_rows_is_not_recorded_and_a_product_has_operations(self):
        row = {"track": "matrix_product", "peer": "mine", "library": "cupy", "on": "gpu", "parameters": {"m": 8, "n": 8, "k": 8}, "bytes": 768,
               "operations": 1024, "status": "ok", "message": "", "samples": [1.0], "median": 1.0}
        document = {"schema": "kernel-lab-peers", "version": 1, "created": "2026-01-02T03:04:05+00:00", "device": {"name": "H", "driver": "1"},
                    "libraries": {"cupy": "14"}, "copies": [], "rows": [row, {**row, "peer": "other", "status": "failed", "message": "why", "median": None}]}
        records = tables.Records(pathlib.Path(tempfile.mkdtemp()))
        (records.directory / "peers.json").write_text(json.dumps(document))
        self.assertEqual(tables.peers(records, "transpose"), "Not recorded yet.\n")
        text = tables.peers(records, "matrix_product")
        self.assertIn("| mine | m = 8, n = 8, k = 8 | 1.00 ns | 1.0 TFLOP/s | - |", text)
        self.assertIn("| other | m = 8, n = 8, k = 8 | failed: why | - | - |", text)

    def test_the_records_have_a_stage_for_what_a_peer_computes(self):
        records = records_of_lab()
        peers.PEERS.clear()
        peers.register()
        self.addCleanup(peers.PEERS.clear)
        missing = {(one.track, one.parameters.get("operation", one.parameters.get("type"))) for one in peers.PEERS
                   if one.on == "gpu" and tables.best_stage(records, one.track, one.parameters) is None}
        self.assertEqual(missing, {("reduction", "float64"), ("rolling", "min"), ("rolling", "sum")})

    def test_the_best_stage_stands_above_the_peers_of_its_parameters(self):
        records = records_of_lab()
        for track, parameters in (("transpose", {"rows": 16384, "columns": 16384}), ("matrix_product", {"m": 4096, "n": 4096, "k": 4096})):
            stage = tables.best_stage(records, track, parameters)
            row = {"track": track, "peer": "mine", "library": "cupy", "on": "gpu", "parameters": parameters, "bytes": 768, "operations": 1024,
                   "status": "ok", "message": "", "samples": [1.0], "median": 2 * stage["timing"]["median"]}
            document = {"schema": "kernel-lab-peers", "version": 1, "created": "2026-01-02T03:04:05+00:00", "device": {"name": "H", "driver": "1"},
                        "libraries": {"cupy": "14"}, "copies": [], "rows": [row]}
            records.directory = pathlib.Path(tempfile.mkdtemp())
            (records.directory / "peers.json").write_text(json.dumps(document))
            lines = tables.peers(records, track).splitlines()
            self.assertTrue(lines[2].startswith(f"| **{stage['stage'].split('/')[1]}** | ") and lines[2].endswith("| 2.00 times as fast as mine |"), lines[2])
            self.assertTrue(lines[3].startswith("| mine | ") and lines[3].endswith("| 2.00 times as fast |"), lines[3])
            self.assertIn(f"| [{track}](#{track}) | 1 | 2.00 | mine |", tables.peers(records, "summary"))

    def test_a_call_that_names_no_peer_is_refused(self):
        for arguments in (["--only", "nothing", "--output", "x"], ["--values", "many"], []):
            peers.PEERS.clear()
            with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as ended:
                peers.main(arguments)
            self.assertEqual(ended.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
