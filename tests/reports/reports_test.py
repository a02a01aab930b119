"""What the scripts in reports/ make of records: tables, and the points of plots. Needs nothing beyond Python; where
matplotlib is there, a plot is drawn too."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "reports"))

import plots
import tables


def timing(median):
    return {"median": median, "spread": 0.001, "samples": [median], "unstable": False}


def row(stage, median, status="ok", library=False):
    return {"stage": f"track/{stage}", "library": library, "status": status, "message": None if status == "ok" else "because", "timing": timing(median) if median else None}


def run(created, groups, device="H200"):
    return {
        "schema": "kernel-lab-results",
        "created": created,
        "device": {"id": "cuda:0", "name": device, "driver": "1", "toolkit": "13.0"},
        "program": {"commit": "0123456789abcdef"},
        "floor": timing(3000),
        "groups": groups,
    }


def group(parameters, rows, ceilings=((1000, False),), **more):
    size = parameters["n"] * 4
    records = [{"kind": "read", "bytes": size, "cached": cached, "timing": timing(median)} for median, cached in ceilings]
    return {"track": "track", "parameters": parameters, "l2": "cold", "fewest_bytes": size if records else None, "ceilings": records, "rows": rows, **more}


class Plots(unittest.TestCase):
    def records(self, files, where=None):
        return plots.Records(files, "track", "n", where or {})

    def test_the_later_run_wins_and_what_failed_has_no_point(self):
        first = run("2026-01-01", [group({"n": 10}, [row("01_a", 5000), row("02_b", 6000)]), group({"n": 100}, [row("01_a", 7000)])])
        later = run("2026-01-02", [group({"n": 10}, [row("01_a", 4000), row("02_b", None, "failed"), row("90_l", 1000, library=True)])])
        found = self.records([later, first])
        self.assertEqual(found.stages, {"01_a": {10: 4000, 100: 7000}, "90_l": {10: 1000}})
        self.assertEqual(found.libraries, {"90_l"})
        self.assertEqual(found.floor, 3000)

    def test_a_ceiling_in_the_cache_is_none_and_the_faster_one_counts(self):
        found = self.records([run("1", [group({"n": 10}, [row("01_a", 1)], [(900, True)]), group({"n": 100}, [row("01_a", 1)], [(1000, False), (950, False)])])])
        self.assertEqual(found.ceilings, {100: 950})

    def test_other_parameters_must_be_one_value(self):
        groups = [group({"n": 10, "type": bits}, [row("01_a", bits)], choice_names={"type": f"float{bits}"}) for bits in (32, 64)]
        with self.assertRaisesRegex(ValueError, "--where type=32"):
            self.records([run("1", groups)])
        for where in ({"type": "64"}, {"type": "float64"}):
            found = self.records([run("1", groups)], where)
            self.assertEqual(found.stages, {"01_a": {10: 64}})
            self.assertEqual(found.caption(), "type = float64, L2 cold")
        with self.assertRaisesRegex(ValueError, "no parameter size"):
            self.records([run("1", groups)], {"size": "1"})

    def test_records_that_cannot_be_drawn_together_are_refused(self):
        one = [group({"n": 10}, [row("01_a", 5000)])]
        with self.assertRaisesRegex(ValueError, "several devices"):
            self.records([run("1", one), run("2", one, device="H100")])
        with self.assertRaisesRegex(ValueError, "no time of other"):
            plots.Records([run("1", one)], "other", "n", {})
        with self.assertRaisesRegex(ValueError, "no parameter window"):
            plots.Records([run("1", one)], "track", "window", {})

    def test_numbers_on_the_axes(self):
        self.assertEqual([plots.count_text(x) for x in (1, 1000, 10_000, 10**9, 16_384)], ["1", "1000", "10⁴", "10⁹", "16384"])
        self.assertEqual([plots.time_text(x) for x in (500, 1000, 2950, 1e6, 2e9)], ["500 ns", "1 µs", "2.95 µs", "1 ms", "2 s"])

    def draw(self, arguments, directory, name):
        path = pathlib.Path(directory) / name
        plots.main([*arguments, "--output", str(path)])
        return path.read_text()

    def test_the_same_records_give_the_same_svg_with_text_as_text(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("no matplotlib")
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "record.json"
            file.write_text(json.dumps(run("2026-01-01", [group({"n": n}, [row("01_a", 3000 + n), row("90_l", 3000, library=True)]) for n in (10, 1000)])))
            for what, word in (("time_against", "launch floor: empty kernel, 3.00 µs"), ("throughput_against", "GB/s")):
                arguments = [what, "n", "--track", "track", str(file)]
                drawn = self.draw(arguments, directory, "a.svg")
                self.assertEqual(drawn, self.draw(arguments, directory, "b.svg"))
                for text in (word, "01_a", "90_l (library)", "speed of light: read", "H200, driver 1"):
                    self.assertIn(text, drawn)
                self.assertNotIn("<dc:date>", drawn)

    def test_throughput_needs_the_bytes(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "record.json"
            file.write_text(json.dumps(run("1", [group({"n": 10}, [row("01_a", 5000)], [])])))
            with self.assertRaisesRegex(SystemExit, "fewest bytes"):
                plots.main(["throughput_against", "n", "--track", "track", "--output", f"{directory}/a.svg", str(file)])
            file.write_text("{}")
            with self.assertRaisesRegex(SystemExit, "no record"):
                plots.main(["time_against", "n", "--track", "track", "--output", f"{directory}/a.svg", str(file)])
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                plots.main(["time_against", "n", "--track", "track", "--output", f"{directory}/a.pdf", str(file)])


class Tables(unittest.TestCase):
    def page(self, runs, text, images=()):
        with tempfile.TemporaryDirectory() as directory:
            for place, one in enumerate(runs):
                (pathlib.Path(directory) / f"{place}.json").write_text(json.dumps(one))
            for name in images:
                (pathlib.Path(directory) / name).touch()
            return tables.page(tables.Records(pathlib.Path(directory)), text, pathlib.Path(directory))

    def test_values_are_named_where_a_run_knows_their_words(self):
        page = "<!-- ladder: track -->\n<!-- /ladder -->\n<!-- measured: track/01_a -->\n<!-- /measured -->\n"
        old = run("1", [group({"n": 10, "type": bits}, [row("01_a", 5000)]) for bits in (32, 64)])
        self.assertIn("| stage | type = 32 | type = 64 |", self.page([old], page))
        new = run("2", [group({"n": 10, "type": 32}, [row("01_a", 5000)], choice_names={"type": "float32"})])
        found = self.page([old, new], page)
        self.assertIn("| stage | type = float32 | type = 64 |", found)
        self.assertIn("| n = 10, type = float32 | 5.00 µs |", found)

    def test_a_plot_is_shown_once_it_is_there(self):
        page = "<!-- plot: a.svg time against n -->\nold\n<!-- /plot -->\n"
        self.assertEqual(self.page([], page), "<!-- plot: a.svg time against n -->\n_Not recorded._\n<!-- /plot -->\n")
        self.assertEqual(self.page([], page, ["a.svg"]), "<!-- plot: a.svg time against n -->\n![time against n](a.svg)\n<!-- /plot -->\n")


if __name__ == "__main__":
    unittest.main()
