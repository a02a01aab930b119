"""What the sources say of tracks and stages, read without a compiler: titles, parameters, ideas, and what stages need.

Only the form is understood in which problem.hpp, track.cpp and stage.cu are written (docs/add-a-stage.md): designated
initialisers with literals. What is written otherwise is told as not understood, and costs no other stage its line.
"""

import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

TOKEN = re.compile(r'\s+|//[^\n]*|/\*.*?\*/|(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>[A-Za-z_][\w:]*|\.[A-Za-z_]\w*|-?[\d][\w.\']*)|(?P<mark>.)', re.DOTALL)
NUMBER = re.compile(r"-?\d[\d']*(\.\d+)?([eE][-+]?\d+)?$")
FAILURES_LIST = re.compile(r"constexpr\s+failure_pattern\s+(\w+)\[\]\s*=\s*(?=\{)")


class NotUnderstood(Exception):
    """The sources are not written in the form that this reads."""


def tokens_of(text):
    found = []
    for match in TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "text" and found and found[-1][0] == "text":
            found[-1] = ("text", found[-1][1] + literal(match.group()))
        elif kind:
            found.append((kind, literal(match.group()) if kind == "text" else match.group()))
    return found


def literal(quoted):
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), quoted[1:-1])


class Reader:
    """Braced initialisers as Python values: {.a = 1} a dictionary, {1, "b"} a list, all else a list of its tokens as
    an Expression."""

    def __init__(self, text):
        self.tokens = tokens_of(text)
        self.at = 0

    def mark(self):
        return self.tokens[self.at][1] if self.at < len(self.tokens) and self.tokens[self.at][0] == "mark" else ""

    def value(self):
        if self.mark() == "{":
            return self.braced()
        taken, depth = [], 0
        while self.at < len(self.tokens):
            mark = self.mark()
            if depth == 0 and mark in (",", "}", ")", ";"):
                break
            depth += (mark in ("(", "[", "{")) - (mark in (")", "]", "}"))
            taken.append(self.tokens[self.at])
            self.at += 1
        return simple(taken)

    def braced(self):
        self.at += 1
        named, listed = {}, []
        while self.mark() != "}":
            if self.at >= len(self.tokens):
                raise NotUnderstood("a brace is not closed")
            name = None
            if self.tokens[self.at][1].startswith(".") and self.tokens[self.at][0] == "word":
                name = self.tokens[self.at][1][1:]
                self.at += 1
                if self.mark() not in ("=", "{"):
                    raise NotUnderstood(f".{name} has no value")
                if self.mark() == "=":
                    self.at += 1
            value = self.value()
            if name:
                named[name] = value
            else:
                listed.append(value)
            if self.mark() == ",":
                self.at += 1
            elif self.mark() != "}":
                raise NotUnderstood("a list is not closed")
        self.at += 1
        return named if named else listed


class Expression(list):
    """Tokens that are no literal."""

    def text(self):
        return "".join(token for _, token in self)


def simple(tokens):
    if len(tokens) == 1:
        kind, token = tokens[0]
        if kind == "text":
            return token
        if token in ("true", "false"):
            return token == "true"
        if NUMBER.match(token):
            digits = token.replace("'", "")
            return int(digits) if re.fullmatch(r"-?\d+", digits) else float(digits)
    return Expression(tokens)


def braced_after(text, position):
    """The value of the first brace from this position on."""
    return Reader(text[text.index("{", position):]).value()


def all_parameters(value):
    """Every group that has a name and a meaning, in order, wherever it stands."""
    if isinstance(value, dict):
        if "name" in value and "meaning" in value:
            return [value]
        value = list(value.values())
    if isinstance(value, Expression) or not isinstance(value, list):
        return []
    return [one for element in value for one in all_parameters(element)]


def body_of(text, name):
    """The braces of the function `name`, with them."""
    if f"{name}(" not in text:
        return None
    match = re.search(rf"\b{name}\([^;{{}}]*\)\s*(?={{)", text)
    if not match:
        return None
    depth = 0
    for found in re.finditer(r'"(?:[^"\\]|\\.)*"|//[^\n]*|[{}]', text[match.end():]):
        depth += {"{": 1, "}": -1}.get(found.group(), 0)
        if found.group() == "}" and depth == 0:
            return text[match.end():match.end() + found.end()]
    return None


def groups_in(body):
    """Parameters and calls of the functions that make parameters, in their order in a function's body."""
    found = []
    at = 0
    start = re.compile(r'\{\s*\.name\s*=|\b(parameter_\w+|column_parameter_list)\s*<[^()]*>\s*\(')
    while match := start.search(body, at):
        if match[1]:
            reader = Reader(body[match.end():])
            argument = reader.value() if reader.mark() != ")" else None
            found.append((match[1], argument))
            at = match.end()
            if isinstance(argument, dict):  # its names are not those of parameters
                at = body.index(")", at)
        else:
            value = Reader(body[match.start():]).value()
            found.append((None, value))
            at = match.start() + 1
    return found


@functools.lru_cache
def headers(root):
    """Where the functions are that make parameters."""
    files = [*sorted((root / "harness/device").glob("*parameter*.hpp")), root / "harness/device/column_problem.hpp"]
    return "\n".join(file.read_text(encoding="utf-8") for file in files if file.exists())


class Track:
    """One directory of stages/: title, unit, parameters, texts (further options of apply) and stages."""

    def __init__(self, directory, root=ROOT):
        self.root = root
        self.directory = directory
        self.name = directory.name
        self.problem = ""
        self.parameters, self.texts = [], []
        try:
            texts = {file: file.read_text(encoding="utf-8", errors="replace") for file in sorted(directory.glob("*.[hc]pp"))}
        except OSError as error:
            texts, self.problem = {}, str(error)
        self.sources = "\n".join(texts.values())
        head = texts.get(directory / "problem.hpp", "")
        self.title = self.constant(head, "title") or "(no title is found in problem.hpp)"
        self.unit = self.constant(head, "unit") or "element"  # as array_problem has it
        try:
            self.parameters = self.read_parameters()
            self.texts = self.read_texts()
        except (NotUnderstood, ValueError, LookupError) as error:
            self.problem = f"its parameters are not understood: {error}"
        self.stages = [stage_of(file, directory) for file in sorted(directory.glob("*/stage.cu"))]

    @staticmethod
    def constant(text, name):
        match = re.search(rf"\b{name}\s*=\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+);", text)
        return tokens_of(match[1])[0][1] if match else ""

    def read_parameters(self):
        body = body_of(self.sources, "describe")
        if body is None:
            raise NotUnderstood("no describe() is found")
        found = []
        for function, value in groups_in(body):
            if function is None:
                found.append(self.parameter(value, body))
                continue
            made = body_of(headers(self.root), function)
            if made is None:
                raise NotUnderstood(f"{function} is defined nowhere in harness/device")
            found += [self.parameter(one, made, value) for _, one in groups_in(made)]
        if not found:
            raise NotUnderstood("describe() returns none")
        return found

    def parameter(self, group, body, argument=None):
        """One parameter of a group of initialisers, those of a function with its argument instead of its name."""
        if not isinstance(group, dict):
            raise NotUnderstood("a parameter that is not written as a group of initialisers")
        resolved = {name: self.resolve(value, body, argument) for name, value in group.items() if name in ("name", "meaning", "bench", "emulator_bench", "choices")}
        choices = resolved.get("choices", [])
        words = None if isinstance(choices, Expression) else [one[1] if isinstance(one, list) else one for one in choices]
        numbers = {one[0]: one[1] for one in choices if isinstance(one, list) and len(one) == 2 and isinstance(one[0], int)}
        defaults = {}
        for kind, member in (("cuda", "bench"), ("emulator", "emulator_bench")):
            values = resolved.get(member) or resolved.get("bench", [])
            if isinstance(values, Expression) or any(isinstance(one, Expression) for one in values):
                raise NotUnderstood(f"the defaults of {resolved.get('name')}")
            is_choice = words and not any(isinstance(one, str) for one in values)
            defaults[kind] = [numbers.get(one, words[one] if one < len(words) else one) if is_choice else one for one in values]
        return {"name": resolved["name"], "meaning": resolved["meaning"], "choices": words, "defaults": defaults}

    def resolve(self, value, body, argument):
        if isinstance(value, list) and not isinstance(value, Expression):
            return [self.resolve(one, body, argument) for one in value]
        if not isinstance(value, Expression):
            return value
        text = value.text()
        moved = re.fullmatch(r"std::move\((\w+)\)", text)
        if isinstance(argument, dict):
            for member, given in argument.items():
                if text == f"defaults.{member}" or (moved and moved[1] == member):
                    return given
        elif argument is not None and re.fullmatch(r"\w+", text):
            return argument
        filled = re.search(rf"\b{re.escape(text)}\.push_back\(\{{[^,]*,\s*(\w+)\[", body)
        if filled:
            array = re.search(rf"\b{filled[1]}\[\]\s*=\s*(?={{)", self.sources)
            if array:
                return braced_after(self.sources, array.end())
        return value

    def read_texts(self):
        body = body_of(self.sources, "texts")
        if body is None:
            return []
        return [{"name": one[0], "meaning": one[1]} for one in braced_after(body, body.index("return"))]


def stage_of(file, directory):
    """A stage as its registration tells it; `problem` says why it is not understood."""
    path = f"{directory.name}/{file.parent.name}"
    stage = {"name": file.parent.name, "path": path, "idea": "", "needs": "", "library": False, "expected_failure": "", "gpu_only": False, "hidden": {}, "problem": ""}
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
        match = re.search(r"\{\s*\.idea\s*=", text)
        if not match:
            raise NotUnderstood("no registration with .idea is found")
        # Where the preprocessor chooses, either way will do: what is read here does not depend on it.
        value = Reader(re.sub(r"^[ \t]*#.*$", "", text[match.start():], flags=re.MULTILINE)).value()
        idea = value.get("idea")
        if not isinstance(idea, str) or isinstance(idea, Expression):
            raise NotUnderstood("the idea is no text")
        stage["idea"] = shown(idea)
        traits = value.get("traits", {})
        if not isinstance(traits, dict):
            raise NotUnderstood("the traits are no list of names and values")
        stage["library"] = traits.get("library") is True
        stage["gpu_only"] = traits.get("gpu_only") is True
        least = traits.get("minimum_compute_capability", 0)
        words = (["GPU"] if stage["gpu_only"] else []) + ([f"compute capability {least // 10}.{least % 10}"] if least else [])
        stage["needs"] = ", ".join(words)
        if failure := traits.get("expected_failure"):
            stage["expected_failure"] = expected_failure(failure.get("failures"), text)
            stage["hidden"] = {"cuda": failure.get("hidden_on_gpu", ""), "emulator": failure.get("hidden_on_emulator", "")}
    except (NotUnderstood, OSError, AttributeError, TypeError, IndexError) as error:
        stage["problem"] = f"not understood, {file.name}: {error}"
    return stage


def expected_failure(failures, text):
    if isinstance(failures, Expression):
        for match in FAILURES_LIST.finditer(text):
            if match[1] == failures.text():
                failures = braced_after(text, match.end())
    if isinstance(failures, Expression) or not failures:
        raise NotUnderstood("which failures are expected")
    said = []
    for one in failures:
        kind = one[0].text().removeprefix("failure_kind::")
        said.append(f'{kind}: "{one[1]}"' if len(one) > 1 else kind)
    return ", or ".join(said)


def shown(text):
    """Without control characters, and on one line."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def order_of_lessons(root=ROOT):
    """The tracks as docs/start-here.md first names them among its lessons."""
    try:
        page = (root / "docs/start-here.md").read_text(encoding="utf-8")
    except OSError:
        return []
    lessons = page[page.find("\n## The lessons"):]
    return list(dict.fromkeys(re.findall(r"\]\(\.\./stages/(\w+)/", lessons)))


def names(root=ROOT):
    """The names of all tracks, in the order of the lessons; others after them, by the alphabet."""
    found = {stage.parent.parent.name for stage in root.glob("stages/*/*/stage.cu")}
    order = order_of_lessons(root)
    return sorted(found, key=lambda name: (order.index(name) if name in order else len(order), name))
