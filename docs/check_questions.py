#!/usr/bin/env python3
"""Checks that every stage's page asks something, that every question has an answer, that no page has the answer itself, and that a
prediction has a verdict.

usage: docs/check_questions.py          exit 1, with a line FILE: MESSAGE for each mistake
       docs/check_questions.py --list   the questions of all pages, each with whether it is answered

The question of a paragraph is its last sentence that ends with "?". A mistake is

* a track's or a stage's page (stages/TRACK/README.md, stages/TRACK/NN_name/README.md) without a paragraph **Try it.** that has a
  command (`./lab ...`, or another in backticks), a figure and a question;
* a paragraph **Exercise.**, **Another.** or **Question.** without a question, unless it leads to an exercise that is checked
  (`./lab new --exercise NAME`); an exercise named so that stages/TRACK/NN_name/exercises.json does not have;
* an exercise of that file that its page does not name;
* a question that docs/teacher/TRACK.md does not answer: below the heading "## NN_name", or "## The track", stands the question,
  bold, and then the answer. Likewise the questions of exercises.json. And an answer there to a question that nobody asks;
* a lesson of docs/start-here.md ("### N. Title") without a question among its points, or whose question is not answered below
  "## N. Title" in docs/teacher/start-here.md;
* a stage's page that predicts a time or a percentage ("**Prediction.**" or "**Predicted gain.**"), has measured times, and does not say
  whether that was **Right or wrong?**;
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
PREDICTION = re.compile(r"^\*\*Predict.*?(?=^<!--|^\*\*(?!Predict)|\Z)", re.MULTILINE | re.DOTALL)
TIME = re.compile(r"\d (?:s|ms|µs|%|TFLOP/s)(?!\w)")
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


class Page:
    """What is asked on a page: `questions`, and `problems` that need nothing but its folder. `section` is that of its answers."""

    def __init__(self, path, section, answers):
        self.path, self.section, self.answers, self.questions, self.problems = path, section, answers, [], []

    def read(self, text, stage="", exercises=()):
        tries = 0
        for kind, paragraph in (found.groups() for found in map(ASKS.match, paragraphs_of(text)) if found):
            named = EXERCISE.findall(paragraph)
            self.problems += [f"there is no exercise {name}" for name in named if name.split(".")[0] == stage and name not in exercises]
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
        return self


def track_page(path, track):
    return Page(f"stages/{track}/README.md", "The track", f"docs/teacher/{track}.md").read(path.read_text(encoding="utf-8"))


def stage_page(path):
    track, name = path.parts[-3:-1]
    stage, text = f"{track}/{name}", path.read_text(encoding="utf-8")
    page = Page(f"stages/{stage}/README.md", name, f"docs/teacher/{track}.md")
    file = path.parent / "exercises.json"
    described = json.loads(file.read_text(encoding="utf-8"))["exercises"] if file.exists() else []
    exercises = [stage if number == 0 else f"{stage}.{one['name']}" for number, one in enumerate(described)]
    page.read(text, stage, exercises)
    page.problems += [f"the page does not name the exercise {one}" for one in exercises if f"`{one}`" not in text and f" {one}`" not in text]
    page.questions += [plain(question) for one in described for question in one.get("questions", [])]
    predicted = PREDICTION.search(text)
    if predicted and TIME.search(predicted[0]) and "<!-- measured:" in text and "\n**Right or wrong?" not in text:
        page.problems.append("predicts a time, and does not say whether that was **Right or wrong?**")
    source = path.parent / "stage.cu"
    for line in sorted(solution_lines(source.read_text(encoding="utf-8")) if source.exists() else []):
        if line in text:
            page.problems.append(f"the page has a line of an exercise's solution: {line}")
    return page


def lessons(path):
    """A Page for each lesson of docs/start-here.md."""
    for part in re.split(r"^### (?=\d)", re.split(r"^## Ways in", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[0], flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        lesson = Page("docs/start-here.md", title.strip(), "docs/teacher/start-here.md")
        lesson.questions = [question for point in re.split(r"^\* ", text, flags=re.MULTILINE)[1:] if (question := question_of(point))]
        if not lesson.questions:
            lesson.problems.append(f"{lesson.section}: asks nothing")
        yield lesson


def pages_of(root):
    found = []
    for path in sorted(root.glob("stages/*/README.md")):
        found.append(track_page(path, path.parts[-2]))
    found += [stage_page(path) for path in sorted(root.glob("stages/*/[0-9]*/README.md"))]
    if (root / "docs" / "start-here.md").exists():
        found += lessons(root / "docs" / "start-here.md")
    return found


def teachers_page(root, path):
    return answers_of((root / path).read_text(encoding="utf-8")) if (root / path).exists() else {}


def problems(root):
    """All mistakes below `root`, as texts "FILE: MESSAGE"."""
    root = pathlib.Path(root)
    found = []
    pages = pages_of(root)
    for where in sorted({page.answers for page in pages}):
        answers = teachers_page(root, where)
        asked = [page for page in pages if page.answers == where]
        for page in asked:
            found += [f"{page.path}: {problem}" for problem in page.problems]
            own = answers.get(page.section, {})
            found += [f"{where}: {page.section}: not answered: {question}" for question in page.questions if not own.get(question)]
            found += [f"{where}: {page.section}: nobody asks: {question}" for question in own if question.endswith("?") and question not in page.questions]
        found += [f"{where}: nothing is called {name}" for name in answers if name not in [page.section for page in asked]]
    return found


def main(arguments):
    if arguments not in ([], ["--list"]):
        print(__doc__, file=sys.stderr)
        return 2
    if arguments:
        for page in pages_of(ROOT):
            own = teachers_page(ROOT, page.answers).get(page.section, {})
            for question in page.questions:
                print(f"{page.path}: {'answered' if own.get(question) else 'OPEN    '}: {question}")
        return 0
    found = problems(ROOT)
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
