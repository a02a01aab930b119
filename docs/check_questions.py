#!/usr/bin/env python3
"""Checks that every stage's page asks something, that every question has an answer, and that no page has the answer itself.

usage: docs/check_questions.py          exit 1, with a line FILE: MESSAGE for each mistake
       docs/check_questions.py --list   the questions of all pages, each with whether it is answered

The question of a paragraph is its last sentence that ends with "?". A mistake is

* a stage's page (stages/TRACK/NN_name/README.md) without a paragraph **Try it.** that has a command (`./lab ...`, or another in
  backticks), a figure and a question;
* a paragraph **Exercise.**, **Another.** or **Question.** without a question, unless it leads to an exercise that is checked
  (`./lab new --exercise NAME`); an exercise named so that stages/TRACK/NN_name/exercises.json does not have;
* an exercise of that file that its page does not name;
* a question that docs/teacher/TRACK.md does not answer: below the heading "## NN_name" stands the question, bold, and then the
  answer. Likewise the questions of exercises.json. And an answer there to a question that nobody asks;
* a line of an exercise's solution (stage.cu, between "// exercise: NAME" and "// end") on a stage's page.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ASKS = re.compile(r"\*\*(Try it|Exercise|Another|Question)\.\*\*\s+(.*)", re.DOTALL)
SENTENCE_ENDS = re.compile(r"(?<=\?)\s+|(?<=[.?!]\))\s+|(?<=[.!])\s+(?=[A-Z`(0-9*\"'])")
EXERCISE = re.compile(r"`(?:\./)?lab new --exercise ([\w/.]+)`")
REGION = re.compile(r"^\s*// exercise: \w+$(.*?)^\s*// end$", re.MULTILINE | re.DOTALL)
SHORTEST_LINE = 16  # characters of a solution's line below which it says too little to give anything away


def plain(text):
    """A text on one line, without links."""
    text = re.sub(r"\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])?", r"\1", text)
    return " ".join(text.split())


def question_of(paragraph):
    """Its last sentence that ends with a question mark; None where it asks nothing."""
    asked = [sentence.strip() for sentence in SENTENCE_ENDS.split(plain(paragraph)) if sentence.rstrip(") ").endswith("?")]
    return asked[-1].strip("()") if asked else None


def paragraphs_of(text):
    return [part.strip() for part in re.split(r"\n\s*\n", text)]


def answers_of(text):
    """{stage: {question: answer}} of a teacher's page. The question of an answer is what stands bold before it."""
    found = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        name, _, body = section.partition("\n")
        answers = found.setdefault(name.strip(), {})
        for paragraph in paragraphs_of(body):
            begins = re.match(r"\*\*(.+?)\*\*\s*(.*)", paragraph, re.DOTALL)
            if begins:
                answers[plain(begins[1])] = begins[2].strip()
    return found


def solution_lines(source):
    """Lines of the parts that exercises take out, blanks at their ends aside."""
    return {line.strip() for region in REGION.findall(source) for line in region.splitlines()
            if len(line.strip()) >= SHORTEST_LINE and not line.strip().startswith("//")}


class Stage:
    """A stage's page: `questions`, and `problems` that need nothing but its folder."""

    def __init__(self, folder):
        self.path, self.questions, self.problems = "/".join(folder.parts[-2:]), [], []
        text = (folder / "README.md").read_text(encoding="utf-8")
        exercises = folder / "exercises.json"
        document = json.loads(exercises.read_text(encoding="utf-8")) if exercises.exists() else {"exercises": []}
        names = [self.path if number == 0 else f"{self.path}.{one['name']}" for number, one in enumerate(document["exercises"])]
        self.read(text, names)
        self.problems += [f"the page does not name the exercise {name}" for name in names if f"`{name}`" not in text and f" {name}`" not in text]
        self.questions += [plain(question) for one in document["exercises"] for question in one.get("questions", [])]
        source = folder / "stage.cu"
        for line in sorted(solution_lines(source.read_text(encoding="utf-8")) if source.exists() else []):
            if line in text:
                self.problems.append(f"the page has a line of an exercise's solution: {line}")

    def read(self, text, exercises):
        tries = 0
        for kind, paragraph in (found.groups() for found in map(ASKS.match, paragraphs_of(text)) if found):
            named = EXERCISE.findall(paragraph)
            self.problems += [f"there is no exercise {name}" for name in named if name.split(".")[0] == self.path and name not in exercises]
            question = question_of(paragraph)
            if question:
                self.questions.append(question)
            elif kind == "Try it" or not named:
                self.problems.append(f"**{kind}.** asks nothing: {plain(paragraph)[:60]}")
            if kind == "Try it":
                tries += 1
                if "`" not in paragraph or not re.search(r"\d", re.sub(r"`[^`]*`", "", paragraph)):
                    self.problems.append("**Try it.** lacks a command or a figure to expect")
        if tries != 1:
            self.problems.append(f"{tries or 'no'} paragraphs **Try it.**, and one should be there")


def stages_of(root):
    return [Stage(page.parent) for page in sorted(root.glob("stages/*/[0-9]*/README.md"))]


def teachers_page(root, track):
    page = root / "docs" / "teacher" / f"{track}.md"
    return answers_of(page.read_text(encoding="utf-8")) if page.exists() else {}


def problems(root):
    """All mistakes below `root`, as texts "FILE: MESSAGE"."""
    root = pathlib.Path(root)
    found = []
    stages = stages_of(root)
    for track in sorted({stage.path.split("/")[0] for stage in stages}):
        answers = teachers_page(root, track)
        where = f"docs/teacher/{track}.md"
        of_track = {stage.path.split("/")[1]: stage for stage in stages if stage.path.startswith(f"{track}/")}
        for name, stage in of_track.items():
            found += [f"stages/{stage.path}/README.md: {problem}" for problem in stage.problems]
            own = answers.get(name, {})
            found += [f"{where}: {name}: not answered: {question}" for question in stage.questions if not own.get(question)]
            found += [f"{where}: {name}: nobody asks: {question}" for question in own if question.endswith("?") and question not in stage.questions]
        found += [f"{where}: there is no stage {name}" for name in answers if name not in of_track]
    return found


def main(arguments):
    if arguments not in ([], ["--list"]):
        print(__doc__, file=sys.stderr)
        return 2
    if arguments:
        for stage in stages_of(ROOT):
            track, name = stage.path.split("/")
            own = teachers_page(ROOT, track).get(name, {})
            for question in stage.questions:
                print(f"{stage.path}: {'answered' if own.get(question) else 'OPEN    '}: {question}")
        return 0
    found = problems(ROOT)
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
