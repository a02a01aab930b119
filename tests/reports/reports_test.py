"""What the scripts in reports/ make of records: tables, and the points of plots. Needs nothing beyond Python; where
matplotlib is there, a plot is drawn too."""

import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "reports"))

import aa
import claims
import counters
import nsight
import plots
import rooms
import proofs
import source_digest
import tables
import track_notes


def timing(median, spread=0.001):
    samples = [median * (1 + part * spread) for part in (-1, -0.5, 0, 0.5, 1)]
    return {"median": median, "spread": spread, "samples": samples, "unstable": False}


def row(stage, median, status="ok", library=False, **more):
    return {"stage": f"track/{stage}", "library": library, "status": status, "message": None if status == "ok" else "because", "timing": timing(median) if median else None, **more}


def run(created, groups, device="H200"):
    return {
        "schema": "kernel-lab-results",
        "version": 1,
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


FAKE_LAB = """#!{python}
import json, pathlib, sys
words = sys.argv[1:]
if words == ["--version"]:
    print("Kernel Lab 0.1 (0123456)")
elif words[0] == "describe":
    pathlib.Path(words[-1]).write_text(json.dumps({{"device": {{"name": "NVIDIA H200", "driver": "1"}}}}))
elif words[0] == "trace":
    sys.exit("lab: no CUPTI")
else:
    for stage in (words[1], words[words.index("--baseline") + 1]):
        pathlib.Path(stage.replace("/", "_") + ".ncu-rep").write_text("report" * (600_000 if stage.endswith("08_bulk_copy") else 1))
"""
FAKE_NCU = """#!{python}
import sys
if "--version" in sys.argv:
    print("NVIDIA (R) Nsight Compute\\nVersion 2025.3.1.0 (build 1)")
elif "raw" in sys.argv:
    print('"ID","Kernel Name","gpu__time_duration.sum","l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"')
    print('"","","ns",""')
    print('"0","short","1,000","5"')
    print('"1","long","2,000","7,692,464"')
else:
    print("[1] worker@127.0.0.1")
    for name in ("short", "long"):
        print(f"  {{name}}(int) (4, 1, 1)x(64, 1, 1), Context 1, Stream 7, Device 0, CC 9.0")
        for section in ("Occupancy", "Source Counters"):
            print(f"    Section: {{section}}\\n    OPT   what {{name}} has in {{section}}   \\n")
        print("    Section: Memory Workload Analysis Tables")
        print("\\n".join(f"    line {{number}}" for number in range(70)))
"""


class NsightLabs(unittest.TestCase):
    """reports/nsight.py with programs that stand in for the lab and for Nsight Compute."""

    PAGE = (tables.ROOT / "docs" / "nsight-labs.md").read_text(encoding="utf-8")

    def recorded(self, directory, *arguments):
        directory = pathlib.Path(directory)
        for name, text in (("lab", FAKE_LAB), ("ncu", FAKE_NCU)):
            (directory / name).write_text(text.format(python=sys.executable))
            (directory / name).chmod(0o755)
        done = subprocess.run(
            [sys.executable, "-B", tables.ROOT / "reports" / "nsight.py", "--build", directory, "--output", directory / "out", *arguments],
            capture_output=True, text=True, env={**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"}, timeout=60,
        )
        return done, directory / "out"

    def test_a_lab_keeps_the_longest_kernels_sections_and_values(self):
        with tempfile.TemporaryDirectory() as directory:
            done, out = self.recorded(directory, "--only", "03*", "--only", "08*")
            self.assertEqual(done.returncode, 1, done)  # the timeline could not be had
            self.assertIn("08_timeline: skipped: lab trace redact/04_two_pass ended with 1: lab: no CUPTI", done.stdout)
            text = (out / "03_bank_conflicts.txt").read_text()
            self.assertTrue(text.startswith("NVIDIA H200, driver 1, Nsight Compute Version 2025.3.1.0, "), text)
            self.assertLess(text.index("\nmoving_average/03_thread_tiled\n"), text.index("\nmoving_average/04_padded\n"))
            for shown in ("  long(int)", "what long has in Source Counters\n", "line 59\n", "... 10 lines more", "op_ld.sum  7692464\n", "not in the report"):
                self.assertIn(shown, text)
            for left_out in ("short", "Section: Occupancy", "line 60"):
                self.assertNotIn(left_out, text)
            self.assertEqual(sorted(path.name for path in out.iterdir()),
                             ["03_bank_conflicts.moving_average_03_thread_tiled.ncu-rep", "03_bank_conflicts.moving_average_04_padded.ncu-rep", "03_bank_conflicts.txt"])

    def test_large_reports_are_left_out_and_what_cannot_be_recorded_is_named(self):
        with tempfile.TemporaryDirectory() as directory:
            done, out = self.recorded(directory, "--only", "05*")
            self.assertEqual(done.returncode, 0, done)
            self.assertIn("05_occupancy.moving_average_08_bulk_copy_0.ncu-rep is left out: 3.4 MiB", done.stdout)
            self.assertEqual(len(list(out.glob("*.ncu-rep"))), 2)
            done, out = self.recorded(directory, "--only", "07*")
            self.assertEqual(done.returncode, 1, done)  # a profile without a baseline: this stand-in fails at it
            self.assertFalse((out / "07_roofline.txt").exists())
            done, _ = self.recorded(directory, "--only", "09*")
            self.assertEqual(done.returncode, 2, done)
            done, _ = self.recorded(directory, "--seconds", "0")
            self.assertEqual(done.returncode, 2, done)
            done, _ = self.recorded(directory, "--seconds", "0.000001", "--only", "01*")
            self.assertIn("01_speed_of_light: skipped: its time had passed", done.stdout)

    def test_the_page_has_every_lab_and_command_and_each_is_answered(self):
        answers = (tables.ROOT / "docs" / "teacher" / "nsight-labs.md").read_text(encoding="utf-8")
        for name, lab in nsight.LABS.items():
            self.assertIn(f"<!-- nsight: {name} -->", self.PAGE)
            for command in lab["commands"]:
                self.assertIn(f"./lab {command}\n", self.PAGE.replace(" \\\n  ", " "))
        questions = re.findall(r"^\*\*Question\.\*\* (.+?)\n\n", self.PAGE, re.MULTILINE | re.DOTALL)
        self.assertEqual(len(questions), len(nsight.LABS))
        for number, question in enumerate(questions, 1):
            self.assertIn(f"**{' '.join(question.split())}**", " ".join(answers.split()), number)

    def test_a_record_becomes_a_block_of_the_page(self):
        block = "<!-- nsight: 03_bank_conflicts -->\nold\n<!-- /nsight -->"
        before = tables.RECORDS
        with tempfile.TemporaryDirectory() as directory:
            try:
                tables.RECORDS = pathlib.Path(directory)
                self.assertIn("_Not recorded yet._", tables.page(None, block, None))
                (tables.RECORDS / "nsight").mkdir()
                record = tables.RECORDS / "nsight" / "03_bank_conflicts.txt"
                record.write_text("A device, today\n\n$ ./lab profile\n\n    Section: Occupancy\n")
                self.assertIn("A device, today:\n\n```text\n$ ./lab profile\n\n    Section: Occupancy\n```\n", tables.page(None, block, None))
                record.write_text("cut off")
                self.assertRaises(tables.BrokenRecord, tables.page, None, block, None)
                self.assertRaises(tables.BrokenRecord, tables.page, None, block.replace("03_bank", "03_no"), None)
            finally:
                tables.RECORDS = before


class Exercises(unittest.TestCase):
    """The files beside the stages, against their schema and the teachers' pages; the program reads them more strictly."""

    SCHEMA = json.loads((tables.ROOT / "docs" / "exercises.schema.json").read_text(encoding="utf-8"))

    def problem(self, document):
        def check(value, schema):
            if "$ref" in schema:
                return check(value, self.SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]])
            if isinstance(value, list):
                return next(filter(None, (check(one, schema["items"]) for one in value)), None)
            if isinstance(value, dict) and "properties" in schema:
                wrong = sorted(set(value) - set(schema["properties"])) + sorted(set(schema["required"]) - set(value))
                return f"'{wrong[0]}'" if wrong else next(filter(None, (check(one, schema["properties"][name]) for name, one in value.items())), None)
            return None

        return check(document, self.SCHEMA)

    def test_files_follow_the_schema_and_questions_are_answered(self):
        for path in sorted((tables.ROOT / "stages").glob("*/*/exercises.json")):
            document = json.loads(path.read_text(encoding="utf-8"))
            self.assertIsNone(self.problem(document), path)
            answers = " ".join((tables.ROOT / "docs" / "teacher" / f"{path.parts[-3]}.md").read_text(encoding="utf-8").split())
            for question in [question for one in document["exercises"] for question in one.get("questions", [])]:
                self.assertIn(f"**{question}**", answers, path)

    def test_a_member_that_is_unknown_or_missing_is_refused(self):
        path = tables.ROOT / "stages" / "moving_average" / "04_padded" / "exercises.json"
        document = json.loads(path.read_text(encoding="utf-8"))
        document["exercises"][0]["regions"][0]["line"] = 1
        self.assertEqual(self.problem(document), "'line'")
        del document["exercises"][0]["regions"][0]["line"]
        del document["exercises"][0]["hints"]
        self.assertEqual(self.problem(document), "'hints'")
class RepeatedRuns(unittest.TestCase):
    """reports/aa.py against a program that only pretends: its `compare` finds 2 % whatever the noise."""

    LAB = """#!{python}
import json, sys
words = sys.argv[1:]
def median(path):
    return json.load(open(path))["groups"][0]["rows"][0]["processes"][0]["samples"][0]
output = words[words.index("--json") + 1]
if words[0] == "run":
    number = int(output[-7:-5])
    timing = {{"samples": [100.0 + {drift} * (number % 2)]}}
    row = {{"stage": "track/01", "timing": timing, "processes": [timing, timing]}}
    json.dump({{"complete": True, "created": "now", "device": {{}}, "program": {{}}, "groups": [{{"rows": [row]}}]}}, open(output, "w"))
else:
    ratio = median(words[2]) / median(words[1]) - 1
    noise = {{"noise": {{"between_processes": 0.001, "within_process": 0.001}}}}
    verdict = "SLOWER" if ratio > 0.02 else "FASTER" if ratio < -0.02 else "SAME"
    row = {{"stage": "track/01", "parameters": "", "l2": "cold", "verdict": verdict, "old": noise, "new": noise}}
    json.dump({{"rows": [row], "not_compared": []}}, open(output, "w"))
"""

    def judged(self, drift, *options):
        with tempfile.TemporaryDirectory() as directory:
            place = pathlib.Path(directory)
            lab = place / "lab"
            lab.write_text(self.LAB.format(python=sys.executable, drift=drift))
            lab.chmod(0o755)
            with contextlib.redirect_stdout(io.StringIO()):
                code = aa.main(["--folder", str(place / "runs"), "--output", str(place / "aa.json"), "--runs", "4", "--lab", str(lab), *options, "--", "track"])
            return code, json.loads((place / "aa.json").read_text())

    def test_runs_that_agree_have_no_false_verdict_and_slowed_ones_are_found(self):
        code, record = self.judged(0)
        self.assertEqual(code, 0)
        self.assertEqual(record["same"]["verdicts"], {"SAME": 3})
        self.assertEqual(record["slowed"]["verdicts"], {"SLOWER": 3})
        self.assertEqual(record["slowed"]["steady_found_part"], 1)

    def test_runs_that_drift_are_counted_as_false_verdicts(self):
        code, record = self.judged(5)
        self.assertEqual(code, 1)
        self.assertEqual(record["same"]["false_part"], 1)
        self.assertEqual(record["same"]["rows"], {"track/01 (, L2 cold)": {"FASTER": 2, "SLOWER": 1}})

    def test_every_pair_finds_runs_that_differ_and_are_not_neighbours(self):
        code, record = self.judged(5, "--every-pair")
        self.assertEqual(code, 1)
        self.assertEqual(record["comparisons"], 6)
        self.assertEqual(record["same"]["rows"], {"track/01 (, L2 cold)": {"FASTER": 3, "SAME": 2, "SLOWER": 1}})

    def test_a_call_without_stages_is_refused(self):
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as said:
            aa.main(["--folder", "x", "--output", "y"])
        self.assertIn("the stages to run follow after --", said.getvalue())


class CountersBesideTheModel(unittest.TestCase):
    MODELLED = [{"kernel": "saxpy", "parameters": {}, "metrics": {"loads": 4, "stores": 2}}]

    def table(self, counted, explanations=()):
        comparison = counters.Comparison(list(explanations))
        rows = [{"kernel": "saxpy", "parameters": {}, "metrics": counted}]
        return comparison.table("kernel", {"loads": "loads", "stores": "stores"}, self.MODELLED, rows, "a GPU", differing=True), comparison

    def test_what_is_the_same_is_counted_and_not_shown(self):
        text, comparison = self.table({"loads": 4, "stores": 1}, [{"kernel": "saxpy", "metric": "stores", "why": "merged"}])
        self.assertIn("| saxpy | stores | 2 | 1 | merged |", text)
        self.assertNotIn("| saxpy | loads", text)
        self.assertIn("2 figures are not 0", text)
        self.assertEqual(comparison.unexplained, [])

    def test_a_difference_that_nobody_explains_is_shown_and_told(self):
        text, comparison = self.table({"loads": 5, "stores": 2})
        self.assertIn("| saxpy | loads | 4 | 5 | not explained |", text)
        self.assertEqual(comparison.unexplained, ["saxpy: loads: modelled 4, counted 5"])


class TrackNotes(unittest.TestCase):
    def test_a_track_may_say_nothing_and_nothing_that_nobody_reads(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "track" / "reports.json"
            path.parent.mkdir()
            self.assertEqual(track_notes.of("track", directory)["sanitizer"], {})
            path.write_text('{"sanitizer": {"n": 32}}')
            self.assertEqual(track_notes.of("track", directory)["sanitizer"], {"n": 32})
            path.write_text('{"sanitiser": {"n": 32}}')
            with self.assertRaisesRegex(ValueError, "there is no sanitiser; the members are"):
                track_notes.of("track", directory)

    def test_what_the_tracks_say_is_about_stages_that_there_are(self):
        for path in sorted(pathlib.Path(track_notes.ROOT, "stages").glob("*/reports.json")):
            for stage in track_notes.of(path.parent.name)["not_compared"]:
                self.assertTrue((track_notes.ROOT / "stages" / stage / "stage.cu").exists(), stage)


class Rooms(unittest.TestCase):
    def test_a_circle_is_refused_and_a_shortcut_left_out(self):
        with self.assertRaisesRegex(ValueError, "a > b > a"):
            rooms.graph({"a", "b"}, {("a", "b"), ("b", "a")})
        pairs = {("a", "b"), ("b", "c"), ("a", "c")}
        rooms.refuse_circles(pairs)
        self.assertEqual(rooms.without_shortcuts(pairs), {("a", "b"), ("b", "c")})

    def test_the_picture_holds_its_graph_and_nothing_leaves_it(self):
        text = rooms.PICTURE.read_text(encoding="utf-8")
        self.assertIn(rooms.comment(rooms.graph(*rooms.edges())), text)
        left, top, width, height = map(float, re.search(r'viewBox="([^"]*)"', text)[1].split())
        x, y = map(float, re.search(r"translate\(([^)]*)\)", text)[1].split())
        points = [tuple(map(float, point)) for point in re.findall(r"(-?[\d.]+),(-?[\d.]+)", " ".join(re.findall(r'(?:d|points)="([^"]*)"', text)))]
        self.assertGreater(len(points), 100)
        for one, other in points:
            self.assertTrue(left <= one + x <= left + width and top <= other + y <= top + height, (one, other))

    def test_a_file_is_in_the_room_of_its_directory(self):
        paths = {"common/file.hpp": "common", "common/emulator/observe/x.hpp": "common/emulator/observe", "harness/front/run/ladder.cpp": "harness/front/run",
                 "harness/front/lab.cpp": "harness/front", "harness/protocol.hpp": "harness", "stages/track/01_first/stage.cu": "stages"}
        self.assertEqual({path: rooms.room_of(path) for path in paths}, paths)


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
        self.assertEqual(found.provenance(), "H200, 2026-01-01 to 2026-01-02, 01234567")
        again = run("2026-01-03", [group({"n": n}, [row("01_a", 4000), row("90_l", 1000)]) for n in (10, 100)])
        again["program"]["commit"] = "fedcba9876543210"
        self.assertEqual(self.records([later, first, again]).provenance(), "H200, 2026-01-03, fedcba98")

    def test_a_ceiling_in_the_cache_is_none_and_the_faster_one_counts(self):
        found = self.records([run("1", [group({"n": 10}, [row("01_a", 1)], [(900, True)]), group({"n": 100}, [row("01_a", 1)], [(1000, False), (950, False)])])])
        self.assertEqual(found.ceilings, {100: 950})

    def test_other_parameters_must_be_one_value(self):
        groups = [group({"n": 10, "type": f"float{bits}"}, [row("01_a", bits)]) for bits in (32, 64)]
        with self.assertRaisesRegex(ValueError, "--where type=float32"):
            self.records([run("1", groups)])
        found = self.records([run("1", groups)], {"type": "float64"})
        self.assertEqual(found.stages, {"01_a": {10: 64}})
        self.assertEqual(found.caption(), "type = float64, L2 cold")
        with self.assertRaisesRegex(ValueError, "no parameter size"):
            self.records([run("1", groups)], {"size": "1"})

    def test_a_stage_has_a_line_for_each_value_of_another_parameter(self):
        groups = [group({"n": n, "kind": kind}, [row("01_a", n * times), row("02_b", 1)]) for n in (10, 20) for kind, times in (("x", 3), ("y", 5))]
        found = plots.Records([run("1", groups)], "track", "n", {}, "01_a", "kind")
        self.assertEqual(found.stages, {"x": {10: 30, 20: 60}, "y": {10: 50, 20: 100}})
        with self.assertRaisesRegex(ValueError, "no parameter colour"):
            plots.Records([run("1", groups)], "track", "n", {}, "01_a", "colour")

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


def records_of(*runs):
    """Of a folder with these runs."""
    with tempfile.TemporaryDirectory() as directory:
        for number, one in enumerate(runs):
            (pathlib.Path(directory) / f"{number}.jsonl").write_text(json.dumps(one))
        return tables.Records(pathlib.Path(directory))


class Scaling(unittest.TestCase):
    """Tracks over several GPUs: one GPU's best is what more GPUs are compared with."""

    LINK = {"direct": True, "bytes": 4000, "timing": timing(10), "of_8_bytes": timing(9000)}

    def run_of(self, scaling, on_one, on_two):
        groups = [group({"n": 100, "gpus": gpus, "scaling": scaling}, [row(name, median) for name, median in medians.items()]) for gpus, medians in ((1, on_one), (2, on_two))]
        groups[1]["ceilings"][0]["link"] = self.LINK
        return run("2026-01-01", groups)

    def table(self, *runs):
        return tables.scaling(records_of(*runs), "track")

    def test_times_are_those_of_the_fastest_stage_on_one_gpu(self):
        text = self.table(self.run_of("strong", {"01_a": 4000, "02_b": 3800}, {"01_a": 2500, "02_b": 2000}))
        self.assertIn("One GPU's best stage, 02_b: 3.80 µs. From one GPU to another: 400 GB/s, 8 bytes in 9.00 µs.", text)
        self.assertIn("| 01_a | 2 | 2.50 µs | 1.520 | 76.0 % |", text)
        self.assertIn("| 02_b | 2 | 2.00 µs | 1.900 | 95.0 % |", text)

    def test_weak_scaling_does_more_work_in_the_time(self):
        text = self.table(self.run_of("weak", {"01_a": 4000}, {"01_a": 4100}))
        self.assertIn("| 01_a | 2 | 4.10 µs | 1.951 | 97.6 % |", text)

    def test_a_copy_through_the_host_is_told_and_a_broken_link_refused(self):
        one = self.run_of("strong", {"01_a": 4000}, {"01_a": 2000})
        one["groups"][1]["ceilings"][0]["link"] = {**self.LINK, "direct": False}
        self.assertIn("From one GPU to another, through the host's memory: 400 GB/s", self.table(one))
        for name in self.LINK:
            one["groups"][1]["ceilings"][0]["link"] = {key: value for key, value in self.LINK.items() if key != name}
            with self.assertRaisesRegex(tables.BrokenRecord, f"link has no {name}"):
                self.table(one)

    def test_several_processes_are_another_experiment_with_a_table_of_its_own(self):
        alone, together = self.run_of("strong", {"01_a": 4000}, {"01_a": 2000}), self.run_of("strong", {}, {"01_a": 2100, "02_b": 2200})
        del together["groups"][0]
        together.update(created="2026-01-02", options={"processes": 2, "launcher": "mpirun"})
        records = records_of(alone, together)
        self.assertIn("| 01_a | 2 | 2.00 µs | 2.000 | 100.0 % |", tables.scaling(records, "track"))
        text = tables.processes(records, "track")
        self.assertIn("| 01_a | 2 | gpus = 2, n = 100, scaling = strong | 2.10 µs | 2.00 µs |", text)
        self.assertIn("| 02_b | 2 | gpus = 2, n = 100, scaling = strong | 2.20 µs | - |", text)
        self.assertIn("started by mpirun", text)
        self.assertEqual(tables.processes(records, "other"), tables.NOTHING)

    def test_another_run_is_another_experiment(self):
        one, two = self.run_of("strong", {"01_a": 4000}, {"01_a": 2000}), self.run_of("strong", {"01_a": 9000}, {"01_a": 2000})
        del one["groups"][1], two["groups"][0]
        two["created"] = "2026-01-02"
        self.assertEqual(self.table(one, two), tables.NOTHING)
        self.assertEqual(self.table(one), tables.NOTHING)

    def test_the_plot_has_the_same_figures(self):
        records = plots.Records([self.run_of("weak", {"01_a": 4000, "02_b": 3800}, {"01_a": 4100})], "track", "gpus", {})
        self.assertAlmostEqual(records.speedup(2, records.stages["01_a"][2]), 2 * 3800 / 4100)
        strong = plots.Records([self.run_of("strong", {"01_a": 4000}, {"01_a": 2100})], "track", "gpus", {})
        self.assertAlmostEqual(strong.speedup(2, 2100), 4000 / 2100)

    def test_a_speedup_is_drawn_beside_the_number_of_gpus(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("no matplotlib")
        with tempfile.TemporaryDirectory() as directory:
            record, output = pathlib.Path(directory) / "run.json", pathlib.Path(directory) / "plot.svg"
            record.write_text(json.dumps(self.run_of("strong", {"01_a": 4000}, {"01_a": 2000})))
            plots.main(["speedup_against", "gpus", "--track", "track", "--output", str(output), str(record)])
            for text in ("as many times as GPUs", "times the fastest stage on one GPU", "01_a"):
                self.assertIn(text, output.read_text(encoding="utf-8"))

    def test_what_cannot_be_a_speedup_is_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            record = pathlib.Path(directory) / "run.json"
            one = self.run_of("strong", {"01_a": 4000}, {"01_a": 2000})
            record.write_text(json.dumps(one))
            call = ["--track", "track", "--output", f"{directory}/plot.svg", str(record)]
            with self.assertRaisesRegex(SystemExit, "against gpus, and not against scaling"):
                plots.main(["speedup_against", "scaling", "--where", "gpus=2", *call])
            del one["groups"][0]
            record.write_text(json.dumps(one))
            with self.assertRaisesRegex(SystemExit, "no time on one GPU"):
                plots.main(["speedup_against", "gpus", *call])


class Tables(unittest.TestCase):
    def page(self, runs, text, images=()):
        with tempfile.TemporaryDirectory() as directory:
            for place, one in enumerate(runs):
                (pathlib.Path(directory) / f"{place}.jsonl").write_text(json.dumps(one))
            for name in images:
                (pathlib.Path(directory) / name).touch()
            return tables.page(tables.Records(pathlib.Path(directory)), text, pathlib.Path(directory))

    def test_a_plot_is_shown_once_it_is_there(self):
        page = "<!-- plot: a.svg time against n -->\nold\n<!-- /plot -->\n"
        self.assertEqual(self.page([], page), "<!-- plot: a.svg time against n -->\n_Not recorded._\n<!-- /plot -->\n")
        self.assertEqual(self.page([], page, ["a.svg"]), "<!-- plot: a.svg time against n -->\n![time against n](a.svg)\n<!-- /plot -->\n")

    def test_an_unstable_row_is_marked_with_its_quartiles_and_noise_decides_no_ratio(self):
        page = "<!-- measured: track/02_b -->\n<!-- /measured -->\n<!-- ladder: track -->\n<!-- /ladder -->\n"
        for spread, is_marked in ((0.045, True), (0.22, True), (0.031, False), (0.005, False)):
            rows = [row("01_a", 8000), row("02_b", 4000, timing=timing(4000, spread))]
            found = self.page([run("1", [group({"n": 10}, rows)])], page)
            self.assertEqual("unstable" in found, is_marked, found)
            self.assertIn("µs | 2.00 | 25.0 %", found)
        self.assertIn("25.0 %, unstable: 3.91 to 4.09 µs", self.page([run("1", [group({"n": 10}, [row("02_b", 4000, timing=timing(4000, 0.045))])])], page))
        rows = [row("01_a", 4000, timing=timing(4000, 0.02)), row("02_b", 3970, timing=timing(3970, 0.02)), row("90_l", 3970, library=True)]
        self.assertIn("| ~ | ~ |", self.page([run("1", [group({"n": 10}, rows)])], page))

    def test_an_error_is_shown_as_a_part_of_the_bound_of_its_own_trial(self):
        checked = {"largest_error": 0.65, "relative_error": 7e-05, "relative_bound": 2e-05, "reproducible": True}
        page = "<!-- accuracy: track -->\n<!-- /accuracy -->\n"
        self.assertIn("| 01_a | n = 10 | 2e-05 | 65 % | yes |", self.page([run("1", [group({"n": 10}, [row("01_a", 1000, verification=checked)])])], page))

    def test_a_ladder_of_chosen_parameters_has_no_others(self):
        groups = [group({"n": n, "kind": kind}, [row("01_a", time)]) for n, kind, time in ((10, "a", 1500), (20, "a", 2000), (20, "b", 3000))]
        found = self.page([run("1", groups)], "<!-- ladder: track@n=20,kind=b -->\n<!-- /ladder -->\n")
        self.assertIn("3.00 µs", found)
        self.assertNotIn("1.50 µs", found)
        self.assertNotIn("2.00 µs", found)
        self.assertIn("_Not recorded._", self.page([run("1", groups)], "<!-- ladder: track@kind=c -->\n<!-- /ladder -->\n"))

    def test_processes_that_disagree_are_unstable(self):
        page = "<!-- ladder: track -->\n<!-- /ladder -->\n"

        def two(second, **more):
            return self.page([run("1", [group({"n": 10}, [row("01_a", 1000, sources="a" * 40)])]), run("2", [group({"n": 10}, [row("01_a", second, **more)])])], page)

        self.assertIn("unstable", two(1040, sources="a" * 40))
        self.assertNotIn("unstable", two(1020, sources="a" * 40))
        self.assertNotIn("unstable", two(1040, sources="b" * 40))  # another kernel may be slower
        self.assertNotIn("unstable", two(1040))

    def test_a_table_names_the_kernels_that_have_changed_since_they_were_recorded(self):
        page = "<!-- ladder: elementwise -->\n<!-- /ladder -->\n<!-- measured: elementwise/01_naive -->\n<!-- /measured -->\n"
        digests = source_digest.Tree().digests()["stages"]

        def shown(first, second):
            rows = [{**row("x", 1000), "stage": stage, **({"sources": sources} if sources else {})} for stage, sources in (("elementwise/01_naive", first), ("elementwise/02_grid_stride", second))]
            return self.page([run("1", [{**group({"n": 10}, rows), "track": "elementwise"}])], page)

        now = [digests["elementwise/01_naive"], digests["elementwise/02_grid_stride"]]
        self.assertNotIn("earlier version", shown(*now))
        self.assertEqual(shown(now[0], "0" * 40).count("(earlier versions of 02_grid_stride)."), 1)
        self.assertEqual(shown(None, None).count("(earlier versions of these kernels)."), 1)
        self.assertEqual(shown(None, None).count("(an earlier version of the kernel)."), 1)

    def test_a_broken_record_is_one_line_with_its_name(self):
        whole = run("1", [group({"n": 10}, [row("01_a", 1000)])])
        text = json.dumps(whole)

        def without(*path):
            record = json.loads(text)
            place = record
            for name in path[:-1]:
                place = place[name]
            del place[path[-1]]
            return json.dumps(record)

        def with_value(value, *path):
            record = json.loads(text)
            place = record
            for name in path[:-1]:
                place = place[name]
            place[path[-1]] = value
            return json.dumps(record)

        one_row = ("groups", 0, "rows", 0)
        broken = [
            text[: len(text) // 2], "\n", text + "\n\n" + text, "no JSON", "[]", "{}", "null", "3", '{"schema": 3}', "[" * 100_000, text.encode() + b"\xff", b"\xff\xfe",
            text.replace('"median": 1000', '"median": NaN', 1), text.replace('"median": 1000', '"median": Infinity', 1), text.replace('"median": 1000', '"median": 1e999', 1),
            with_value("kernel-lab", "schema"), with_value(2, "version"), with_value([], "device"), with_value({}, "groups"), with_value([3], "groups"),
            with_value("fast", *one_row, "timing", "median"), with_value(0, *one_row, "timing", "median"), with_value(-1, *one_row, "timing", "median"),
            with_value([], *one_row, "timing", "samples"), with_value(["x"], *one_row, "timing", "samples"), with_value(None, *one_row, "timing"),
            with_value("fine", *one_row, "status"), with_value("stage", *one_row, "stage"), with_value(None, "groups", 0, "parameters", "n"), with_value(True, *one_row, "timing", "spread"),
            with_value([{}], "groups", 0, "ceilings"), with_value(7, *one_row, "sources"), with_value([2], *one_row), with_value({"unit": "s", **timing(1)}, *one_row, "timing"), with_value("x", *one_row, "timing", "upper_quartile"),
            *(without(name) for name in ("version", "created", "device", "program", "groups")),
            *(without("device", name) for name in ("name", "driver", "toolkit")), without("program", "commit"),
            *(without("groups", 0, name) for name in ("track", "parameters", "l2", "fewest_bytes", "ceilings", "rows")),
            *(without(*one_row, name) for name in ("stage", "library", "status", "message", "timing")),
            *(without(*one_row, "timing", name) for name in ("median", "spread", "samples", "unstable")),
        ]
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "broken.jsonl"
            for content in broken:
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
                with self.subTest(content=content[:300]):
                    with self.assertRaises(tables.BrokenRecord) as caught:
                        tables.page(tables.Records(pathlib.Path(directory)), "<!-- ladder: track -->\n<!-- /ladder -->\n", pathlib.Path(directory))
                    self.assertTrue(str(caught.exception).startswith(f"{path}: "), caught.exception)
                    self.assertNotIn("\n", str(caught.exception))
            path.write_text("")
            self.assertEqual(tables.Records(pathlib.Path(directory)).rows, {})
            path.unlink()
            path.mkdir()
            with self.assertRaises(tables.BrokenRecord):
                tables.Records(pathlib.Path(directory))

    def test_the_script_ends_with_the_line_and_not_with_a_trace(self):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            reports = pathlib.Path(tables.__file__).parent
            (root / "reports" / "h200").mkdir(parents=True)
            (root / "docs").mkdir()
            (root / "docs" / "results.schema.json").write_text((reports.parent / "docs" / "results.schema.json").read_text())
            (root / "harness").mkdir()
            (root / "harness" / "counters.json").write_text((reports.parent / "harness" / "counters.json").read_text())
            for name in ("claims.py", "tables.py", "counted.py", "counters.py", "nsight.py", "track_notes.py", "source_digest.py"):
                (root / "reports" / name).write_text((reports / name).read_text())
            (root / "reports" / "h200" / "cut.jsonl").write_text('{"schema": ')
            done = subprocess.run([sys.executable, "-B", root / "reports" / "tables.py", "--check"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn("h200/cut.jsonl: line 1: ", done.stderr)


class Claims(unittest.TestCase):
    EXAMPLES = json.loads((pathlib.Path(__file__).resolve().parents[1] / "claims.json").read_text())

    def test_they_hold_and_speak_of_devices_as_the_program_has_it(self):
        for example in self.EXAMPLES["judged"]:
            self.assertEqual(claims.holds(example, example["figure"]), example["kept"], example)
        for example in self.EXAMPLES["where"]:
            claim = {"device": example.get("of"), "compute_capability": example.get("compute_capability")}
            device = {"name": example["device"], "compute_capability": "9.0"}
            self.assertEqual(claims.speaks_of(claim, device), example["speaks"], example)

    def test_the_stages_claims_can_be_read(self):
        self.assertGreater(len(claims.read_all()), 0)

    def records(self, device, median):
        one = run("1", [group({"n": 10, "type": "float32"}, [row("01_a", 1000), row("02_b", median)])], device)
        one["device"]["compute_capability"] = "9.0"
        return records_of(one)

    def test_records_of_all_devices_are_put_beside_a_claim_and_may_break_it(self):
        records = self.records("NVIDIA H200", 500)
        records.other_devices = [self.records("NVIDIA H100 80GB HBM3", 800)]

        def predicted(**more):
            records.broken = []
            one = {"metric": "speedup", "holds": "at_least", "value": 1.5, "at": {"type": "float32"}, "compute_capability": "9.0", "because": "half the bytes", **more}
            records.claims = {"track/02_b": claims.complete({"claims": [one]})}
            return tables.predicted(records, "track/02_b")

        self.assertIn("| times as fast as the stage before: at least 1.5 (type = float32) | half the bytes | 2.00 on H200, 1.25 on H100 | wrong |", predicted())
        self.assertEqual(len(records.broken), 1)
        self.assertIn("the record of H100 says 1.25", records.broken[0])
        self.assertIn("| 2.00 on H200 | right |", predicted(device="H200"))
        self.assertEqual(records.broken, [])
        self.assertIn("| - | - |", predicted(at={"type": "float64"}))
        # A bound of after the measurement predicts nothing, and is tested all the same.
        self.assertEqual(predicted(after_measurement=True), "_The bounds that are tested were set after the measurement._\n")
        self.assertEqual(len(records.broken), 1)

    def test_a_counter_stands_beside_its_claims_and_one_without_a_figure_is_refused(self):
        records = self.records("NVIDIA H200", 500)
        requests, sectors = (f"l1tex__t_{what}_pipe_lsu_mem_global_op_ld.sum" for what in ("requests", "sectors"))
        at = {"n": 100000, "type": "float32"}
        own = [
            {"metric": sectors, "per": requests, "holds": "equal", "value": 8, "at": at, "because": "wide"},
            {"metric": requests, "over_previous": True, "holds": "at_most", "value": 0.25, "at": {**at, "type": "float64"}},
            {"metric": requests, "over_previous": True, "holds": "at_least", "value": 0.2, "at": {**at, "type": "float64"}},
        ]
        records.claims = {"track/02_b": claims.complete({"claims": own})}
        figures = [("track/02_b", one["metric"], one.get("per"), one.get("over_previous", False), tuple(sorted({**one["at"], "n": 1e5}.items()))) for one in own]

        def predicted(first, second):
            records.broken, records.figures = [], {figures[0]: first, figures[1]: second}
            return tables.predicted(records, "track/02_b")

        found = predicted(8.0, 0.24951)
        self.assertIn("| load sectors / load requests: 8 (type = float32) | wide | 8 | right |", found)
        self.assertIn("| load requests, over the stage before's: 0.2 to 0.25 (type = float64) |  | 0.25 | right |", found)
        self.assertIn("are the emulator's, at n = 1e5.", found)
        self.assertEqual(records.broken, [])
        self.assertIn("| wide | 7.5 | wrong |", predicted(7.5, 0.24))
        self.assertEqual(len(records.broken), 1)
        self.assertIn("| wide | - | - |", predicted(None, 0.24))
        self.assertIn(f"has no figure of {sectors}", records.broken[0])

    def test_no_other_stage_stands_in_for_a_new_one_that_was_never_timed(self):
        one = run("1", [group({"n": 10}, [row("01_a", 1000), row("02_b", 500), row("90_l", 250, library=True)])])
        one["device"]["compute_capability"] = "9.0"
        records = records_of(one)
        records.broken = []
        claim = {"metric": "speedup", "holds": "at_least", "value": 1, "at": {"n": 10}, "compute_capability": "9.0"}
        records.claims = {"track/02_b": claims.complete({"claims": [claim]})}
        for stages, found in ((["01_a", "02_b"], "2.00"), (["01_a", "01b_new", "02_b"], "-"), (["01_a", "02_b", "03_new"], "2.00")):
            records.digests = {f"track/{name}": "" for name in stages} | {"tracks/01b_other": ""}
            self.assertEqual(tables.predicted(records, "track/02_b").splitlines()[2].split("|")[3].strip().split()[0], found, stages)
            self.assertEqual("x previous" in tables.measured(records, "track/02_b"), found == "2.00", stages)

    def test_no_other_stage_stands_in_for_one_that_was_timed_in_another_run(self):
        runs = [run("1", [group({"n": 10}, [row("01_a", 1000), row("03_c", 400)])]), run("2", [group({"n": 10}, [row("02_b", 800), row("04_d", 100)])])]
        for one in runs:
            one["device"]["compute_capability"] = "9.0"
        records = records_of(*runs)
        records.other_devices, records.broken = [], []

        def recorded(stage, metric):
            one = {"metric": metric, "holds": "at_least", "value": 1, "at": {"n": 10}, "compute_capability": "9.0"}
            records.claims = {stage: claims.complete({"claims": [one]})}
            return tables.predicted(records, stage).splitlines()[2].split("|")[3].strip().split()[0]

        self.assertEqual(recorded("track/03_c", "speedup_over_first"), "2.50")
        self.assertEqual(recorded("track/03_c", "speedup"), "-")  # and not 2.5 times as fast as the stage before
        self.assertEqual(recorded("track/04_d", "speedup_over_first"), "-")  # and not 8 times as fast as 02_b
        self.assertEqual(recorded("track/04_d", "speedup"), "-")


class Digests(unittest.TestCase):
    def test_comments_and_white_space_are_no_code_and_all_else_is(self):
        source = 'int a = 1\'000; // one\nchar b[] = "/* no comment */ // nor this";\n#define C \\\n  2\nauto d = R"x(// )" \n kept)x";\n'
        commented = ('/* first\n */ int   a = 1\'000;\n\n   char b[] = /* here */ "/* no comment */ // nor this";   // and \\\n here\n'
                     '#define C \\\n  2\nauto d = R"x(// )" \n kept)x"; // exercise: end\n')
        self.assertEqual(source_digest.code_text(source), source_digest.code_text(commented))
        for old, new in (("1\'000", "1\'001"), ("nor this", "or this"), (" kept", "kept"), ("#define C \\\n", "#define C\n"), ("int a", "inta"),
                         ("int a", "int\n#define X\n a")):
            self.assertNotEqual(source_digest.code_text(source), source_digest.code_text(source.replace(old, new)), old)

    def tree(self, files):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        for name, text in files.items():
            path = pathlib.Path(directory.name) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return source_digest.Tree(directory.name)

    FILES = {
        "stages/t/01_a/stage.cu": '#include "stages/t/problem.hpp"\n#  include "near.hpp"\n#include <vector>\n// #include "common/comment.hpp"\n',
        "stages/t/01_a/near.hpp": "",
        "stages/t/problem.hpp": '#include "common/a.hpp"\n#include "harness/device/stage.hpp"\n',
        "common/a.hpp": '#include "common/b.hpp"\n',
        "common/b.hpp": '#include "common/a.hpp"\n',  # in a circle
        "common/comment.hpp": "",
        "harness/device/stage.hpp": '#include "common/of_harness.hpp"\n',
        "common/of_harness.hpp": "",
        "stages/t/02_b/stage.cu": "",
        "stages/t/track.cpp": '#include "stages/t/problem.hpp"\nint of_track = 1;\n',
        source_digest.VERIFIER: "inline constexpr int verifier_version = 1;\n",
    }

    def test_a_stage_is_its_source_and_what_that_includes_outside_the_harness(self):
        found = self.tree(self.FILES).files_of("t/01_a")
        self.assertEqual(found, {"stages/t/01_a/stage.cu", "stages/t/01_a/near.hpp", "stages/t/problem.hpp", "common/a.hpp", "common/b.hpp"})

    def test_every_token_of_a_kernel_counts_but_no_comment_and_nothing_that_its_track_says(self):
        whole = self.tree(self.FILES).digests()
        self.assertEqual(self.tree(self.FILES).digests(), whole)  # wherever it lies
        for name in self.FILES:
            commented = self.tree({**self.FILES, name: self.FILES[name] + "// why\n"}).digests()
            changed = self.tree({**self.FILES, name: self.FILES[name] + "int more;\n"}).digests()
            with self.subTest(name=name):
                self.assertNotEqual(commented["tree"], whole["tree"])
                self.assertEqual(commented["stages"], whole["stages"])
                own = name in self.tree(self.FILES).kernel_files("t/01_a")
                self.assertEqual(changed["stages"]["t/01_a"] != whole["stages"]["t/01_a"], own)
        self.assertEqual(set(self.tree(self.FILES).files_of("t/01_a")) - set(self.tree(self.FILES).kernel_files("t/01_a")), {"stages/t/problem.hpp"})
        self.assertEqual(set(whole["stages"]), {"t/01_a", "t/02_b"})

    def test_a_proof_is_about_the_tokens_of_the_stage_its_track_and_the_verifier(self):
        stage, track = "stages/t/01_a/stage.cu", "stages/t/track.cpp"
        whole = self.tree(self.FILES).proofs()

        def changes(name, text):
            return self.tree({**self.FILES, name: text}).proofs()["t/01_a"] != whole["t/01_a"]

        self.assertFalse(changes(stage, "// why\n" + self.FILES[stage]))
        self.assertFalse(changes(track, self.FILES[track].replace("int of_track = 1;", "int\n  of_track =\n  1; /* said twice */")))
        self.assertFalse(changes("stages/t/02_b/stage.cu", "int other;\n"))
        self.assertFalse(changes("harness/device/stage.hpp", "int harness;\n"))
        self.assertTrue(changes(stage, self.FILES[stage] + "int added;\n"))
        self.assertTrue(changes(track, self.FILES[track].replace("1", "2")))
        self.assertTrue(changes("common/b.hpp", "int below;\n"))
        self.assertTrue(changes(source_digest.VERIFIER, "inline constexpr int verifier_version = 2;\n"))
        # A directive ends with its line, and what stands in a text counts.
        self.assertTrue(changes(track, self.FILES[track].replace('hpp"\nint', 'hpp" int')))
        self.assertNotEqual(source_digest.tokens('a("x // y");'), source_digest.tokens('a("x ");'))

    def test_a_proof_is_by_the_tokens_of_the_verifier_and_of_the_emulator(self):
        judges = ["common/emulator/core/launch.cpp", "harness/device/verify/verifier.cpp", "common/stream.hpp"]
        files = dict.fromkeys([*judges, "common/emulator/observe/metrics.cpp", "common/emulator/programs/cufft.cpp", "harness/front/lab.cpp"], "")
        whole = self.tree(files).judges()
        for name in files:
            with self.subTest(name=name):
                self.assertEqual(self.tree({**files, name: "// why\n"}).judges(), whole)
                self.assertEqual(self.tree({**files, name: "int more;\n"}).judges() != whole, name in judges)
        found = {"emulator": {"t/01_a": {"judges": "now"}, "t/02_b": {"judges": "before"}, "t/03_c": {}}, "sm_90": {"t/01_a": {}}}
        self.assertEqual(proofs.of_earlier_judges(found, "now"), {"t/02_b", "t/03_c"})

    def test_recorded_proofs_that_do_not_match_are_told(self):
        digests = {"t/01_a": "new", "t/02_b": "same"}
        found = {"emulator": {"t/01_a": {"digest": "old"}, "t/02_b": {"digest": "same"}}, "sm_90": {"t/03_c": {"digest": "x"}}}
        lines = proofs.problems(found, digests, {"t/01_a", "t/02_b", "t/04_d"})
        self.assertEqual(lines, ["emulator: t/01_a has changed since it was proved", "sm_90: there is no stage t/03_c",
                                 "emulator: t/04_d has no proof"])
        self.assertEqual(proofs.problems({"emulator": {"t/02_b": {"digest": "same"}}}, digests, {"t/02_b"}), [])

    def test_a_file_is_named_as_git_names_it(self):
        tree = self.tree({"common/a.hpp": "hello\n"})
        self.assertEqual(tree.blob("common/a.hpp"), "ce013625030ba8dba906f756967f9e9ca394464a")

    def test_a_file_that_is_there_already_is_left_alone(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "sources.json"
            source_digest.main(["--output", str(path)])
            before = path.stat().st_mtime_ns
            source_digest.main(["--output", str(path)])
            self.assertEqual(path.stat().st_mtime_ns, before)
            self.assertIn("elementwise/01_naive", json.loads(path.read_text())["stages"])


if __name__ == "__main__":
    unittest.main()
