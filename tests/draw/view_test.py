"""The page of `lab view`: its figures are those of `lab profile`, it needs no network, and, where Chromium is installed, keys, pointer
and slider show what they should.

usage: view_test.py PROGRAM"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "reports"), str(ROOT / "tests" / "reports")]

import report_test
import view

PROGRAM = sys.argv.pop()
STAGE = "shared_tile/02_missing_barrier"

# Row 16 gets the focus, an arrow key goes to row 18, and the pointer to the row before it; the other stage's slider moves.
DRIVE = """<iframe src="page.html" style="width: 1100px; height: 800px"></iframe><script>
  onload = () => {
    const page = document.querySelector("iframe").contentDocument, [before, stage] = page.querySelectorAll(".stage");
    const row = (line) => stage.querySelector(`.source [data-line$="cu:${line}"]`), found = [];
    const shown = () => [...stage.querySelectorAll("figure:not([hidden])")].map((one) => one.dataset.line.split(":")[1]).join("+");
    row(16).focus();
    row(16).dispatchEvent(new FocusEvent("focus"));
    found.push(shown());
    row(16).dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown"}));
    row(18).dispatchEvent(new FocusEvent("focus"));
    found.push(shown(), page.activeElement === row(18));
    row(16).dispatchEvent(new MouseEvent("mouseenter"));
    found.push(shown());
    const active = () => [...before.querySelectorAll(".active")].map((one) => one.dataset.line.split(":")[1]).join("+");
    const slider = before.querySelector("input");
    found.push(active());
    slider.value = 1;
    slider.dispatchEvent(new Event("input"));
    found.push(active(), before.querySelector("output").textContent);
    document.body.dataset.found = found.join(" ") + " " + page.documentElement.dataset.view;
  };
</script>"""


class View(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.page = pathlib.Path(folder.name, "page.html")
        cls.code = view.main([STAGE, "--width", "256", "--height", "128", "--program", PROGRAM, "--output", str(cls.page)])

    def test_figures_are_those_of_the_profile(self):
        self.assertEqual(self.code, 0)
        record = self.page.with_name("profile.json")
        subprocess.run([PROGRAM, "profile", "shared_tile/01_synchronized", "--width", "256", "--height", "128", "--device", "emulator", "--json", record], stdout=subprocess.DEVNULL, check=True)
        text = self.page.read_text(encoding="utf-8")
        lines = json.loads(record.read_text())["stages"][0]["profile"]["kernels"][0]["lines"]
        for line in lines:
            row = re.search(rf'<tr data-line="{line["file"]}:{line["line"]}".*?</tr>', text)[0]
            cells = re.findall(r'style="--heat:[^"]*">(\d*)<', row)
            self.assertEqual([int(cell or 0) for cell in cells], [sum(line["metrics"][metric] for metric in metrics) for metrics, _ in view.COLUMNS.values()])
        self.assertTrue(any(cell for cell in cells))

    def test_lines_of_a_race_are_marked_and_nothing_is_loaded(self):
        text = self.page.read_text(encoding="utf-8")
        self.assertEqual(re.findall(r'<strong class="race">race</strong> (\d+)', text), ["16", "18"])
        self.assertFalse(re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', text))

    def test_keys_pointer_and_slider(self):
        if not report_test.BROWSER:
            self.skipTest("no Chromium is installed")
        drive = self.page.with_name("drive.html")
        drive.write_text(DRIVE)
        self.assertIn('data-found="16 18+18 true 16 17 21 1 shown"', report_test.dom_of(drive))
        for ground, options in (("rgb(255, 255, 255)", []), ("rgb(13, 17, 23)", ["--force-dark-mode"])):
            drive.write_text('<iframe src="page.html"></iframe><script>onload = () => { const page = document.querySelector("iframe").contentDocument; '
                             'document.body.dataset.ground = page.defaultView.getComputedStyle(page.body).backgroundColor; }</script>')
            self.assertIn(f'data-ground="{ground}"', report_test.dom_of(drive, *options))

    def test_what_the_program_refuses_is_refused(self):
        self.assertEqual(view.main(["shared_tile/77", "--program", PROGRAM, "--output", str(self.page) + ".no"]), 2)
        self.assertFalse(pathlib.Path(str(self.page) + ".no").exists())


if __name__ == "__main__":
    unittest.main()
