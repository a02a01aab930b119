#!/usr/bin/env python3
"""reports/record.py with a program that stands in for the lab: what it asks for, what it keeps, and what it leaves alone."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "reports"))

import record
import tables

TODAY = tables.todays_digests()
OLD = "0" * 40
STAGES = ["elementwise/01_naive", "elementwise/02_grid_stride"]
# Answers as `lab run` does, for one size after the other; a time of 1e6 is one that is cut short. Each call is noted.
LAB = """#!{python}
import json, pathlib, signal, sys, time
words = sys.argv[1:]
here = pathlib.Path(__file__).parent
path = pathlib.Path(words[words.index("--json") + 1])
if words[0] == "describe":
    path.write_text(json.dumps({{"tracks": [{{"name": "elementwise", "parameters": [{{"name": "n", "defaults": {{"bench": 1000}}}}]}}]}}))
    sys.exit()
with open(here / "calls", "a") as calls:
    print(*words[: words.index("--json")], *words[words.index("--json") + 2 :], file=calls)
answer = json.loads((here / "answer.json").read_text())
sizes = [int(size) for size in words[words.index("--n") + 1].split(",")] if "--n" in words else [1000]
stages = [word for word in words if word.startswith("elementwise/")]
groups = []
def write(complete):
    path.write_text(json.dumps({{**answer, "created": "2030-01-01T00:00:00Z", "complete": complete, "groups": groups}}))
def stop(*_):
    write(False)
    sys.exit(130)
signal.signal(signal.SIGINT, stop)
for size in sizes:
    if size == 1_000_000:
        time.sleep(60)
    group = json.loads(json.dumps(answer["groups"][0]))
    group["parameters"] = {{"n": size}}
    group["rows"] = [row for row in group["rows"] if row["stage"] in stages]
    groups.append(group)
write(True)
sys.exit({code})
"""


def document(created, rows, size=1000):
    run = tables.read_records(ROOT / "reports" / "h200" / "elementwise.jsonl")[0]
    template = run["groups"][0]["rows"][0]
    made = []
    for stage, sources, status, median in rows:
        timing = None if status != "ok" else {**template["timing"], "median": median, "samples": [median] * 5}
        made.append({**template, "stage": stage, "sources": sources, "status": status, "message": "wrong at 7", "timing": timing})
    return {**run, "created": created, "groups": [{**run["groups"][0], "parameters": {"n": size}, "rows": made}]}


class Recording(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.place = pathlib.Path(scratch.name)
        self.folder = self.place / "records"
        self.folder.mkdir()
        self.answer([(stage, TODAY[stage], "ok", 50.0) for stage in STAGES])

    def answer(self, rows, code=0):
        (self.place / "answer.json").write_text(json.dumps(document("2030-01-01T00:00:00Z", rows)))
        lab = self.place / "lab"
        lab.write_text(LAB.format(python=sys.executable, code=code))
        lab.chmod(0o755)

    def put(self, *rows, **with_size):
        with open(self.folder / "elementwise.jsonl", "a", encoding="utf-8") as records:
            records.write(json.dumps(document("2020-01-01T00:00:00Z", rows, **with_size)) + "\n")

    def call(self, *words):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            code = record.main(["--folder", str(self.folder), "--lab", str(self.place / "lab"), *words])
        return code, said.getvalue()

    def calls(self):
        path = self.place / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def rows(self, folder=None):
        """What counts: the newest row of each stage and size."""
        sets = tables.Records(folder or self.folder).rows.get("elementwise", {})
        return sorted((dict(parameters)["n"], stage, row["sources"]) for parameters, stages in sets.items() for stage, row in stages.items())

    def lines(self):
        return (self.folder / "elementwise.jsonl").read_text().splitlines()

    def test_what_older_kernels_left_is_measured_again_and_it_alone(self):
        self.put((STAGES[0], OLD, "ok", 70.0), (STAGES[1], TODAY[STAGES[1]], "ok", 60.0))
        code, said = self.call("--", "--time-limit", "0.5")
        self.assertEqual((code, self.calls()), (0, [f"run {STAGES[0]} --time-limit 0.5"]))
        self.assertIn("1 of 1 rows recorded", said)
        self.assertEqual(self.rows(), [(1000, stage, TODAY[stage]) for stage in STAGES])
        # The line of both keeps the row of today's kernel, and that one alone.
        kept = [[(row["stage"], row["timing"]["median"]) for group in json.loads(line)["groups"] for row in group["rows"]] for line in self.lines()]
        self.assertEqual(kept, [[(STAGES[1], 60.0)], [(STAGES[0], 50.0)]])
        self.assertEqual(self.call("--list"), (0, ""))
        # Nothing is wanted now, and so nothing is run.
        self.assertEqual(self.call()[0], 0)
        self.assertEqual(len(self.calls()), 1)

    def test_what_several_processes_measured_is_no_row_of_one_process(self):
        self.put((STAGES[0], OLD, "ok", 70.0))
        self.put((STAGES[1], OLD, "skipped", None), size=2000)
        of_processes = document("2031-01-01T00:00:00Z", [(STAGES[0], OLD, "ok", 40.0)])
        of_processes["options"]["processes"] = 2
        with open(self.folder / "elementwise.jsonl", "a", encoding="utf-8") as records:
            records.write(json.dumps(of_processes) + "\n")
        self.assertEqual(self.call()[0], 0)
        self.assertEqual(self.rows(), [(1000, STAGES[0], TODAY[STAGES[0]]), (2000, STAGES[1], OLD)])
        self.assertEqual(len(tables.Records(self.folder).processes), 1)

    def test_sizes_of_the_same_stages_are_one_call_and_a_line_each(self):
        for size in (1000, 2000, 3000):
            self.put((STAGES[0], OLD, "ok", 70.0), size=size)
        self.put((STAGES[0], OLD, "ok", 70.0), (STAGES[1], OLD, "ok", 70.0), size=4000)
        self.assertEqual(self.call()[0], 0)
        self.assertEqual(self.calls(), [f"run {STAGES[0]} --n 1000,2000,3000", f"run {STAGES[0]} {STAGES[1]} --n 4000"])
        self.assertEqual(len(self.lines()), 5)
        self.assertTrue(all(sources == TODAY[stage] for _, stage, sources in self.rows()))

    def test_a_row_that_fails_has_no_record_and_the_old_one_stays(self):
        self.put(*[(stage, OLD, "ok", 70.0) for stage in STAGES])
        self.answer([(STAGES[0], TODAY[STAGES[0]], "ok", 50.0), (STAGES[1], TODAY[STAGES[1]], "failed", None)], code=1)
        code, said = self.call()
        self.assertEqual(code, 1)
        self.assertIn(f"{STAGES[1]}: failed: wrong at 7", said)
        self.assertIn("1 of 2 rows recorded", said)
        self.assertEqual(self.rows(), [(1000, STAGES[0], TODAY[STAGES[0]]), (1000, STAGES[1], OLD)])

    def test_a_call_that_is_cut_short_keeps_what_it_finished(self):
        for size in (1000, 1_000_000):
            self.put((STAGES[0], OLD, "ok", 70.0), size=size)
        code, said = self.call("--seconds", "3")
        self.assertEqual(code, 1)
        self.assertIn("1 of 2 rows recorded", said)
        self.assertEqual(self.rows(), [(1000, STAGES[0], TODAY[STAGES[0]]), (1_000_000, STAGES[0], OLD)])

    def test_another_device_gets_what_is_recorded_of_the_first(self):
        self.put((STAGES[0], TODAY[STAGES[0]], "ok", 70.0), (STAGES[1], TODAY[STAGES[1]], "ok", 7e9))
        other = self.place / "other"
        code, _ = self.call("--like", str(self.folder), "--folder", str(other), "--longest", "2")
        self.assertEqual((code, self.calls()), (0, [f"run {STAGES[0]}"]))
        self.assertEqual(self.rows(other), [(1000, STAGES[0], TODAY[STAGES[0]])])
        self.assertEqual(len(self.lines()), 1)

    def test_results_from_elsewhere_are_placed_if_they_are_of_todays_kernels(self):
        self.put((STAGES[0], OLD, "ok", 70.0))
        mine, foreign = self.place / "mine.json", self.place / "foreign.json"
        mine.write_text(json.dumps(document("2030-01-01T00:00:00Z", [(STAGES[0], TODAY[STAGES[0]], "ok", 50.0)])))
        foreign.write_text(json.dumps(document("2030-01-01T00:00:00Z", [(STAGES[0], "1" * 40, "ok", 50.0)])))
        code, said = self.call("--place", str(foreign))
        self.assertEqual((code, self.rows()), (1, [(1000, STAGES[0], OLD)]))
        self.assertIn("foreign.json: no row of today's kernels", said)
        self.assertEqual(self.call("--place", str(mine), "--commit", "abcdef0")[0], 0)
        self.assertEqual(self.rows(), [(1000, STAGES[0], TODAY[STAGES[0]])])
        self.assertEqual(json.loads(self.lines()[-1])["program"]["commit"], "abcdef0")

    def test_bad_calls_are_refused_and_change_nothing(self):
        self.put((STAGES[0], OLD, "ok", 70.0))
        before = self.lines()
        (self.place / "no.json").write_text("{")
        for words, said in (
            (["--commit", "main"], "no hash of a commit"),
            (["--results", str(self.place / "none")], "no directory"),
            (["--like", str(self.place / "none")], "no directory"),
            (["--", "--json", "x"], "--json is not for"),
            (["--place", str(self.place / "no.json")], "no.json: "),
            (["--place", str(self.place / "none.json")], "none.json: "),
            (["--folder", str(self.place / "none")], "no directory, and no --like"),
        ):
            with self.subTest(words=words), self.assertRaises((SystemExit, tables.BrokenRecord)) as refused:
                self.call(*words)
            self.assertIn(said, str(refused.exception))
        self.assertEqual((self.calls(), self.lines()), ([], before))


if __name__ == "__main__":
    unittest.main()
