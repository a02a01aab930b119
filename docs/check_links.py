#!/usr/bin/env python3
"""Checks the links of every page (*.md) of the repository.

usage: docs/check_links.py   exit 1, with a line FILE:LINE: MESSAGE for each mistake

A mistake is

* a relative link, an image or a definition ("[warp]: glossary.md#warp") whose file is not there, or whose file has
  no such anchor; a link that leaves the repository;
* [text][label] without a definition of `label`, a definition that nothing on its page uses, and one that is made twice;
* an entry of the glossary (a heading of the second level in docs/glossary.md) that no other page links to.

Links to other sites are not followed. Anchors are those that GitHub makes of headings (lower case, blanks become
hyphens, punctuation goes, a number follows the second of a name), and the ids and names of HTML. Code, fenced or
between backticks, holds no links.
"""

import os
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
GLOSSARY = pathlib.PurePosixPath("docs/glossary.md")
SKIPPED = {".git", "build", "exercises", "__pycache__", "node_modules"}

FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
DEFINITION = re.compile(r"^ {0,3}\[([^\]]+)\]:\s*<?([^\s>]+)>?")
INLINE = re.compile(r"\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+[\"'(][^)]*)?\)")
REFERENCE = re.compile(r"\[([^\[\]]+)\](?:\[([^\[\]]*)\])?(?![(\]])")
HTML = re.compile(r"<[a-zA-Z][^>]*\b(?:href|src)=\"([^\"]*)\"")
ANCHOR = re.compile(r"<[a-zA-Z][^>]*\b(?:id|name)=\"([^\"]*)\"")
COMMENT = re.compile(r"<!--.*?-->")


def slug(heading):
    """The anchor that GitHub makes of a heading's text."""
    text = re.sub(r"!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])?", r"\1", heading)
    text = re.sub(r"[^\w\- ]", "", text.replace("`", "").lower())
    return text.replace(" ", "-")


def label(text):
    """A label as definitions are found by it: blanks are one blank, and case does not count."""
    return " ".join(text.split()).casefold()


class Page:
    """A page: `anchors`, `entries` (anchors of headings of the second level), `links` [(line, target)], `definitions`
    {label: (line, target)}, `used` labels, and `problems` [(line, message)]."""

    def __init__(self, text):
        self.anchors, self.entries, self.links = set(), {}, []
        self.definitions, self.references, self.problems = {}, [], []
        for line, content in self.lines_without_code(text):
            self.read(line, content)
        self.used = {label(name) for _, name, _ in self.references}
        for line, name, must_be in self.references:
            if must_be and label(name) not in self.definitions:
                self.problems.append((line, f"[{name}] is not defined"))
        for name, (line, target) in self.definitions.items():
            self.links.append((line, target))
            if name not in self.used:
                self.problems.append((line, f"[{name}] is defined, and nothing uses it"))

    @staticmethod
    def lines_without_code(text):
        """(number, line) of what is no fenced code, without comments and code between backticks."""
        fence = None
        for number, line in enumerate(text.splitlines(), 1):
            mark = FENCE.match(line)
            if fence:
                if mark and mark[1].startswith(fence) and line.strip() == mark[1]:
                    fence = None
            elif mark:
                fence = mark[1]
            else:
                yield number, COMMENT.sub("", line)

    def read(self, line, content):
        heading = HEADING.match(content)
        if heading:
            self.add_heading(line, len(heading[1]), heading[2])
        content = CODE.sub("", content)
        self.anchors.update(ANCHOR.findall(content))
        definition = DEFINITION.match(content)
        if definition:
            name = label(definition[1])
            if name in self.definitions:
                self.problems.append((line, f"[{definition[1]}] is defined twice"))
            self.definitions[name] = (line, definition[2])
            return
        self.links += [(line, target) for target in INLINE.findall(content) + HTML.findall(content)]
        for text, name in REFERENCE.findall(INLINE.sub("]()", content)):
            self.references.append((line, name or text, bool(name)))

    def add_heading(self, line, level, text):
        anchor, number = slug(text), 0
        while (name := f"{anchor}-{number}" if number else anchor) in self.anchors:
            number += 1
        self.anchors.add(name)
        if level == 2:
            self.entries[name] = line


def pages_of(root):
    """{path below `root`: Page} of every *.md, but for what is built and what git keeps."""
    pages = {}
    for directory, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in SKIPPED)
        for name in sorted(files):
            if name.endswith(".md"):
                path = pathlib.Path(directory, name)
                text = path.read_bytes().decode(errors="replace")
                page = pages[pathlib.PurePosixPath(path.relative_to(root).as_posix())] = Page(text)
                if "\ufffd" in text:
                    page.problems.append((text[: text.index("\ufffd")].count("\n") + 1, "is not UTF-8"))
    return pages


def resolve(page, target):
    """(path below the root, anchor) of a link on `page`; None for one to another site. Raises ValueError."""
    parts = urllib.parse.urlsplit(target)
    if parts.scheme or parts.netloc:
        return None
    path = urllib.parse.unquote(parts.path)
    place = page.as_posix() if not path else path[1:] if path.startswith("/") else (page.parent / path).as_posix()
    place = os.path.normpath(place)
    if place == ".." or place.startswith("../"):
        raise ValueError("leaves the repository")
    return pathlib.PurePosixPath(place), urllib.parse.unquote(parts.fragment)


def problem_of(root, pages, path, anchor):
    """Why a link to `path` is dead; None where it is not."""
    if not (root / path).exists():
        return "there is no such file"
    if (root / path).is_dir():
        path = path / "README.md"
        if anchor and path not in pages:
            return "the directory has no README.md, whose anchor this would be"
    if not anchor or path in pages and anchor in pages[path].anchors:
        return None
    if path not in pages and re.fullmatch(r"L\d+(-L\d+)?", anchor):
        return None
    return f"{path} has no anchor #{anchor}"


def problems(root, glossary=GLOSSARY):
    """All mistakes below `root`, as texts "FILE:LINE: MESSAGE"."""
    root = pathlib.Path(root)
    pages = pages_of(root)
    found, linked = [], set()
    for name, page in pages.items():
        found += [(name, line, message) for line, message in page.problems]
        for line, target in page.links:
            try:
                place = resolve(name, target)
            except ValueError as error:
                found.append((name, line, f"{target}: {error}"))
                continue
            problem = place and problem_of(root, pages, *place)
            if problem:
                found.append((name, line, f"{target}: {problem}"))
            elif place and place[0] == glossary and name != glossary:
                linked.add(place[1])
    entries = pages[glossary].entries if glossary in pages else {}
    found += [(glossary, line, f"no page links to #{name}") for name, line in entries.items() if name not in linked]
    return [f"{name}:{line}: {message}" for name, line, message in sorted(found, key=lambda one: (str(one[0]), one[1]))]


def main(arguments):
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    found = problems(ROOT)
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
