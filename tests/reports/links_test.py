"""What docs/check_links.py refuses: dead links and anchors, labels without definitions, entries of the glossary that no
page links to; what docs/check_questions.py refuses: questions without an answer, pages that have it; and what
docs/check_words.py refuses: worn phrases. Needs nothing beyond Python."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import check_links
import check_questions
import check_words


class Links(unittest.TestCase):
    def problems(self, files):
        """What is wrong with a tree of these files, {path: text}."""
        with tempfile.TemporaryDirectory() as directory:
            for path, text in files.items():
                place = pathlib.Path(directory, path)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(text if isinstance(text, bytes) else text.encode())
            return check_links.problems(directory)

    def test_links_that_lead_somewhere_pass(self):
        files = {
            "README.md": "# Lab\n\n[one](docs/a.md), [two](docs/a.md#the-idea-42-), [dir](docs/), [own](#lab), [web](https://a.b/c.md),\n"
            "![image](docs/b.svg), [line](docs/kernel.cu#L3-L5), [third][a], [a], [root](/docs/a.md), [blank](docs/a%20b.md)\n\n[a]: docs/a.md#the-idea-42--1\n",
            "docs/a.md": "## The idea: 42 %\n\n## The idea: 42 %\n",
            "docs/a b.md": "",
            "docs/b.svg": "",
            "docs/kernel.cu": "",
        }
        self.assertEqual(self.problems(files), [])

    def test_a_dead_link_is_named_with_its_line(self):
        self.assertEqual(self.problems({"README.md": "# Lab\n\n[one](docs/a.md)\n"}), ["README.md:3: docs/a.md: there is no such file"])
        self.assertEqual(self.problems({"README.md": "![one](a.svg \"drawn\")\n"}), ["README.md:1: a.svg: there is no such file"])
        self.assertEqual(self.problems({"README.md": '<img src="a.svg">\n'}), ["README.md:1: a.svg: there is no such file"])
        self.assertEqual(self.problems({"README.md": "[a]\n\n[a]: b.md\n"}), ["README.md:3: b.md: there is no such file"])

    def test_a_dead_anchor_is_named(self):
        files = {"a.md": "# One\n\n[x](b.md#two)\n[y](#three)\n[z](d#four)\n[w](d/e.cu#five)\n", "b.md": "# One\n", "d/e.cu": ""}
        self.assertEqual(
            self.problems(files),
            [
                "a.md:3: b.md#two: b.md has no anchor #two",
                "a.md:4: #three: a.md has no anchor #three",
                "a.md:5: d#four: the directory has no README.md, whose anchor this would be",
                "a.md:6: d/e.cu#five: d/e.cu has no anchor #five",
            ],
        )

    def test_a_link_out_of_the_repository_is_refused_though_it_leads_to_a_file(self):
        self.assertEqual(self.problems({"docs/a.md": "[x](../../../../../../../../etc/passwd)\n"}), ["docs/a.md:1: ../../../../../../../../etc/passwd: leaves the repository"])

    def test_labels_and_definitions_belong_together(self):
        self.assertEqual(self.problems({"a.md": "[x][y]\n"}), ["a.md:1: [y] is not defined"])
        self.assertEqual(self.problems({"a.md": "text\n\n[y]: a.md\n"}), ["a.md:3: [y] is defined, and nothing uses it"])
        self.assertEqual(self.problems({"a.md": "[y]\n\n[y]: a.md\n[Y]: a.md\n"}), ["a.md:4: [Y] is defined twice"])
        self.assertEqual(self.problems({"a.md": "`values[i]` and values[j]\n"}), [])
        self.assertEqual(self.problems({"a.md": "Of [y]: more\n\n[y]: a.md\n"}), [])

    def test_code_holds_no_links_and_its_comments_are_no_headings(self):
        files = {"a.md": "```sh\n# Two\n[x](none.md)\n```\n`[x](none.md)`\n[y](#two)\n"}
        self.assertEqual(self.problems(files), ["a.md:6: #two: a.md has no anchor #two"])
        self.assertEqual(self.problems({"a.md": "````\n```\n[x](none.md)\n````\n[y](none.md)\n"}), ["a.md:5: none.md: there is no such file"])

    def test_a_page_that_is_not_utf_8_is_named(self):
        self.assertEqual(self.problems({"a.md": b"One\n\xff\n"}), ["a.md:2: is not UTF-8"])

    def test_an_entry_of_the_glossary_is_linked_by_another_page(self):
        glossary = "# Glossary\n\n## Warp\n\nSee [lane](#lane).\n\n## Lane\n\nOf a warp.\n"
        self.assertEqual(self.problems({"docs/glossary.md": glossary}), ["docs/glossary.md:3: no page links to #warp", "docs/glossary.md:7: no page links to #lane"])
        linked = {"docs/glossary.md": glossary, "a.md": "A [warp] has [lanes](docs/glossary.md#lane).\n\n[warp]: docs/glossary.md#warp\n"}
        self.assertEqual(self.problems(linked), [])
        # What is built, and what git keeps, are no pages.
        hidden = {"docs/glossary.md": glossary, "build/a.md": linked["a.md"], ".git/a.md": linked["a.md"]}
        self.assertEqual(len(self.problems(hidden)), 2)


class Questions(unittest.TestCase):
    PAGE = (
        "# One\n\n**Try it.** `./lab profile track/01_one`: 8 [sectors](a.md). Which, and\nwhy?\n\n"
        "**Exercise.** `./lab new --exercise track/01_one` takes a part out.\n\n**Another.** Do it (in C++). How long?\n"
    )
    ANSWERS = "# Answers\n\n## 01_one\n\n**Which, and\nwhy?** All.\n\n**How long?** Long.\n\n**Whose?** Nobody's.\n"
    EXERCISES = {"exercises": [{"name": "part", "questions": ["Whose?"]}]}
    SOURCE = "void f() {\n  // exercise: part\n  total += values[index];\n  i++;\n  // end\n}\n"

    def problems(self, page=PAGE, answers=ANSWERS, exercises=EXERCISES, source=SOURCE):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            stage = root / "stages" / "track" / "01_one"
            stage.mkdir(parents=True)
            (stage / "README.md").write_text(page)
            (stage / "stage.cu").write_text(source)
            (stage / "exercises.json").write_text(json.dumps(exercises))
            (root / "docs" / "teacher").mkdir(parents=True)
            (root / "docs" / "teacher" / "track.md").write_text(answers)
            return check_questions.problems(root)

    def test_a_page_whose_questions_are_answered_passes(self):
        self.assertEqual(self.problems(), [])

    def test_a_question_without_an_answer_is_named(self):
        self.assertEqual(self.problems(answers=self.ANSWERS.replace("**How long?** Long.", "")), ["docs/teacher/track.md: 01_one: not answered: How long?"])
        self.assertEqual(self.problems(answers=self.ANSWERS.replace("**Whose?** Nobody's.", "**Whose?**")), ["docs/teacher/track.md: 01_one: not answered: Whose?"])
        self.assertEqual(len(self.problems(answers="")), 3)

    def test_an_answer_to_no_question_is_named(self):
        self.assertEqual(self.problems(answers=self.ANSWERS + "\n**Since when?** Ever.\n"), ["docs/teacher/track.md: 01_one: nobody asks: Since when?"])
        self.assertEqual(self.problems(answers=self.ANSWERS + "\n## 02_two\n\n**Why?** So.\n"), ["docs/teacher/track.md: nothing is called 02_two"])

    def test_a_page_that_asks_nothing_is_named(self):
        page = "stages/track/01_one/README.md"
        self.assertEqual(self.problems(page=self.PAGE.replace("How long?", "Take long.")), [f"{page}: **Another.** asks nothing: Do it (in C++). Take long.", "docs/teacher/track.md: 01_one: nobody asks: How long?"])
        self.assertIn(f"{page}: no paragraphs **Try it.**, and one should be there", self.problems(page=self.PAGE.replace("Try it", "Try")))
        self.assertEqual(self.problems(page=self.PAGE.replace("8 [", "[")), [f"{page}: **Try it.** lacks a command or a figure to expect"])

    def test_a_predicted_time_has_a_verdict(self):
        predicted = self.PAGE + "\n**Prediction.** 16 GB take\n3.7 ms.\n\n<!-- measured: track/01_one -->\n| 4 ms |\n<!-- /measured -->\n"
        found = ["stages/track/01_one/README.md: predicts a time, and does not say whether that was **Right or wrong?**"]
        self.assertEqual(self.problems(page=predicted), found)
        for passes in (predicted + "\n**Right or wrong?** Right.\n", predicted.replace("3.7 ms", "8 sectors"), predicted.replace("measured:", "ladder:")):
            self.assertEqual(self.problems(page=passes), [])

    def test_exercises_are_those_of_the_file(self):
        page = "stages/track/01_one/README.md"
        more = {"exercises": [*self.EXERCISES["exercises"], {"name": "second"}]}
        self.assertEqual(self.problems(exercises=more), [f"{page}: the page does not name the exercise track/01_one.second"])
        found = self.problems(exercises={"exercises": []}, answers=self.ANSWERS.replace("**Whose?** Nobody's.", ""))
        self.assertEqual(found, [f"{page}: there is no exercise track/01_one"])

    def test_a_tracks_page_and_the_lessons_ask_too(self):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for path, text in {
                "stages/track/README.md": self.PAGE.replace("track/01_one` takes", "x/y` takes"),
                "docs/teacher/track.md": "# Answers\n\n## The track\n\n**Which, and why?** All.\n",
                "docs/start-here.md": "# Start\n\n* Why this?\n\n### 1. One\n\n* See.\n* Why\n  one?\n\n### 2. Two\n\n* See.\n\n## Ways in\n\n* Why not?\n",
                "docs/teacher/start-here.md": "# Answers\n\n## 1. One\n\n**Why one?** So.\n",
            }.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            self.assertEqual(check_questions.problems(root), ["docs/start-here.md: 2. Two: asks nothing", "docs/teacher/track.md: The track: not answered: How long?"])

    def test_a_solution_on_the_page_is_named(self):
        page = self.PAGE + "\nAs in `total += values[index];`.\n"
        self.assertEqual(self.problems(page=page), ["stages/track/01_one/README.md: the page has a line of an exercise's solution: total += values[index];"])


class Words(unittest.TestCase):
    WORN = check_words.phrases("# a remark\n\\bin place of\\b => instead of\n\\bwants\\b => needs\n")

    def refused(self, path, text):
        return check_words.problems(path, text, self.WORN)

    def test_a_phrase_is_named_with_its_line_and_what_to_say(self):
        self.assertEqual(self.refused("a.md", "One.\nTwo in place of one.\n"), ['a.md:2: "in place of": say instead of'])
        self.assertEqual(self.refused("a.json", '{"a": "It wants more."}'), ['a.json:1: "wants": say needs'])
        self.assertEqual(self.refused("a.py", "# Two in\n# place of one.\n"), ['a.py:1: "in # place of": say instead of'])
        self.assertEqual(self.refused("a.md", "Two In\nplace of one.\n"), ['a.md:1: "In place of": say instead of'])
        self.assertEqual(self.refused("a.md", "It is wanted in this place. Of what?\n"), [])

    def test_comments_and_messages_are_read(self):
        self.assertEqual(self.refused("a.cu", 'f("it wants");  // it is in\n// place of\n'), ['a.cu:1: "in // place of": say instead of', 'a.cu:1: "wants": say needs'])
        self.assertEqual(self.refused("a.cpp", 'fail("one in "\n     "place of two");\n'), ['a.cpp:1: "in " "place of": say instead of'])
        self.assertEqual(self.refused("a.js", "say('one in place ' +\n    'of two');\n"), ["a.js:1: \"in place ' + 'of\": say instead of"])
        self.assertEqual(self.refused("a.sh", 'fail "it wants python3"\n'), ['a.sh:1: "wants": say needs'])

    def test_of_all_kinds_of_files_those_that_people_write_are_read(self):
        read = check_words.files(ROOT)
        for path in ("lab", "README.md", "CMakeLists.txt", "reports/page.js", "reports/view.py", "harness/front/emulate/lab-nvcc", "harness/front/selection/verbs.txt",
                     "harness/counters.json", "docs/examples/gradescope/setup.sh", "docs/site/slides.html", "stages/elementwise/problem.hpp", "tests/catch.hpp"):
            self.assertIn(path, read)
        self.assertEqual([path for path in read if path.startswith(("reports/h200/", "build/", ".git/"))], [])

    def test_a_page_says_microseconds_as_pages_do_and_a_listing_what_was_printed(self):
        text = "It takes 3 µs, or `3 us`.\n\n```\n3.000 us\n```\n\nIt takes 3 us.\n"
        self.assertEqual(self.refused("a.md", text), ['a.md:7: "3 us": say µs, as pages do; us is what the program and Nsight Compute print'])
        self.assertEqual(self.refused("a.cpp", "// 3 us\n"), [])

    def test_what_is_generated_is_not_read(self):
        text = "One.\n<!-- nsight: a -->\nIt wants.\n<!-- /nsight -->\nIt wants.\n"
        self.assertEqual(self.refused("a.md", text), ['a.md:5: "wants": say needs'])

    def test_every_phrase_of_the_list_is_refused(self):
        examples = ["in place of it", "it wants it", "threads that want it", "is held to it", "there is none that is", "it must not be asked",
                    "a surprise", "it strays", "a farewell", "a rung", "a hollow test", "who comes late", "has its whole block wait",
                    "there is nothing yet", "more beyond what it must", "Not speed: truth", "the counters that the idea promises"]
        worn = check_words.phrases(check_words.LIST.read_text(encoding="utf-8"))
        for (pattern, _), example in zip(worn, examples, strict=True):
            self.assertTrue(pattern.search(example), example)
        self.assertEqual([pattern.pattern for pattern, _ in worn if pattern.search("Threads want to wait, instead of an answer: what they need is read.")], [])


class Program(unittest.TestCase):
    def test_this_repository_passes_and_an_argument_is_refused(self):
        for name in ("check_links.py", "check_questions.py", "check_words.py"):
            script = [sys.executable, "-B", str(ROOT / "docs" / name)]
            done = subprocess.run(script, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            self.assertEqual(subprocess.run([*script, "--all"], capture_output=True).returncode, 2)


if __name__ == "__main__":
    unittest.main()
