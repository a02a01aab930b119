#!/usr/bin/env python3
"""What reports/pictures.py, docs/check_commands.py, docs/check_figures.py, and docs/site/build.py refuse, with a program that only pretends."""

import collections
import pathlib
import sys
import tempfile
import types
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "reports"), str(ROOT / "docs"), str(ROOT / "docs" / "site")]
import build as site_build  # noqa: E402
import check_commands  # noqa: E402
import check_figures  # noqa: E402
import pictures  # noqa: E402

# Draws the words that it was called with.
PROGRAM = """#!/bin/sh
for last; do :; done
case "$*" in *bad*) echo 'lab: no such stage' >&2; exit 2;; esac
echo "<svg>$*</svg>" | sed "s|$last||" > "$last"
echo "$2: n = 1"; echo "stage.cu:2: x"; echo "block 0"; echo "4 sectors"; echo "wrote $last"
"""


class Folder(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.root = pathlib.Path(kept.name)
        self.program = self.root / "program"
        self.program.write_text(PROGRAM, encoding="utf-8")
        self.program.chmod(0o755)

    def page(self, text, path="docs/page.md"):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file


class Pictures(Folder):
    def setUp(self):
        super().setUp()
        self.page("// one\nsum += tile[k];\nlast;\nlast;\n", "stages/a/b/stage.cu")

    def results(self):
        return pictures.results(self.root, str(self.program))

    def marker(self, words, between=""):
        return f"<!-- picture: {words} -->\n{between}<!-- /picture -->\n"

    def test_a_stale_page_and_a_stale_picture_differ(self):
        page = self.page(self.marker('one a/b --at "sum +="'))
        texts = self.results()
        picture = self.root / "docs/pictures/one.svg"
        self.assertIn("--line stages/a/b/stage.cu:2", texts[picture])
        self.assertEqual(texts[page], self.marker('one a/b --at "sum +="', "![a/b, line 2: 4 sectors](pictures/one.svg)\n"))
        picture.parent.mkdir()
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        self.assertEqual(pictures.differences(self.root, self.results()), ([], []))
        picture.write_text("<svg>old</svg>", encoding="utf-8")
        self.assertEqual(pictures.differences(self.root, self.results())[0], [picture])
        unused = picture.with_name("unused.svg")
        unused.write_text("<svg/>", encoding="utf-8")
        self.assertEqual(pictures.differences(self.root, self.results())[1], [unused])

    def test_what_cannot_be_drawn_is_refused_with_the_page(self):
        for words, why in (
            ("one a/bad", "no such stage"),
            ('one a/b --at "nowhere"', "0 lines of stages/a/b/stage.cu hold 'nowhere'"),
            ('one a/b --at "last"', "2 lines"),
            ("one a/c --at x", "there is no stages/a/c/stage.cu"),
            ("one a/b --at", "--at needs a text"),
            ("one a/b --output x.svg", "--output is not for a page to say"),
            ('one a/b --at "', "quotation"),
        ):
            self.page(self.marker(words))
            with self.assertRaises(pictures.Problem) as refused:
                self.results()
            self.assertIn(why, str(refused.exception))
            self.assertIn("docs/page.md", str(refused.exception))

    def test_one_name_is_one_picture(self):
        self.page(self.marker("one a/b") + self.marker("one a/b --block"))
        with self.assertRaises(pictures.Problem):
            self.results()

    def test_an_example_in_a_fenced_block_is_left_alone(self):
        self.page("```\n" + self.marker("one a/bad") + "```\n")
        self.assertEqual(self.results(), {})


class Commands(Folder):
    def problems(self, text, write=False):
        found, right = check_commands.check_page(self.page(text), str(self.program))
        return right if write else "\n".join(found)

    def block(self, text, remark=""):
        return (f"<!-- commands: {remark} -->\n" if remark else "") + f"```console\n{text}```\n"

    def test_what_is_printed_must_be_what_the_page_says(self):
        self.assertEqual(self.problems(self.block("$ echo one; echo two\none\ntwo\n")), "")
        self.assertIn("+two", self.problems(self.block("$ echo two\none\n")))
        self.assertIn("+two", self.problems(self.block("$ echo one; echo two\none\n")))
        self.assertIn("-two", self.problems(self.block("$ echo one\none\ntwo\n")))
        self.assertEqual(self.problems(self.block("$ echo two\none\n"), write=True), self.block("$ echo two\ntwo\n"))

    def test_dots_stand_for_lines(self):
        self.assertEqual(self.problems(self.block("$ seq 5\n1\n...\n5\n")), "")
        self.assertNotEqual(self.problems(self.block("$ seq 5\n1\n...\n4\n")), "")

    def test_times_may_change_and_counts_may_not(self):
        self.assertEqual(self.problems(self.block("$ echo '01_naive ✓ 144.0 ms 5.18 % 2.0x'\n01_naive ✓ 7.246 ms 12.92 % 19x\n")), "")
        self.assertNotEqual(self.problems(self.block("$ echo '01_naive FAIL 144.0 ms'\n01_naive ✓ 7.246 ms\n")), "")
        self.assertNotEqual(self.problems(self.block("$ echo '4 sectors'\n8 sectors\n")), "")

    def test_the_exit_code_counts(self):
        self.assertIn("ends with 3 and not 0", self.problems(self.block("$ exit 3\n")))
        self.assertEqual(self.problems(self.block("$ exit 3\n", "exit 3")), "")
        self.assertIn("ends with 0 and not 3", self.problems(self.block("$ true\n", "exit 3")))
        self.assertIn("ends with 3 and not 0", self.problems(self.block("$ exit 3\n$ true\n")))

    def test_a_block_can_be_shown_and_not_run_and_no_other_remark_is_taken(self):
        self.assertEqual(self.problems(self.block("$ exit 3\n", "not run: it needs a GPU")), "")
        self.assertIn("means nothing", self.problems(self.block("$ true\n", "whatever")))
        self.assertIn("begins with '$ '", self.problems(self.block("true\n")))

    def test_blocks_of_a_page_share_a_folder(self):
        self.assertEqual(self.problems(self.block("$ echo kept > file\n") + "\n" + self.block("$ cat file\nkept\n")), "")

    def test_the_program_is_lab(self):
        self.assertIn("no such stage", self.problems(self.block("$ ./lab draw bad\n")))


class Figures(unittest.TestCase):
    COMMAND = "`./lab profile elementwise/02_grid_stride --n 5000`"

    def counted(self, text, by_options=None, on_gpu=()):
        """What is wrong with a paragraph whose command counts 1000 and 31250, and at other parameters something else."""
        counters = types.SimpleNamespace(nsight=collections.defaultdict(set, {"elementwise/01_naive": set(on_gpu)}))
        counters.figures = lambda stages, command, options: (by_options or {}).get(options.get("--type"), {1000, 31250})
        return list(check_figures.counter_mistakes(text, check_figures.commands_of(text), counters))

    def test_a_counter_must_be_one_that_the_command_counts(self):
        self.assertEqual(self.counted(f"{self.COMMAND} shows 1000 requests and 31 250 sectors of 5000 values."), [])
        self.assertEqual(self.counted(f"{self.COMMAND} shows 1001 requests and 31 260 sectors."), ["1001", "31 260"])
        self.assertEqual(self.counted(f"{self.COMMAND} shows about 31 200 sectors."), [])
        self.assertEqual(self.counted(f"{self.COMMAND} shows about 30 000 sectors."), ["about 30 000"])

    def test_other_parameters_count_where_the_paragraph_names_them(self):
        found = {None: {1000}, "float32": {500}}
        self.assertEqual(self.counted(f"{self.COMMAND} shows 1000 sectors, and 500 with `--type float32`.", found), [])
        self.assertEqual(self.counted(f"{self.COMMAND} shows 1000 sectors, and 500 elsewhere.", found), ["500"])

    def test_what_a_gpu_counts_stands_beside_its_name(self):
        self.assertEqual(self.counted(f"{self.COMMAND} shows 1000 sectors (1024 on an H200).", on_gpu=[1024]), [])
        self.assertEqual(self.counted(f"{self.COMMAND} shows 1000 sectors, or 1024.", on_gpu=[1024]), ["1024"])

    def test_arithmetic_must_be_right_and_a_question_is_the_readers(self):
        self.assertEqual(self.counted(f"{self.COMMAND} shows 1000 requests: 8 x 125 = 1000. Why not 999?"), [])
        self.assertEqual(self.counted(f"{self.COMMAND} shows 1000 requests: 8 x 126 = 1000."), ["8 x 126 = 1000"])

    def test_the_stage_before_and_named_ones_count_too(self):
        text = f"{self.COMMAND}; the stage after it is `03_vectorized`."
        self.assertEqual(check_figures.stages_counted(text, check_figures.commands_of(text)[0]), {f"elementwise/{name}" for name in ("01_naive", "02_grid_stride", "03_vectorized")})

    def test_times_and_percentages_must_be_recorded(self):
        def timed(text):
            with unittest.mock.patch.object(check_figures, "recorded_times", lambda *_: ({3.851e6, 905.4e3}, {78.46})):
                return list(check_figures.time_mistakes(text, set(), {}))

        self.assertEqual(timed("It takes 3.85 ms and 905 µs, 78.5 %. Why 4 ms?"), [])
        self.assertEqual(timed("It takes 3.85 and 3.94 ms, 925 µs, 81 %."), ["3.94 ms", "925 µs", "81 %"])

    def test_what_a_stage_takes_or_reaches_must_be_in_its_own_records(self):
        def stated(text, page):
            own = {"elementwise/01_naive": ({4.74e6}, {78.5}), "elementwise/02_grid_stride": ({4.11e6}, {90.7})}
            with unittest.mock.patch.object(check_figures, "recorded_times", lambda stages, _: own[next(iter(stages))]):
                return list(check_figures.stated_mistakes(text, ROOT / "stages" / "elementwise" / page))

        self.assertEqual(stated("`02_grid_stride` takes 4.11 ms, [01_naive](01_naive/) reaches 78.5 %.", "README.md"), [])
        self.assertEqual(stated("`02_grid_stride` takes 4.74 ms, [01_naive](01_naive/) reaches 90.7 %.", "README.md"), ["4.74 ms", "90.7 %"])
        self.assertEqual(stated("On an H200 the stage takes 4.74 ms, and this stage reaches 85 %.", "01_naive/README.md"), ["85 %"])
        self.assertEqual(stated("05_persistent reaches 99.3 % of cuBLAS. The stage takes 1 s.", "README.md"), [])

    def test_a_list_of_values_has_a_parameters_value(self):
        self.assertTrue(check_figures.is_one_of(16384, "300,16384"))
        self.assertTrue(check_figures.is_one_of(1000000, "1e6") and check_figures.is_one_of("max", "mean,max"))
        self.assertFalse(check_figures.is_one_of(4, "300,16384") or check_figures.is_one_of("max", "mean,std"))


class Site(Folder):
    def site(self, text):
        self.page("# Lab\n", "README.md")
        self.page("# Key\n\nforty-two\n", "docs/teacher/key.md")
        self.page("int main() {}\n", "stages/a/01_b/stage.cu")
        self.page("# A\n", "stages/a/README.md")
        self.page(text)
        return site_build.Site(self.root)

    def test_teachers_answers_are_no_part_and_a_link_to_them_is_refused(self):
        site = self.site("# Page\n")
        self.assertEqual(site.problems, [])
        self.assertFalse(any("teacher" in name or "forty-two" in (text or "") for name, text in site.files.items()))
        for target in ("teacher/key.md", "teacher/", "teacher", "../docs/teacher/key.md"):
            self.assertEqual(len(self.site(f"[key]({target})\n").problems), 1, target)
        self.assertEqual(len(self.site("[key]\n\n[key]: teacher/key.md\n").problems), 1)

    def test_a_folder_that_shows_its_content_does_not_show_the_teachers(self):
        self.assertNotIn("teacher", self.site("[docs](../docs)\n").files["docs/folder.md"])

    def test_dead_links_are_refused_and_code_is_left_alone(self):
        self.assertEqual(len(self.site("[x](nowhere.md)\n").problems), 1)
        self.assertEqual(self.site("`[x](nowhere.md)`\n\n```\n[x](nowhere.md)\n```\n").problems, [])

    def test_sources_and_folders_are_shown(self):
        site = self.site("[kernel](../stages/a/01_b/stage.cu#L1) [track](../stages/a/)\n")
        self.assertIn("(../stages/a/01_b/stage.cu.md) [track](../stages/a/README.md)", site.files["docs/page.md"])
        self.assertIn("int main() {}", site.files["stages/a/01_b/stage.cu.md"])

    def test_slides_ask_no_other_host_for_anything(self):
        page = "<link href='https://fonts.googleapis.com/css?family=Oswald' rel='stylesheet'>\n<style>b { font-family: 'Oswald', arial, serif; }</style>\n"
        rest = "<p><a href='https://example.org/'>x</a></p>"
        self.assertEqual(site_build.without_foreign_font(page + rest), "<style>b { font-family: system-ui, sans-serif; }</style>\n" + rest)
        for foreign in ("<script src=https://example.org/x.js>", "<link rel='stylesheet' href='//example.org/x.css'>", "<style>@import 'x'</style>",
                        "<style>b { src: url(https://example.org/f.woff) }</style>"):
            with self.assertRaises(ValueError):
                site_build.without_foreign_font(page + foreign)

    def test_stages_stand_below_their_own_track(self):
        self.page("# A `b` of one\n", "stages/a/01_b/README.md")
        self.page("# C\n", "stages/c/README.md")
        site = self.site("# Page\n")
        self.assertIn("\n01 A b of one </stages/a/01_b/README>\n", site.files["stages/a/README.md"])
        self.assertNotIn("toctree", site.files["stages/c/README.md"])
        self.assertNotIn("stages/a/01_b/README", site.files["README.md"])
        self.assertIn("\nstages/a/README\n", site.files["README.md"])


if __name__ == "__main__":
    unittest.main()
