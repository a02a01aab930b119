#!/usr/bin/env python3
"""What other libraries make is compared before it is timed, and their times become a table. Needs NumPy; 77 without."""

import contextlib
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
        kept, tables.RECORDS = tables.RECORDS, pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(setattr, tables, "RECORDS", kept)
        self.assertEqual(tables.peers(None, "elementwise"), "Not recorded yet.\n")
        (tables.RECORDS / "peers.json").write_text(json.dumps(document))
        text = tables.peers(None, "elementwise")
        self.assertIn("| mine | n = 1e9 | 2.00 ms | 50.0 % |", text)
        self.assertIn("H, driver 1, 2026-01-02; cupy 14.", text)
        for broken in ({**document, "copies": 3}, {**document, "rows": [{}]}, {**document, "version": 2}):
            (tables.RECORDS / "peers.json").write_text(json.dumps(broken))
            with self.assertRaises(tables.BrokenRecord):
                tables.peers(None, "elementwise")

    def test_a_call_that_names_no_peer_is_refused(self):
        for arguments in (["--only", "nothing", "--output", "x"], ["--values", "many"], []):
            peers.PEERS.clear()
            with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as ended:
                peers.main(arguments)
            self.assertEqual(ended.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
