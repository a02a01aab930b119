#!/usr/bin/env python3
"""Builds one searchable site of the handbook, the tracks' pages, the workshop and the course, with the slides and a few pages of `lab view`.

usage: docs/site/build.py            build/site/index.html; the tools come from PyPI into build/site-tools
       docs/site/build.py --check    build nothing: exit 1, with a line for each, where a page links to what is no part of the site
       docs/site/build.py --tools DIR   an environment of Python that has docs/site/requirements.txt

The site is for students: what lies below docs/teacher/ is no part of it, and a page that links there is an error. A link
to a source file leads to a page that shows it, one to a folder to a list of what is in it.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(ROOT / "harness" / "launcher"))
import check_links  # noqa: E402
import tracks as sources  # noqa: E402

TEACHERS = "docs/teacher/"
NO_PAGES = (TEACHERS, "docs/site/", "docs/slides/", "build/", "tests/")
PICTURES = (".svg", ".png")
# Stages that the site shows as `lab view` does, each with its parameters: those of lessons 2 to 4.
VIEWS = {
    "reduction_2d/02_coalesced": ["--rows", "1024", "--columns", "1024", "--result", "rows"],
    "shared_tile/02_missing_barrier": [],
    "moving_average/04_padded": ["--n", "100000"],
}
LANGUAGES = {".cu": "cuda", ".cuh": "cuda", ".hpp": "cpp", ".cpp": "cpp", ".py": "python", ".json": "json"}
LINK = re.compile(r"(\]\(\s*<?|^ {0,3}\[[^\]]+\]:\s*<?|<[a-zA-Z][^>]*\b(?:href|src)=\")([^\s()<>\"]+)")

HANDBOOK = ["start-here", "commands", "glossary", "exercises", "grade", "predict", "draw", "add-a-stage", "add-a-track", "measuring",
            "compare", "report", "peers", "emulator", "emulate", "counters", "claims", "nsight-labs", "several-gpus", "run-time-compilation", "ptx",
            "results-schema", "architecture"]


def pages_of(root):
    """The pages of the site, by their paths below `root`."""
    return {path: text for path in check_links.pages_of(root) if not path.as_posix().startswith(NO_PAGES)
            for text in [(root / path).read_text(encoding="utf-8")]}


class Site:
    """`files`: what is copied or made, {path: text, or None to copy}; `problems`: texts "FILE:LINE: MESSAGE"."""

    def __init__(self, root):
        self.root, self.files, self.problems = root, {}, []
        self.pages = pages_of(root)
        for path, text in self.pages.items():
            self.files[path.as_posix()] = self.rewritten(path, text)
        self.files["README.md"] += to_look_at() + contents(self.pages)
        for track in tracks_of(self.pages):
            self.files[track.as_posix()] += stages_of(track, self.pages)

    def rewritten(self, page, text):
        """The page with links that lead to pages and pictures of the site alone."""
        without_code = dict(check_links.Page.lines_without_code(text))
        lines = []
        for number, line in enumerate(text.splitlines(), 1):
            if number in without_code:
                # Code between backticks stays as it is.
                parts = re.split(r"((?<!`)`+(?!`).+?(?<!`)`+(?!`))", line)
                line = "".join(part if part.startswith("`") else LINK.sub(lambda match, number=number: match[1] + self.target(page, number, match[2]), part) for part in parts)
            lines.append(line)
        return "\n".join(lines) + "\n"

    def target(self, page, line, target):
        try:
            place = check_links.resolve(page, target)
        except ValueError as error:
            self.problems.append(f"{page}:{line}: {target}: {error}")
            return target
        if place is None or target.startswith("#"):
            return target
        path, anchor = place
        if f"{path.as_posix()}/".startswith(TEACHERS) or not (self.root / path).exists():
            self.problems.append(f"{page}:{line}: {target}: is no part of the site")
            return target
        if path in self.pages:
            new = path.as_posix()
        elif path / "README.md" in self.pages:
            new = (path / "README.md").as_posix()
        else:
            new, anchor = self.shown(path), ""
        relative = os.path.relpath(new, page.parent.as_posix())
        return relative + (f"#{anchor}" if anchor else "")

    def shown(self, path):
        """What stands for a file that is no page, or for a folder."""
        name, file = path.as_posix(), self.root / path
        if file.is_dir():
            new = f"{name}/folder.md"
            kept = sorted(one.name + ("/" if one.is_dir() else "") for one in file.iterdir()
                          if not one.name.startswith((".", "__")) and f"{name}/{one.name}/" != TEACHERS)
            self.files[new] = f"---\norphan: true\n---\n# {name}\n\n" + "".join(f"* `{one}`\n" for one in kept)
            return new
        if path.suffix in PICTURES:
            self.files[name] = None
            return name
        new = f"{name}.md"
        text = file.read_text(encoding="utf-8", errors="replace")
        self.files[new] = f"---\norphan: true\n---\n# {name}\n\n``````{LANGUAGES.get(path.suffix, 'text')}\n{text}``````\n"
        return new


def tracks_of(pages):
    """The tracks' pages in the order of the lessons."""
    order = sources.order_of_lessons(ROOT)
    found = [path for path in pages if len(path.parts) == 3 and path.parts[0] == "stages" and path.name == "README.md"]
    return sorted(found, key=lambda path: (order.index(path.parts[1]) if path.parts[1] in order else len(order), path))


def toctree(entries, caption=""):
    """A table of contents that the site shows at its side alone."""
    return "\n```{toctree}\n:hidden:\n" + (f":caption: {caption}\n" if caption else "") + "\n" + "".join(f"{entry}\n" for entry in entries) + "```\n"


def stages_of(track, pages):
    """The table of contents of a track's page: its stages with their numbers, then what else lies in its folder."""
    def entry(path):
        title = next((line[2:].replace("`", "") for line in pages[path].splitlines() if line.startswith("# ")), path.stem)
        return f"{path.parts[2][:2]} {title} </{path.with_suffix('').as_posix()}>" if path.name == "README.md" else f"/{path.with_suffix('').as_posix()}"

    below = sorted(path for path in pages if path != track and path.is_relative_to(track.parent))
    return toctree(map(entry, sorted(below, key=lambda path: path.name != "README.md"))) if below else ""


def to_look_at():
    """Links to what is no page of Sphinx's."""
    def item(address, words):
        return f'<li><a href="{address}">{words}</a></li>\n'

    views = "".join(item(view_of(stage), f"<code>{stage}</code>: its source beside that of the stage before, with counters at each line") for stage in VIEWS)
    return f"\n## To look at\n\n<ul>\n{views}{item('slides/workshop.html', 'The slides of the workshop')}</ul>\n"


def view_of(stage):
    return f"view/{stage.replace('/', '_')}.html"


def contents(pages):
    """The tables of contents of the first page."""
    def part(caption, names):
        return toctree(names, caption)

    known = {path.as_posix()[:-3] for path in pages}
    handbook = [f"docs/{name}" for name in HANDBOOK if f"docs/{name}" in known]
    taught = [name for name in ("docs/workshop", "docs/course") if name in known]
    tracks = [track.with_suffix("").as_posix() for track in tracks_of(pages)]
    folders = tuple(f"{track.removesuffix('README')}" for track in tracks)
    rest = sorted(name for name in known - {"README", *handbook, *taught} if not name.startswith(folders))
    return part("Handbook", handbook) + part("Taught", taught) + part("Tracks", tracks) + part("More", rest)


def tools(folder):
    """The Python of an environment that has what is needed, made if need be."""
    python = folder / "bin" / "python"
    if not python.exists():
        print("site: installing Sphinx, MyST, Furo and pandoc from PyPI", file=sys.stderr)
        try:
            venv.create(folder, with_pip=True)
        except subprocess.CalledProcessError:
            shutil.rmtree(folder, ignore_errors=True)
            sys.exit("site: python3 cannot make a virtual environment here (Debian and Ubuntu: package python3-venv)")
        done = subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=False)
        if done.returncode != 0:
            shutil.rmtree(folder)
            sys.exit("site: pip could not install docs/site/requirements.txt (is there a network?)")
    return python


def write(site, folder):
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in site.files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            shutil.copyfile(site.root / name, place)
        else:
            place.write_text(text, encoding="utf-8")
    shutil.copyfile(HERE / "conf.py", folder / "conf.py")
    (folder / "_static").mkdir()
    shutil.copyfile(HERE / "site.css", folder / "_static" / "site.css")


FOREIGN = re.compile(r"""<(?:link|script|img|iframe|source)\b[^>]*\b(?:href|src)\s*=\s*["']?(?:https?:)?//|@import|url\(\s*["']?(?:https?:)?//""", re.IGNORECASE)


def without_foreign_font(page):
    """The slides without the font that pandoc's template asks Google for: they use the reader's own (slides.html). Raises
    ValueError where a page still asks another host for something."""
    page = re.sub(r"""<link\b[^>]*//fonts\.googleapis\.com/[^>]*>\n?""", "", page).replace("'Oswald', arial, serif", "system-ui, sans-serif")
    if found := FOREIGN.search(page):
        raise ValueError(f"the slides ask another host for something: {page[found.start():found.start() + 100]}")
    return page


def build_slides(python, output):
    """docs/slides/*.md as HTML slides (pandoc's DZSlides), each in one file with its pictures beside it."""
    for slides in sorted((ROOT / "docs" / "slides").glob("*.md")):
        place = output / "slides" / f"{slides.stem}.html"
        place.parent.mkdir(parents=True, exist_ok=True)
        call = "import pypandoc, sys; pypandoc.convert_file(sys.argv[1], 'dzslides', format='gfm+yaml_metadata_block', outputfile=sys.argv[2], extra_args=['--standalone', '--slide-level=2', '-H', sys.argv[3]])"
        subprocess.run([python, "-c", call, slides, place, HERE / "slides.html"], check=True)
        place.write_text(without_foreign_font(place.read_text(encoding="utf-8")), encoding="utf-8")
    # Where the slides look for them: they stand as far from them as in docs/.
    shutil.copytree(ROOT / "docs" / "pictures", output / "pictures", dirs_exist_ok=True)


def build_views(output):
    """The pages of `lab view`, which builds the program first where that is needed."""
    (output / "view").mkdir(exist_ok=True)
    for stage, parameters in VIEWS.items():
        subprocess.run([sys.executable, "-B", ROOT / "reports" / "view.py", stage, *parameters, "--output", output / view_of(stage)], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--tools", type=pathlib.Path, default=ROOT / "build" / "site-tools")
    options = parser.parse_args()
    site = Site(ROOT)
    site.problems += [f"docs/site/build.py: there is no stage {stage} to look at" for stage in VIEWS if not (ROOT / "stages" / stage / "stage.cu").exists()]
    for problem in site.problems:
        print(problem)
    if site.problems or options.check:
        return 1 if site.problems else 0
    python = tools(options.tools)
    pages, output = ROOT / "build" / "site-pages", ROOT / "build" / "site"
    write(site, pages)
    done = subprocess.run([python, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-b", "html", pages, output], check=False)
    if done.returncode != 0:
        return 1
    shutil.copyfile(output / "README.html", output / "index.html")
    build_slides(python, output)
    build_views(output)
    print(f"site: {output.relative_to(ROOT)}/index.html, with slides/ and view/ beside it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
