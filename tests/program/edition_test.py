#!/usr/bin/env python3
"""A student edition: no file of it holds the text of a solution, an answer or a hint, its pages pass their checks, and it is
configured and built. Its smallest track has no stage, until a student's own stands there, which is built and proved.

usage: edition_test.py PROGRAM      exit code 77: this is no Git checkout, of which an edition could be made
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = sys.argv.pop()
STAGE = "elementwise/01_naive"
PART = re.compile(r"// exercise: (\w+)\n(.*?)\n *// end", re.DOTALL)
SHORTEST = 32  # a shorter text than this may well be somewhere else
SHORTEST_OF_STAGES = 24  # and than this in another stage's source


def code(text):
    """Without comments and white space."""
    return re.sub(r"//[^\n]*|\s", "", text)


def sources():
    """(stage's path, its stage.cu, the exercise of it that an edition has) of every stage with exercises."""
    for file in sorted(ROOT.glob("stages/*/*/exercises.json")):
        asked = json.loads(file.read_text(encoding="utf-8"))["exercises"][0]
        yield file.parent.relative_to(ROOT / "stages").as_posix(), (file.parent / "stage.cu").read_text(encoding="utf-8"), asked


def solutions():
    """(stage, code) of every part that a student writes."""
    for stage, source, asked in sources():
        names = {region["name"] for region in asked["regions"]}
        yield from ((stage, code(part)) for name, part in PART.findall(source) if name in names)


class Edition(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Always the same folder, for a cache of the compiler's.
        cls.edition = pathlib.Path(PROGRAM).resolve().parent / "student_edition"
        shutil.rmtree(cls.edition, ignore_errors=True)
        cls.addClassCleanup(shutil.rmtree, cls.edition, ignore_errors=True)
        subprocess.run([PROGRAM, "student-edition", cls.edition], stdout=subprocess.DEVNULL, check=True)
        files = (file for file in cls.edition.rglob("*") if file.is_file())
        cls.texts = {file.relative_to(cls.edition).as_posix(): file.read_text(encoding="utf-8", errors="replace") for file in files}

    def holders(self, texts, wanted, folder):
        """The files that hold it: if it is short, sources of stages, or those of the stage's own folder."""
        def counts(file):
            return len(wanted) >= (SHORTEST_OF_STAGES if file.endswith(("/stage.cu", "/exercise.cu")) else SHORTEST) or file.startswith(folder)
        return [file for file, text in texts.items() if wanted in text and counts(file)]

    def test_no_file_holds_a_solution(self):
        texts = {file: code(text) for file, text in self.texts.items()}
        found = {(stage, file) for stage, part in solutions() for file in self.holders(texts, part, f"stages/{stage}/")}
        self.assertEqual(found, set())
        self.assertGreaterEqual(len(list(solutions())), 45)

    def test_no_file_holds_an_answer_or_a_hint(self):
        texts = {file: text for file, text in self.texts.items() if file.startswith(("stages/", "docs/"))}
        for stage, _, asked in sources():
            explained = [one["because"] for one in asked["predictions"] + asked["checkpoints"] if "because" in one]
            for text in explained + asked["hints"]:
                self.assertEqual((stage, text, self.holders(texts, text, f"stages/{stage}/")), (stage, text, []))
            self.assertFalse(self.edition.joinpath("stages", stage, "claims.json").exists())
            self.assertNotIn(f'"{stage}"', self.edition.joinpath("reports", "claims.json").read_text())
            self.assertNotIn("\n## Counted without a GPU\n", self.texts[f"stages/{stage.split('/')[0]}/README.md"])
            self.assertFalse(re.search(r"<!-- |\*\*(What changed|Prediction)", self.texts[f"stages/{stage}/README.md"]), stage)
        self.assertFalse([file for file in self.texts if file.startswith(("docs/teacher/", "docs/workshop", "docs/slides/"))])

    def test_pictures_show_no_source(self):
        self.assertFalse([file for file, text in self.texts.items() if file.startswith("docs/pictures/") and (not file.endswith(".svg") or '<text class="code"' in text)])

    def test_its_pages_pass_their_checks(self):
        for words in ("docs/check_links.py", "docs/check_words.py", "reports/tables.py --check", "reports/ladder_picture.py --check", "reports/proofs.py"):
            self.run_in(sys.executable, "-B", *words.split())
        # What is generated is kept: nothing can make it without the stages.
        made = {file: found for file, text in self.texts.items() if file.endswith(".md") and (found := re.findall(r"^<!-- (?!kept: |/kept ).*", text, re.MULTILINE))}
        self.assertEqual(made, {})
        self.assertIn("\n**This is a student edition.** ", self.texts["README.md"])

    def test_a_link_to_what_is_left_out_is_its_text(self):
        self.assertIn("There is a workshop of 90 minutes with slides, a [course of ten weeks](docs/course.md)", self.texts["README.md"])
        self.assertIn("\n| axpy | `y = a x + y`", self.texts["docs/add-a-track.md"])
        self.assertIn("\nTwo sources side by side. ", self.texts["README.md"])  # an image's text

    def test_a_page_says_which_stages_are_not_there(self):
        here = {folder.relative_to(self.edition / "stages").as_posix() for name in ("stage.cu", "exercise.cu") for folder in (file.parent for file in self.edition.glob(f"stages/*/*/{name}"))}
        missing = [stage for file in ROOT.glob("stages/*/*/stage.cu") if (stage := file.parent.relative_to(ROOT / "stages").as_posix()) not in here]
        self.assertIn("moving_average/05_block_scan", missing)
        unmarked = [(file, code) for file, text in self.texts.items() if file.endswith(".md") for line in re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL).split("\n")
                    for code, after in re.findall(r"`([^`]+)`([^`]*)", line) if any(stage in code.split() for stage in missing) and not re.match(r" \((not|[\w, ]+ (is|are) not) in this edition\)", after)]
        self.assertEqual(unmarked, [])
        start = self.texts["docs/start-here.md"]
        self.assertIn("`./lab profile 'moving_average/0[45]*'` (05_block_scan is not in this edition), then ", start)
        self.assertIn("\n**In this student edition** you write the stages that have an exercise ([how](exercises.md#a-student-edition)). ", start)
        self.assertIn("\n[stages/elementwise/01_naive/exercise.cu](../stages/elementwise/01_naive/exercise.cu) and read it", start)
        self.assertIn("`moving_average/05_block_scan` (not in this edition), ", self.texts["docs/course.md"])

    def test_a_stage_that_is_not_there_says_what_to_do(self):
        self.assertIn("elementwise/01_naive is an exercise, and yours to write: lab new --exercise elementwise/01_naive", self.run_in("./lab", "list", "elementwise", code=2))
        self.assertIn("moving_average/04_padded is an exercise", self.run_in("./lab", "list", "moving_average/04", code=2))
        self.assertIn("stages/transpose/03_padded has no stage.cu", self.run_in("./lab", "list", "transpose/03_padded", code=2))
        self.assertIn("a student edition has no docs/site", self.run_in("./lab", "site", code=2))
        for stage, _, _ in sources():
            self.assertEqual("lab new --exercise" in self.texts[f"stages/{stage}/README.md"], (self.edition / "stages" / stage / "exercise.cu").exists(), stage)

    def run_in(self, *words, code=0):
        """What a command prints, whose failure shows all of it. The quickest to compile: no optimisation."""
        done = subprocess.run([*map(str, words)], cwd=self.edition, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def test_it_is_built_and_a_students_stage_is_proved(self):
        self.run_in("cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON", "-DLAB_CUDA=OFF")
        known = self.edition / "build" / "workers" / "emulator.stages"
        self.assertNotIn("elementwise/", known.read_text())
        track = STAGE.split("/")[0]
        environment = {**os.environ, "LAB_STAGES": str(self.edition / "stages"), "LAB_EXERCISES": str(self.edition / "exercises")}
        subprocess.run([PROGRAM, "new", "--exercise", STAGE], env=environment, stdout=subprocess.DEVNULL, check=True)
        begun = (self.edition / "exercises" / STAGE / "stage.cu").read_text(encoding="utf-8")
        solution = PART.search((ROOT / "stages" / STAGE / "stage.cu").read_text(encoding="utf-8"))[0]
        written = self.edition / "stages" / STAGE / "stage.cu"
        written.write_text(PART.sub(lambda _: solution, begun), encoding="utf-8")
        self.addCleanup(written.unlink)
        worker = f"workers/emulator/{STAGE}"
        self.run_in("cmake", "--build", "build", "--target", worker)
        self.assertEqual([line for line in known.read_text().split() if line.startswith(track)], [STAGE])
        request = json.dumps({"op": "verify", "stage": STAGE, "thorough": False})
        answer = json.loads(self.run_in(f"build/{worker}", "--once", request).splitlines()[-1])
        self.assertTrue(answer["verification"]["passed"], answer)
        self.assertGreater(answer["verification"]["compared"], 0)


if __name__ == "__main__":
    if not (ROOT / ".git").exists():
        sys.exit(77)
    unittest.main()
