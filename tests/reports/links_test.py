"""What docs/check_links.py refuses: dead links and anchors, labels without definitions, entries of the glossary that no
page links to. Needs nothing beyond Python."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import check_links


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


class Program(unittest.TestCase):
    def test_this_repository_passes_and_an_argument_is_refused(self):
        script = [sys.executable, "-B", str(ROOT / "docs" / "check_links.py")]
        done = subprocess.run(script, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(subprocess.run([*script, "--all"], capture_output=True).returncode, 2)


if __name__ == "__main__":
    unittest.main()
