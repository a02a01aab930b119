#!/usr/bin/env python3
"""Compares the figures of the pages' sentences with what the commands beside them count, and with the recorded times.

A paragraph with a command `./lab profile STAGE...` in it says counters. Each whole number of three digits or more (250 000) must be

* a counter that the command counts on the emulator, or that it counts of the stage before or of another one that the
  paragraph names; with other parameters, too, where the paragraph names them (`--operation std`), and in any case at those of
  the command's own options; "about 31 500" may be 1 % away;
* or one that Nsight Compute has counted of these stages (counters.json of reports/h100), beside the name of a GPU;
* or stand in arithmetic (257 x 11 = 2827), whose result must be right.

A paragraph with a command `./lab run STAGE...`, or one that speaks of recorded times, says times. Each (45.2 ms; 3.85 and
3.86 ms) must be, but for 2 %, by which one record may differ from the next, a median of the stages that the command names, or that the section does, at the parameters
of the command; or the time of a copy or of an empty kernel in the same run. Each percentage must be one of the speed of light.

An answer of docs/teacher/TRACK.md with the words "run on the emulator" says counters, too, in the sentence that ends with them: of
the commands of the stage's page, with the parameters that the question names.

So does a sentence of a track's or a stage's page that says what a stage "takes" or "reaches" (`04_vectorized` reaches 97.3 %),
but for its prediction.

A paragraph with a command `./lab trace STAGE` says how many launches, copies and waits there are ("2 waits", "no copy").

Questions are left out, and what comes after them: their figures are for the reader to think about. So are figures in
backticks.

usage: docs/check_figures.py [PAGE...]   exit 1, with a line FILE: MESSAGE for each figure that nothing agrees with
       --program FILE   the built program (default: build/emulator/lab)
"""

import argparse
import collections
import fnmatch
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "reports"))
from counters import total  # noqa: E402
from tables import Records, parameter_set, read_json  # noqa: E402

GENERATED = re.compile(r"^<!-- (\w+): .*?^<!-- /\1 -->$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`]+)`")
NUMBER = r"(?:\d{1,3}(?: \d{3})+|\d+(?:\.\d+)?)"
ARITHMETIC = re.compile(rf"(?<![\w.])({NUMBER}(?: [x/+-] {NUMBER})+)(?: = ({NUMBER}))?(?![\d\w])")
WHOLE = re.compile(r"(about )?(?<![\w.,·-])(\d{1,3}(?: \d{3})+|\d{3,})(?!\d|[.,]\d|\^|[⁰¹²³⁴-⁹])")
LISTED = r"(?<![\w.])((?:\d+(?:\.\d+)?(?:,? and |,? then |, ))*\d+(?:\.\d+)?) "
TIMES = re.compile(LISTED + r"(s|ms|µs|us|%)(?!\w)")
STATED = re.compile(r"(?:\b(\d\d[a-z]?_\w+)[`)\]]*|\b[Tt]h(?:e|is) stage) (?:reaches|takes) (?:about )?((?:\d+(?:\.\d+)?(?:,? and |, ))*\d+(?:\.\d+)? (?:s|ms|µs|us|%))(?!\w| of cu| of CU)")
UNITS = {"s": 1e9, "ms": 1e6, "µs": 1e3, "us": 1e3, "%": 1}
TRACED = re.compile(r"\b(\d+|no) (launch|cop(?=y|ies)|wait)")
OF_A_GPU = re.compile(r"\bH[12]00\b|\bGPU\b")
NOT_COUNTED = {"--check", "--predict", "--full", "--bench-size", "--source", "--json", "--baseline"}
STAGES = sorted(path.parent.relative_to(ROOT / "stages").as_posix() for path in ROOT.glob("stages/*/*/stage.cu"))


class Command:
    """A call of the lab in a sentence: the verb, the stages that its patterns name, and its options."""

    def __init__(self, words):
        self.variables = []
        while words and re.fullmatch(r"\w+=.*", words[0]):
            self.variables.append(words.pop(0))
        is_lab = len(words) > 1 and words[0] in ("./lab", "lab")
        self.verb = words[1] if is_lab else None
        self.options, patterns, name = {}, [], None
        for word in words[2:]:
            if name:
                self.options[name] = word
                name = None
            elif word in NOT_COUNTED:
                self.verb = None
            elif word.startswith("--"):
                name = word
            else:
                patterns.append(word)
        self.stages = [stage for stage in STAGES if any(fnmatch.fnmatchcase(stage, one) or stage.startswith(one) for one in patterns)]
        self.options.pop("--device", None)

    def changed(self, options):
        return {**self.options, **options}


def commands_of(paragraph):
    found = []
    for code in CODE.findall(paragraph):
        try:
            found.append(Command(shlex.split(code)))
        except ValueError:
            pass  # no command
    return [one for one in found if one.verb in ("profile", "run", "trace") and one.stages]


def other_options(paragraph):
    """What a paragraph says of other parameters: {"--operation": "std"} for each `--operation std`."""
    words = [code.split() for code in CODE.findall(paragraph)]
    return [dict([pair]) for pair in words if len(pair) == 2 and pair[0].startswith("--")]


def named_stages(paragraph, track):
    """Stages whose names stand in a text: `05_atomic`, or the whole path."""
    names = set(re.findall(r"\b\d\d[a-z]?_\w+", paragraph))
    return [stage for stage in STAGES if stage.split("/")[1] in names and stage.startswith(f"{track}/")]


def statements_of(paragraph):
    """Its sentences up to the first question, without code and without the addresses of links."""
    text = re.sub(r"\]\([^)]*\)", "]", CODE.sub("", paragraph))
    return re.split(r"[^.?!:;]*\?", text)[0] if "?" in text else text


def stages_counted(paragraph, command):
    """Those of the command, the one before the first of them, and those that the paragraph names beside."""
    track = command.stages[0].split("/")[0]
    of_track = [stage for stage in STAGES if stage.startswith(f"{track}/")]
    before = of_track[: of_track.index(command.stages[0])][-1:]
    return {*command.stages, *before, *named_stages(paragraph, track)}


class Counters:
    """What stages count at some parameters: asked of the program for all paragraphs at once, and never twice."""

    def __init__(self, program):
        self.program = program
        self.asked = collections.defaultdict(set)  # (track, variables, options) -> stages
        self.found = {}  # the same with a stage -> figures
        nsight = read_json(ROOT / "reports" / "h100" / "counters.json")["stages"]
        self.nsight = collections.defaultdict(set)
        for one in nsight:
            self.nsight[one["kernel"]] |= {value for value in one["metrics"].values() if value}

    @staticmethod
    def key(stages, command, options):
        return next(iter(stages)).split("/")[0], tuple(command.variables), tuple(sorted(options.items()))

    def ask_for(self, stages, command, options):
        self.asked[self.key(stages, command, options)] |= stages

    def count(self):
        for (track, variables, options), asked in sorted(self.asked.items()):
            stages = [stage for stage in sorted(asked) if (track, variables, options, stage) not in self.found]
            if not stages:
                continue
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "found.json")
                call = [self.program, "profile", *stages, "--device", "emulator", "--json", path, *(word for pair in options for word in pair)]
                done = subprocess.run(call, env={**os.environ, **dict(one.split("=", 1) for one in variables)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                if not path.exists():
                    sys.exit(f"check_figures.py: {' '.join(map(str, call))}\nended with {done.returncode}:\n{done.stdout[-2000:]}")
                for one in read_json(path)["stages"]:
                    kernels = one["profile"]["kernels"] if one["profile"] else []
                    names = {name for kernel in kernels for name in kernel["metrics"]}
                    self.found[track, variables, options, one["stage"]] = {total(kernels, name) for name in names}

    def figures(self, stages, command, options):
        key = self.key(stages, command, options)
        return set().union(*(self.found.get((*key, stage), set()) for stage in stages))


def counter_mistakes(paragraph, commands, counters):
    """The numbers that no command counts."""
    known, on_gpu = {float(number) for one in commands_of(paragraph) for value in [*one.options.values(), *one.variables] for number in re.findall(r"\d+", value)}, set()
    for command in commands:
        stages = stages_counted(paragraph, command)
        on_gpu |= set().union(*(counters.nsight[stage] for stage in stages))
        for options in [{}, *other_options(paragraph)]:
            known |= counters.figures(stages, command, command.changed(options))
    text = TIMES.sub("", statements_of(paragraph))
    for expression, result in ARITHMETIC.findall(text):
        known |= {float(one.replace(" ", "")) for one in re.findall(NUMBER, f"{expression} = {result}")}
        if result and not is_right(expression, result):
            yield f"{expression} = {result}"
    for about, number in WHOLE.findall(ARITHMETIC.sub("", text)):
        value = float(number.replace(" ", ""))
        if value in known or (about and any(abs(one - value) <= 0.01 * value for one in known)) or (OF_A_GPU.search(text) and value in on_gpu):
            continue
        yield f"{about}{number}"


def is_right(expression, result):
    """Whether a result is right to its last digit, or to three digits with zeros behind them: "0.19 x 131 072", "24 900"."""
    value = eval(expression.replace(" x ", "*").replace(" ", ""))  # digits and operators alone
    digits = result.replace(" ", "")
    zeros = -len(digits.partition(".")[2]) or min(len(digits) - len(digits.rstrip("0")), max(0, len(digits) - 3))
    return abs(value - float(digits)) <= 0.5 * 10.0**zeros


def trace_mistakes(paragraph, command, program):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "found.json")
        call = [program, "trace", *command.stages, "--device", "emulator", "--json", path, *(word for pair in command.options.items() for word in pair)]
        subprocess.run(call, cwd=folder, stdout=subprocess.DEVNULL, check=True)
        stage = read_json(path)["stages"][0]
    for number, what in TRACED.findall(statements_of(paragraph)):
        if stage[{"launch": "launches", "cop": "copies", "wait": "waits"}[what]] != int(number.replace("no", "0")):
            yield f"{number} {what}"


def recorded_times(stages, options):
    """Of the newest records of stages, at parameters that an option has ({} for any), the medians and what their runs measured
    beside; and percentages of the speed of light."""
    times, percentages = set(), set()
    for records in all_records():
        for track in {stage.split("/")[0] for stage in stages}:
            for parameters, rows in records.rows.get(track, {}).items():
                values = dict(parameters)
                if any(name[2:] in values and not is_one_of(values[name[2:]], text) for name, text in options.items()):
                    continue
                for row in [rows[stage] for stage in stages if stage in rows and rows[stage]["status"] == "ok"]:
                    times |= {row["timing"]["median"], (row["run"]["floor"] or row["timing"])["median"]}
                    times |= {one["timing"]["median"] for group in row["run"]["groups"] if parameter_set(group["parameters"]) == parameters for one in group["ceilings"]}
                    percentages |= {100 * row["ceiling"] / row["timing"]["median"]} if row["ceiling"] else set()
    return times, percentages


@functools.cache
def all_records():
    """Of each device, and of the sweep of small sizes."""
    found = [Records(folder) for folder in sorted((ROOT / "reports").glob("h*/"))]
    with tempfile.TemporaryDirectory() as folder:
        for path in (ROOT / "reports").glob("h*/small_n/*.json"):
            pathlib.Path(folder, f"{path.stem}.jsonl").write_text(json.dumps(read_json(path)), encoding="utf-8")
        return [*found, Records(pathlib.Path(folder))]


def is_one_of(value, text):
    """Whether an option's list, "300,1e4" or "mean,std", has a parameter's value."""
    for word in text.replace("_", "").split(","):
        try:
            if float(word) == value:
                return True
        except ValueError:
            if word == str(value).replace("_", ""):
                return True
    return False


def time_mistakes(paragraph, stages, options):
    times, percentages = recorded_times(stages, options)
    for numbers, unit in TIMES.findall(statements_of(paragraph)):
        for number in re.findall(r"\d+(?:\.\d+)?", numbers):
            half = 0.5 * 10.0 ** -len(number.partition(".")[2])
            near = max(half * 1.001, 0.02 * float(number))
            if not any(abs(one / UNITS[unit] - float(number)) <= near for one in (percentages if unit == "%" else times)):
                yield f"{number} {unit}"


def stated_mistakes(paragraph, page):
    """What a track's or a stage's page says that a stage takes or reaches, and no record of it has."""
    track, *stage = page.relative_to(ROOT / "stages").parent.parts
    for name, figures in STATED.findall(re.sub(r"\]\([^)]*\)", "]", paragraph)):
        stages = {f"{track}/{one}" for one in ([name] if name else stage)}
        yield from time_mistakes(figures, stages, {}) if stages else ()


def paragraphs_of(text):
    """(paragraph, the section that it stands in) of a page, without what scripts have written."""
    for section in re.split(r"^(?=#)", GENERATED.sub("", text), flags=re.MULTILINE):
        for paragraph in re.split(r"\n\s*\n", FENCED.sub("", section)):
            yield " ".join(paragraph.split()), section


def answers_of(text, track):
    """The sentences of a teacher's page that say what was run on the emulator, each behind its commands."""
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        page = ROOT / "stages" / track / section.partition("\n")[0].strip() / "README.md"
        commands = re.findall(r"`(?:\w+=\w+ )?(?:\./)?lab profile [^`]*`", page.read_text(encoding="utf-8")) if page.exists() else []
        for paragraph in re.split(r"\n\s*\n", section):
            question, _, answer = " ".join(paragraph.split()).removeprefix("**").partition("** ")
            for sentence in re.findall(r"(?:^|[.?!] )([^.?!]*\(run on the emulator\))", answer):
                yield " ".join([*commands, *(f"`{code}`" for code in CODE.findall(question)), sentence]), section


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--program", default=str(ROOT / "build" / "emulator" / "lab"))
    options = parser.parse_args()
    program = pathlib.Path(options.program).resolve()
    if not program.is_file():
        sys.exit(f"check_figures.py: there is no {program}: build the lab, or name it with --program")
    pages = options.pages or [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("stages/**/*.md"))]
    counters, checked = Counters(program), []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for paragraph, section in answers_of(text, page.stem) if page.parent.name == "teacher" else paragraphs_of(text):
            commands = commands_of(paragraph)
            profiles = [one for one in commands if one.verb == "profile" and WHOLE.search(statements_of(paragraph))]
            checked.append((page, paragraph, section, profiles, commands))
            for command in profiles:
                counters.ask_for(set(command.stages), command, command.options)
    counters.count()
    # What else a figure may be is counted where its own command does not have it.
    for _, paragraph, _, profiles, _ in checked:
        if profiles and next(counter_mistakes(paragraph, profiles, counters), None):
            for command in profiles:
                for more in [{}, *other_options(paragraph)]:
                    counters.ask_for(stages_counted(paragraph, command), command, command.changed(more))
    counters.count()
    mistakes = []
    for page, paragraph, section, profiles, commands in checked:
        page = page.relative_to(ROOT) if page.is_relative_to(ROOT) else page
        for command in commands:
            if command.verb == "trace":
                mistakes += [f"{page}: the command beside it has not {figure}: {paragraph[:60]}..." for figure in trace_mistakes(paragraph, command, program)]
        if page.parts[0] == "stages" and not paragraph.startswith("**Predict"):
            mistakes += [f"{page}: no record of the stage has {figure}: {paragraph[:60]}..." for figure in stated_mistakes(paragraph, ROOT / page)]
        runs = [one for one in commands if one.verb == "run"]
        if profiles:
            mistakes += [f"{page}: no command counts {figure}: {paragraph[:60]}..." for figure in counter_mistakes(paragraph, profiles, counters)]
        of_section = [stage for stage in STAGES if stage in section] if "recorded time" in paragraph.replace("[", "").lower() else []
        if runs or of_section:
            stages = {stage for one in runs for stage in one.stages} | set(of_section)
            named = {name: text for one in runs for name, text in one.options.items()}
            mistakes += [f"{page}: no record has {figure}: {paragraph[:60]}..." for figure in time_mistakes(paragraph, stages, named) if runs or "%" not in figure]
    for line in mistakes:
        print(line)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
