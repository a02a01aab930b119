"""Pages of `lab report` and the picture of the moving average's ladder: their texts and figures, and what they refuse. Where
Chromium and Plotly's script are installed, the page is opened, and the figures that it has drawn are read."""

import base64
import contextlib
import html.parser
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from html import escape
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "reports"))

import ladder_picture
import report
import report_figures
import tables

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


def dom_of(page, *options):
    """A page's document after its scripts have run; a page may look into the frames of its folder."""
    with tempfile.TemporaryDirectory() as home:
        return subprocess.run(
            [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", f"--user-data-dir={home}/profile",
             "--virtual-time-budget=10000", "--window-size=1200,900", *options, "--dump-dom", page.as_uri()],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=120, check=False, env={**os.environ, "HOME": home},
        ).stdout


def plotly_problem():
    try:
        report.plotly_script(None)
    except report.Refused as problem:
        return str(problem)
    return None


def timing(median, spread=0.002, **more):
    samples = [median * (1 + part * spread) for part in (-1, -0.5, 0, 0.5, 1)]
    return {"median": median, "spread": spread, "samples": samples, "unstable": False, "lower_quartile": samples[1], "upper_quartile": samples[3], **more}


def row(stage, median, light=None, status="ok", library=False, **more):
    return {"stage": f"track/{stage}", "library": library, "status": status, "message": None if status == "ok" else "because of <b>",
            "timing": timing(median) if median else None, "speed_of_light": light, "over_previous": 2.0, "over_first": 1234.0, "over_library": None, **more}


def group(n, rows, ceiling=1e6, **more):
    ceilings = [{"kind": "copy", "bytes": 4_000_000, "cached": False, "timing": timing(ceiling)}] if ceiling else []
    return {"track": "track", "title": "A track & more", "parameters": {"n": n}, "l2": "cold", "fewest_bytes": 4_000_000 if ceilings else None,
            "ceilings": ceilings, "ceiling_problem": None, "rows": rows, **more}


def run(groups, **more):
    return {"schema": "kernel-lab-results", "version": 1, "verb": "run", "created": "2026-01-01T00:00:00Z", "complete": True, "seed": 7,
            "device": {"id": "cuda:0", "name": "GPU X", "driver": "580", "toolkit": "13.0", "sm_clock_mhz": 1980.0}, "floor": timing(3000.0),
            "program": {"name": "Kernel Lab", "version": "0.1", "commit": "0123456789abcdef"}, "kernels": {"compiler": "g++ 13", "flags": "-O3"}, "groups": groups, **more}


def whole():
    """A run with all that a page can show."""
    first = [row("01_naive", 4e6, 0.25), row("02_fast", 1.1e6, 0.909, processes=[timing(1.1e6), timing(1.2e6)]), row("03_wrong", None, status="failed"), row("90_library", 2e6, 0.5, library=True)]
    second = [row("01_naive", 8e6, 0.125), row("02_fast", 1.2e6, 0.833)]
    return run([group(1000, first), group(2000, second)])


def counters():
    def stage(name, loads):
        return {"stage": f"track/{name}", "failure": None, "skipped": None, "profile": {"modelled": True, "kernels": [{"name": "k", "launches": 1, "metrics": {"loads.sum": loads, "none.sum": 0}, "lines": []}]}}

    return {"schema": "kernel-lab-profile", "version": 2, "device": {"id": "emulator", "name": "CPU Y"}, "source": "emulator, modelled", "stages": [stage("01_naive", 32000), stage("02_fast", 1000)]}


class Texts(html.parser.HTMLParser):
    """The texts of a page outside its scripts and styles, and the tags it has."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.tags, self.raw = [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.raw = tag if tag in ("script", "style") else None

    def handle_endtag(self, tag):
        self.raw = None

    def handle_data(self, data):
        if not self.raw and data.strip():
            self.texts.append(data.strip())


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def put(self, document, name="run.json"):
        path = self.directory / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return path

    def call(self, *arguments):
        """The exit code of a call, and what it prints."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = report.main([str(one) for one in arguments])
        return code, printed.getvalue()

    def page(self, *documents):
        files = [self.put(document, f"{place}.json") for place, document in enumerate(documents)]
        output = self.directory / "page.html"
        code, printed = self.call(*files, "--output", output, "--no-figures")
        self.assertEqual(code, 0, printed)
        return output.read_text()


class Pages(Case):
    def test_the_link_between_gpus_stands_beside_the_speed_of_light(self):
        document = whole()
        document["groups"][0]["ceilings"][0]["link"] = {"direct": True, "bytes": 4000, "timing": timing(10), "of_8_bytes": timing(9000)}
        self.assertIn("a copy of 4 MB in 1.00 ms (4 GB/s). From one GPU to another: 400 GB/s, 8 bytes in 9.00 µs.", self.page(document))

    def test_the_page_tells_what_the_record_does(self):
        texts = Texts(self.page(whole(), counters())).texts
        for text in ("track on GPU X, CPU Y", "track: A track & more", "n = 1000, L2 cold", "580", "3.00 µs", "4.00 ms", "25.0 %", "90.9 %",
                     "FAIL: because of <b>", "90_library (library)", "1234×", "5 × 2", "loads.sum", "32\u202f000", "0.json"):
            self.assertIn(text, texts)
        self.assertIn("Speed of light, measured in the same run: a copy of 4 MB in 1.00 ms (4 GB/s).", texts)
        self.assertNotIn("none.sum", texts)  # a counter of zeros
        self.assertNotIn("of the fastest library", texts)  # a column of nothing

    def test_the_record_can_be_had_back_from_the_page(self):
        links = [attributes for tag, attributes in Texts(self.page(whole())).tags if tag == "a" and "download" in attributes]
        self.assertEqual([link["download"] for link in links], ["0.json"])
        self.assertEqual(json.loads(base64.b64decode(links[0]["href"].split(",", 1)[1])), whole())

    def test_texts_of_a_record_are_no_markup(self):
        document = whole()
        document["groups"][0]["rows"][0]["stage"] = f"track/{HOSTILE}"
        document["groups"][0]["title"] = document["device"]["name"] = document["program"]["version"] = HOSTILE
        document["groups"][0]["rows"][2]["message"] = HOSTILE
        parsed = Texts(self.page(document))
        self.assertNotIn("script", [tag for tag, _ in parsed.tags])
        self.assertNotIn("img", [tag for tag, _ in parsed.tags])
        self.assertIn(f"FAIL: {HOSTILE}", parsed.texts)

    def test_json_cannot_end_the_script_that_holds_it(self):
        text = report.json_in_page({"name": "</script><!-- \u2028", "ampersand": "&"})
        self.assertIsNone(re.search("[<>&\u2028]", text))
        self.assertEqual(json.loads(text), {"name": "</script><!-- \u2028", "ampersand": "&"})
        with self.assertRaises(ValueError):
            report.json_in_page(float("nan"))

    def test_the_emulators_times_are_said_to_be_the_hosts(self):
        document = run([group(1000, [row("01_naive", 4e6)], ceiling=None)], device={"id": "emulator", "name": "CPU", "driver": None, "toolkit": None}, floor=None)
        texts = Texts(self.page(document)).texts
        self.assertIn("These times are the host's, on the CPU emulator. They say nothing about a GPU.", texts)
        self.assertNotIn("of the speed of light", texts)

    def test_a_verification_is_a_page_without_times(self):
        document = run([group(1000, [row("01_naive", None), row("02_wrong", None, status="failed")], ceiling=None, parameters={})], verb="verify", floor=None)
        self.assertIn("FAIL: because of <b>", Texts(self.page(document)).texts)

    def test_what_is_no_record_is_refused_and_nothing_is_written(self):
        output = self.directory / "page.html"
        good = json.dumps(whole())
        infinite = whole()
        infinite["groups"][0]["rows"][0]["timing"]["median"] = "HERE"
        nothing = whole()
        nothing["groups"][0]["rows"][1]["processes"][0]["samples"][0] = 0
        cases = [("", "Expecting value"), (good[:300], "run.json"), ('{"a": NaN}', "NaN is no number"), ("[1]", "is no record"), ('{"schema": "<b>"}', "is no record"),
                 ("[" * 100_000, "run.json"), (json.dumps({**whole(), "version": 2}), "is of version 2"), (json.dumps({**whole(), "groups": 3}), "groups"),
                 (json.dumps(infinite).replace('"HERE"', "1e999"), "median"), (json.dumps(infinite).replace('"HERE"', "-1"), "median is -1"), (json.dumps(nothing), "not positive"),
                 (json.dumps({**counters(), "stages": [{}]}), "is no record of counters"), ('{"schema": "kernel-lab-counters"}', "another record")]
        for text, words in cases:
            with self.subTest(words):
                code, printed = self.call(self.put(text), "--output", output, "--no-figures")
                self.assertEqual(code, 2)
                self.assertIn(words, printed)
                self.assertFalse(output.exists())
        path = self.put(good)
        with open(self.directory / "hole.json", "wb") as file:
            file.truncate(300 << 20)
        for arguments, words in [((self.directory / "missing.json",), "no such file"), (("/dev/zero",), "no regular file"), ((path, path), "is given twice"),
                                 ((path, shutil.copy(path, self.directory / "copy.json")), "is given twice"), ((self.directory / "hole.json",), "too many for a record"),
                                 ((path, self.directory), "one directory"), ((path, "--output", path), "would write over it"), ((path, "--output", self.directory), "is a directory"),
                                 ((path, "--output", self.directory / "a" / "b.html"), "no such directory")]:
            with self.subTest(words):
                extra = () if "--output" in arguments else ("--output", output)
                code, printed = self.call(*arguments, *extra, "--no-figures")
                self.assertEqual(code, 2)
                self.assertIn(words, printed)
                self.assertFalse(output.exists())
        self.assertEqual(path.read_text(), good)

    def test_a_missing_plotly_is_named_with_its_packages(self):
        path = self.put(whole())
        with mock.patch.object(report.importlib.util, "find_spec", return_value=None), mock.patch.object(pathlib.Path, "glob", return_value=[]):
            code, printed = self.call(path, "--output", self.directory / "page.html")
        self.assertEqual(code, 2)
        for word in ("python3-plotly", "python3 -m pip install plotly", "--no-figures"):
            self.assertIn(word, printed)
        code, printed = self.call(path, "--output", self.directory / "page.html", "--plotly", path)
        self.assertIn("is not Plotly's script", printed)

    def test_a_directory_becomes_a_gallery(self):
        records = self.directory / "records"
        (records / "sweeps").mkdir(parents=True)
        (records / "a.json").write_text(json.dumps(whole()))
        (records / "sweeps" / "b.json").write_text(json.dumps(counters()))
        (records / "other.json").write_text("{}")
        site = self.directory / "site"
        code, printed = self.call(records, "--output", site, "--no-figures")
        self.assertEqual(code, 0, printed)
        self.assertIn("other.json", printed)
        self.assertEqual(sorted(path.name for path in site.iterdir()), ["a.html", "index.html", "sweeps_b.html"])
        index = Texts((site / "index.html").read_text())
        self.assertEqual([attributes["href"] for tag, attributes in index.tags if tag == "a" and "html" in attributes["href"]], ["a.html", "sweeps_b.html"])
        for text in ("90.9 %", "track: n = 1000, 2000", "track: counters", "sweeps/b.json"):
            self.assertIn(text, index.texts)
        (records / "broken.json").write_text("{")
        code, printed = self.call(records, "--output", self.directory / "other", "--no-figures")
        self.assertEqual(code, 2)
        self.assertIn("broken.json", printed)
        self.assertFalse((self.directory / "other").exists())


    def test_the_index_is_sorted_by_track_and_parameters(self):
        records = self.directory / "records"
        records.mkdir()
        one = [row("01_naive", 4e6, 0.25)]
        (records / "a.json").write_text(json.dumps(run([group(10_000, one, parameters={"n": 10_000, "pitch": 0})])))
        (records / "b.json").write_text(json.dumps(run([group(2000, one + [row("02_fast", 1e6, 0.9)])])))
        (records / "c.json").write_text(json.dumps(run([{**group(1, one), "track": "another"}])))
        (records / "d.json").write_text(json.dumps(run([group(2000, one)], options={"processes": 2})))
        (records / "e.json").write_text(json.dumps(run([group(n, one, l2="warm") for n in range(1, 6)])))
        code, printed = self.call(records, "--output", self.directory / "site", "--no-figures")
        self.assertEqual(code, 0, printed)
        index = Texts((self.directory / "site" / "index.html").read_text())
        titles = [text for text in index.texts if text.startswith(("track", "another"))]
        self.assertEqual(titles, ["another: n = 1 (01_naive alone)", "track: n: 5 values, L2 warm (01_naive alone)", "track: n = 2000",
                                  "track: n = 2000, a process for each GPU (01_naive alone)", "track: n = 10000 (01_naive alone)"])

    def test_the_page_of_a_file_of_records_shows_the_newest_rows(self):
        old = run([group(2000, [row("01_naive", 4e6, 0.25), row("02_fast", 2e6, 0.5)])], created="2026-01-01T00:00:00Z")
        new = run([group(2000, [row("02_fast", 1e6, 0.9)])], created="2026-01-02T00:00:00Z")
        of_processes = run([group(2000, [row("02_fast", 5e5, 0.95)])], created="2026-01-03T00:00:00Z", options={"processes": 2})
        path = self.directory / "track.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in (new, old, of_processes)))
        code, printed = self.call(path, "--output", self.directory / "page.html", "--no-figures")
        self.assertEqual(code, 0, printed)
        page = Texts((self.directory / "page.html").read_text())
        self.assertIn("25.0 %", page.texts)
        self.assertIn("90.0 %", page.texts)
        self.assertNotIn("50.0 %", page.texts)
        self.assertNotIn("95.0 %", page.texts)
        path.write_text(json.dumps(old) + "\n{\n")
        code, printed = self.call(path, "--output", self.directory / "page.html", "--no-figures")
        self.assertEqual(code, 2)
        self.assertIn("track.jsonl: line 2: ", printed)


class Figures(unittest.TestCase):
    def test_bars_are_parts_of_the_speed_of_light(self):
        figure = report_figures.ladder("track", whole()["groups"][0], "n = 1000")
        self.assertEqual(figure["data"][0]["x"], [25, 90.9, 50])
        self.assertEqual(figure["data"][0]["y"], ["01_naive", "02_fast", "90_library (library)"])
        self.assertEqual(figure["data"][0]["text"][1], "1.10 ms, 90.9 %")
        self.assertIn("02_fast reaches 90.9 %", figure["description"])

    def test_bars_are_times_where_there_is_no_speed_of_light(self):
        figure = report_figures.ladder("track", group(1, [row("01", 4e6), row("02", 1e6)], ceiling=None), "")
        self.assertEqual(figure["data"][0]["x"], [4e6, 1e6])
        self.assertNotIn("type", figure["layout"]["xaxis"])  # a bar begins at zero
        figure = report_figures.ladder("track", group(1, [row("01", 400e6), row("02", 1e6)], ceiling=None), "")
        self.assertEqual(figure["layout"]["xaxis"]["type"], "log")

    def test_a_sweep_is_of_one_parameter(self):
        groups = whole()["groups"]
        figure = report_figures.sweep("track", list(reversed(groups)))
        lines = {trace["name"]: (trace["x"], trace["y"]) for trace in figure["data"]}
        self.assertEqual(lines["01_naive"], ([1000, 2000], [4e6, 8e6]))
        self.assertEqual(lines["speed of light"], ([1000, 2000], [1e6, 1e6]))
        self.assertIsNone(report_figures.sweep("track", groups[:1]))
        groups[1]["l2"] = "warm"
        self.assertIsNone(report_figures.sweep("track", groups))
        words = [group(1000, [row("01", 1e6)], parameters={"n": 1, "type": word}) for word in ("float", "double")]
        self.assertIsNone(report_figures.sweep("track", words))

    def test_the_roofs_are_the_measured_ones(self):
        figure = report_figures.roofline("track", whole()["groups"], timing(3000.0))
        self.assertEqual(figure["data"][0]["x"][1], 12_000)  # 4 GB/s for the 3 us of an empty kernel
        self.assertEqual(figure["data"][0]["y"][1:], [4, 4])
        self.assertEqual(figure["data"][1]["y"], [1, 0.5])
        # Beside the best point of each stage.
        labels = {one["text"]: 10 ** one["y"] for one in figure["labels"]}
        self.assertEqual(list(labels), ["01_naive", "02_fast", "90_library (library)"])
        self.assertAlmostEqual(labels["01_naive"], 1)
        self.assertIsNone(report_figures.roofline("track", whole()["groups"], None))

    def test_operations_have_a_roof_of_their_own_and_the_longer_time_is_the_speed_of_light(self):
        self.assertIsNone(report_figures.arithmetic_roofline("track", whole()["groups"]))
        one = group(1000, [row("01_naive", 8e6, 0.25)])
        one["ceilings"].append({"kind": "fp32", "bytes": 0, "operations": 8e10, "cached": False, "timing": timing(2e6)})
        figure = report_figures.arithmetic_roofline("track", [one])
        self.assertEqual((figure["data"][1]["x"], figure["data"][1]["y"]), ([8e10 / 4e6], [8e10 / 8e6]))
        self.assertIn("fp32 40.0 TFLOP/s; they meet at 10000.0", figure["description"])
        self.assertEqual(tables.light_of(one)["kind"], "fp32")
        one["ceilings"][0]["timing"] = timing(3e6)
        self.assertEqual(tables.light_of(one)["kind"], "copy")

    def test_samples_are_shown_relative_to_the_median_and_each_process_alone(self):
        figure = report_figures.distributions("track", whole()["groups"][0], "")
        self.assertEqual(len(figure["data"]), 4)
        self.assertEqual(figure["data"][0]["x"], [-0.2, -0.1, 0, 0.1, 0.2])
        self.assertEqual(figure["data"][2]["y"][0], "02_fast, process 2")

    def test_names_are_escaped_for_plotly(self):
        figure = report_figures.ladder("track", group(1, [row(HOSTILE, 4e6, 0.5)]), "")
        self.assertEqual(figure["data"][0]["y"], [escape(HOSTILE)])


class Browser(Case):
    def test_the_page_draws_its_figures(self):
        if not BROWSER or plotly_problem():
            self.skipTest("no Chromium is installed" if not BROWSER else plotly_problem())
        document = whole()
        document["groups"][0]["rows"][0]["stage"] = f"track/{HOSTILE}"
        output = self.directory / "page.html"
        code, printed = self.call(self.put(document), self.put(counters(), "counters.json"), "--output", output)
        self.assertEqual(code, 0, printed)
        for dark in (False, True):
            with self.subTest(dark=dark):
                dom = dom_of(output, *(["--force-dark-mode"] if dark else []))
                self.assertIn('data-figures="drawn"', dom)
                self.assertNotIn("<title>owned", dom)
                # A sweep, a roofline, two ladders with their samples, counters.
                self.assertEqual(len(re.findall('class="plot js-plotly-plot"', dom)), 7)
                drawn = Texts("".join(re.findall("<svg.*?</svg>", dom, re.DOTALL))).texts
                for text in ("1.10 ms, 90.9 %", "8.00 ms, 12.5 %", "speed of light", "measured roofs", "02_fast, process 2", "loads.sum", "part of the speed of light, %"):
                    self.assertIn(text, drawn)
                self.assertTrue(any("<script>" in text for text in drawn))  # shown, and not run
                ground = "rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)"
                self.assertIn(ground, dom)

    def test_names_and_legend_of_a_roofline_lie_on_nothing_on_a_narrow_page(self):
        if not BROWSER or plotly_problem():
            self.skipTest("no Chromium is installed" if not BROWSER else plotly_problem())
        rows = [row(f"{place:02}_stage", 1.1e6 + 100 * place, 0.9) for place in range(1, 13)]
        output = self.directory / "page.html"
        code, printed = self.call(self.put(run([group(1000, rows)])), "--output", output)
        self.assertEqual(code, 0, printed)
        # A window of Chromium's is wider.
        output.with_name("narrow.html").write_text(f"""<iframe src="{output.name}" style="width: 390px; height: 3000px"></iframe><script>
            onload = () => {{
              const page = document.querySelector("iframe").contentDocument;
              const figure = [...page.querySelectorAll(".plot")].find((one) => one.textContent.includes("measured roofs"));
              const boxes = (names) => [...figure.querySelectorAll(names)].map((one) => one.getBoundingClientRect());
              const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
              const texts = [...boxes(".annotation-text"), ...boxes(".legendtext"), ...boxes(".xtitle")];
              const all = texts.every((a, i) => texts.every((b, k) => i === k || apart(a, b)));
              const edge = figure.getBoundingClientRect();
              const inside = texts.every((one) => one.left >= edge.left && one.right <= edge.right && one.bottom <= edge.bottom);
              document.body.dataset.found = `${{texts.length}} texts, apart: ${{all}}, inside: ${{inside}}`;
            }};
        </script>""")
        dom = dom_of(output.with_name("narrow.html"))
        self.assertIn("26 texts, apart: true, inside: true", dom)


class Picture(Case):
    def test_the_picture_has_the_records_figures_and_a_changed_one_is_refused(self):
        records = self.directory / "records"
        records.mkdir()
        (records / "run.jsonl").write_text(json.dumps(whole()))
        drawn = ladder_picture.picture(tables.Records(records), "track")
        for text in ("n = 1000", "25.0 %", "90.9 %", "12.5 %", "90_library (library)", "GPU X", 'aria-label="Parts of the speed of light'):
            self.assertIn(text, drawn)
        self.assertNotIn("03_wrong", drawn)
        with self.assertRaises(tables.BrokenRecord):
            ladder_picture.picture(tables.Records(records), "other")
        with mock.patch.multiple(ladder_picture, PICTURE=self.put("<svg/>", "ladder.svg"), TRACK="track"), mock.patch.object(tables, "ROOT", self.directory):
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(ladder_picture.main(["--check"]), 1)
                self.assertEqual(ladder_picture.main([]), 0)
                self.assertEqual(ladder_picture.main(["--check"]), 0)


if __name__ == "__main__":
    unittest.main()
