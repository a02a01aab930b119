#!/usr/bin/env python3
"""Builds stages with one mistake each (mutants.json), and records who finds the mistake.

A mutant is a worker of which one line of the stage, or of a header that it includes, is another one. On the emulator it is
observed, verified if that finds nothing, and observed once more at the parameters of `once`. On a GPU it is verified by the
first trials, and makes one launch at those, which each of compute-sanitizer's tools watches, too. A tool that complains about the right kernel as
well finds nothing.

usage: tests/mutants/mutants.py BUILD [STAGE...]         on the emulator, with the workers of this build folder
       tests/mutants/mutants.py --gpu BUILD [STAGE...]   on the GPU
       tests/mutants/mutants.py --table                  rewrite the table of docs/emulator.md
       tests/mutants/mutants.py --check                  exit 1 if a mutation does not apply or the table is not of today

STAGE is a path or its beginning. JOBS=N: so many at a time (2).
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIST = ROOT / "tests" / "mutants" / "mutants.json"
PAGE = ROOT / "docs" / "emulator.md"
TABLE = re.compile(r"(<!-- mutants -->\n).*?(<!-- /mutants -->)", re.DOTALL)
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
FINDERS = ("emulator", "gpu", *TOOLS)
SECONDS = {"cuda": 30, "observed": 300}  # by the clock


def read_groups():
    groups = json.loads(LIST.read_text())
    for group in groups:
        source = (ROOT / group["file"]).read_text()
        for mutant in group["mutants"]:
            if source.count(mutant["old"]) != 1:
                sys.exit(f"{group['file']}: {mutant['idea']}: the old text is there {source.count(mutant['old'])} times")
    return groups


def write_groups(groups):
    """A line for each mutant."""
    texts = []
    for group in groups:
        head = json.dumps({key: value for key, value in group.items() if key != "mutants"})[:-1]
        texts.append(head + ', "mutants": [\n' + ",\n".join("  " + json.dumps(one) for one in group["mutants"]) + "\n]}")
    LIST.write_text("[\n" + ",\n".join(texts) + "\n]\n")


def build(folder, commands, backend, group, mutant, overlay):
    """The worker of a mutant, in the folder `overlay`; of the right stage, if there is no mutant."""
    stage = group["stage"]
    compiling = next(line for line in commands if f"stage.{stage.replace('/', '.')}.{backend}.dir" in line and " -c " in line)
    linking = next(line for line in commands if f"-o workers/{backend}/{stage} " in line)
    made = re.search(r" -o (\S+\.o)\b", compiling)[1]
    if mutant:
        changed = overlay / group["file"]
        changed.parent.mkdir(parents=True)
        changed.write_text((ROOT / group["file"]).read_text().replace(mutant["old"], mutant["new"]))
        if backend == "cuda" and changed.suffix == ".cu":
            compiling = compiling.replace(f"-c {ROOT}/{group['file']}", f"-c {changed}")
    # What is changed is found first.
    compiling = compiling.replace(f" -I{ROOT} ", f" -I{overlay} -I{ROOT} ").replace(made, f"{overlay}/stage.o")
    compiling = compiling.replace(" -Werror all-warnings", "").replace(" -Werror ", " ")
    if backend != "cuda":
        compiling += f" -ffile-prefix-map={overlay}={ROOT}"
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    subprocess.run(compiling, shell=True, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    # A worker is called like its stage.
    (overlay / stage).parent.mkdir()
    linking = linking.replace(made, f"{overlay}/stage.o").replace(f"-o workers/{backend}/{stage} ", f"-o {overlay}/{stage} ")
    subprocess.run(linking, shell=True, cwd=folder, check=True, capture_output=True, text=True)
    return overlay / stage


def run(backend, command, worker, request):
    """Exit code and output; None and "" for what does not end."""
    command = [*command, str(worker), "--device", "0", "--once", json.dumps(request)]
    try:
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS[backend])
    except subprocess.TimeoutExpired:
        return None, ""
    return ended.returncode, ended.stdout


def short(text):
    return re.sub(r"\S*\(anonymous namespace\)::|cudaErrorLaunchFailure: ", "", text.replace(f"{ROOT}/", ""))[:240]


def ask(backend, worker, request):
    """What a worker finds wrong: "" if nothing is."""
    code, output = run(backend, [], worker, request)
    if code == 0:
        return ""
    if code is None:
        return "does not end"
    lines = output.strip().splitlines() or ["no answer"]
    if code == 2:
        sys.exit(f"{request}: {lines[-1][:1000]}")
    try:
        return short(json.loads(lines[-1])["message"])
    except ValueError:
        return f"ends with code {code}"


def look(worker, tool, once):
    """What a tool of compute-sanitizer finds wrong with one launch."""
    code, output = run("cuda", ["compute-sanitizer", "--tool", tool], worker, once)
    said = [line[10:].strip() for line in output.splitlines() if line.startswith("=========")]
    if code is None or (said and re.search(r"SUMMARY: 0 (errors|hazards)", said[-1])):
        return ""
    return short(next((line for line in said if line and not re.match("COMPUTE-SANITIZER|.*SUMMARY", line)), f"ends with code {code}"))


def record(folder, backend, group, mutant, commands):
    with tempfile.TemporaryDirectory() as overlay:
        try:
            worker = build(folder, commands, backend, group, mutant, pathlib.Path(overlay))
        except subprocess.CalledProcessError as failure:
            sys.exit(f"{group['stage']}: {mutant and mutant['idea']}: {failure.stdout}{failure.stderr}")
        verify, once = ({"op": op, "stage": group["stage"]} for op in ("verify", "once"))
        once["parameters"] = group["once"]
        if backend != "cuda":
            return {"emulator": ask(backend, worker, {**verify, "op": "observe"}) or ask(backend, worker, verify) or ask(backend, worker, {**once, "op": "counters"})}
        found = ask(backend, worker, {**verify, "thorough": False}) or ask(backend, worker, once)
        return {"gpu": found, **{tool: look(worker, tool, once) for tool in TOOLS}}


def main(arguments):
    if arguments in (["--table"], ["--check"]):
        old = PAGE.read_text()
        new = TABLE.sub(lambda match: match[1] + table(read_groups()) + match[2], old)
        if arguments == ["--table"]:
            PAGE.write_text(new)
        elif new != old:
            sys.exit(f"{PAGE.name}: the table of mutants is not of today (tests/mutants/mutants.py --table)")
        return
    backend = "observed"
    if arguments[:1] == ["--gpu"]:
        backend, arguments = "cuda", arguments[1:]
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    folder, stages = arguments[0], tuple(arguments[1:]) or ("",)
    groups = read_groups()
    chosen = [group for group in groups if group["stage"].startswith(stages)]
    workers = sorted({f"workers/{backend}/{group['stage']}" for group in chosen})
    subprocess.run(["ninja", "-C", folder, *workers], check=True, stdout=subprocess.DEVNULL)
    listed = {worker: subprocess.run(["ninja", "-C", folder, "-t", "commands", worker], check=True, capture_output=True, text=True).stdout.splitlines() for worker in workers}
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        begun = []
        for group in chosen:
            commands = listed[f"workers/{backend}/{group['stage']}"]
            if backend == "cuda":
                begun.append((group, None, pool.submit(record, folder, backend, group, None, commands)))
            begun += [(group, mutant, pool.submit(record, folder, backend, group, mutant, commands)) for mutant in group["mutants"]]
        for group, mutant, future in begun:
            found = future.result()
            if mutant is None:
                group["right"] = {finder: text for finder, text in found.items() if text}
            else:
                mutant["found"] = {**mutant.get("found", {}), **found}
            print(group["stage"], "|", mutant["idea"] if mutant else "the right kernel", "|", json.dumps(found), flush=True)
            write_groups(groups)


def how_many(column):
    """Of the mutants that ran: "12", "12 of 13" where others did not, "-" where none did."""
    ran = [one for one in column if one is not None]
    return "-" if not ran else f"{sum(ran)}" if len(ran) == len(column) else f"{sum(ran)} of {len(ran)}"


def table(groups):
    found_by = [finder for finder in FINDERS if any(finder in mutant.get("found", {}) for group in groups for mutant in group["mutants"])]
    rows, missed = {}, []
    for group in groups:
        for mutant in group["mutants"]:
            found = [bool(mutant["found"][finder]) and finder not in group.get("right", {}) if finder in mutant["found"] else None for finder in found_by]
            rows.setdefault(group["stage"], []).append(found)
            if not mutant["found"]["emulator"]:
                missed.append(f"* `{group['stage']}`: {mutant['idea']}. {mutant['why']}\n")
    every = [found for of_stage in rows.values() for found in of_stage]
    rows = {f"`{stage}`": of_stage for stage, of_stage in rows.items()}
    rows["all"] = every
    rows = {name: [len(some), *map(how_many, zip(*some))] for name, some in rows.items()}
    head = ["stage", "mutants", *found_by]
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *[[name, *map(str, row)] for name, row in rows.items()]]
    return "\n" + "".join("| " + " | ".join(line) + " |\n" for line in lines) + "\nNot found on the emulator:\n\n" + "".join(missed) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
