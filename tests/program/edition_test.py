#!/usr/bin/env python3
"""A student edition: no file of it holds the text of a solution, an answer or a hint, and it is configured and built. Its smallest
track has no stage, until a student's own stands there, which is built and proved.

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
        """The files that hold it: if it is short, those of the stage's own folder."""
        return [file for file, text in texts.items() if wanted in text and (len(wanted) >= SHORTEST or file.startswith(folder))]

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
            self.assertNotIn("<!-- counted:", self.texts[f"stages/{stage.split('/')[0]}/README.md"])
            self.assertFalse(re.search(r"<!-- (measured|predicted):|\*\*(What changed|Prediction)", self.texts[f"stages/{stage}/README.md"]), stage)
        self.assertFalse([file for file in self.texts if file.startswith("docs/teacher/") or file == "docs/workshop.md"])

    def run_in(self, *words):
        """What a command prints, whose failure shows all of it. The quickest to compile: no optimisation."""
        done = subprocess.run([*map(str, words)], cwd=self.edition, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
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
        (self.edition / "stages" / STAGE / "stage.cu").write_text(PART.sub(lambda _: solution, begun), encoding="utf-8")
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
