#!/usr/bin/env python3
"""What the stages claim: stages/TRACK/STAGE/claims.json (docs/claims.md), and reports/claims.json, the emulator's figure of
every claim about a counter. Whether a file of claims has a mistake the program tells, with its line; here it is taken as it
stands. That the figures are today's a test of the program tells (tests/program/claims_test.cpp).

usage: reports/claims.py --count [PATTERN...]   count the figures of these stages anew (of all) with `lab profile --check`, and
                                                record them
       --program FILE   the built program (default: ./lab)
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COUNTERS = json.loads((ROOT / "harness" / "counters.json").read_text(encoding="utf-8"))["counters"]
TIME_WORDS = {
    "speedup": "times as fast as the stage before",
    "speedup_over_first": "times as fast as the first stage",
    "speedup_over_library": "times as fast as the library",
    "speed_of_light_percent": "percent of the speed of light",
}
COUNTED = pathlib.Path("reports", "claims.json")
OF_A_FIGURE = ("metric", "per", "over_previous")  # with the stage and the parameters: claims that share these are bounds of one figure


class BrokenClaims(Exception):
    """Claims that cannot be used: the file and why."""


def complete(document):
    """{"metrics": [...], "claims": [...]}; every claim has all fields."""
    nothing = {"per": None, "over_previous": False, "at": {}, "device": None, "compute_capability": None, "because": None, "after_measurement": False}
    return {"metrics": document.get("metrics", []), "claims": [{**nothing, **claim} for claim in document.get("claims", [])]}


def read_all(root=ROOT):
    """Stage -> what its file says, of every stage that has one. Raises BrokenClaims."""
    found = {}
    for path in sorted((root / "stages").glob("*/*/claims.json")):
        try:
            found[path.parent.relative_to(root / "stages").as_posix()] = complete(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise BrokenClaims(f"{path.relative_to(root).as_posix()}: {error}") from None
    return found


def figure_key(stage, claim):
    """Whether a file of claims has 1e5 or 100000 is the same."""
    return (stage, *(claim[name] for name in OF_A_FIGURE), tuple(sorted(claim["at"].items())))


def read_figures(root=ROOT):
    """Key -> what the emulator counts. Raises BrokenClaims."""
    path = root / COUNTED
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return {figure_key(one["stage"], one): one["figure"] for one in document["figures"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BrokenClaims(f"{COUNTED}: {type(error).__name__}: {error}") from None


def count(program, patterns):
    """Writes a line for each figure, so that a difference shows which have changed. Returns the program's exit code."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "found.json")
        done = subprocess.run([program, "profile", *patterns, "--check", "--device", "emulator", "--json", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if not path.exists():
            sys.exit(f"claims.py: {program} profile ended with {done.returncode}:\n{done.stdout[-2000:]}")
        verdicts = json.loads(path.read_text(encoding="utf-8"))["claims"]
    figures = read_figures() if (ROOT / COUNTED).exists() else {}
    figures.update({figure_key(one["stage"], one["claim"]): one["figure"] for one in verdicts if one["figure"] is not None})
    # What nobody claims any more is left out.
    claimed = {figure_key(stage, claim) for stage, own in read_all().items() for claim in own["claims"]}
    lines = [json.dumps({"stage": key[0], **dict(zip(OF_A_FIGURE, key[1:4])), "at": dict(key[4]), "figure": figure}) for key, figure in figures.items() if key in claimed]
    (ROOT / COUNTED).write_text('{"schema": "kernel-lab-claims", "version": 1, "figures": [\n' + ",\n".join(sorted(lines)) + "\n]}\n", encoding="utf-8")
    return done.returncode


def is_about_time(claim):
    return claim["metric"] in TIME_WORDS


def holds(claim, figure):
    value = claim["value"]
    if claim["holds"] == "equal":
        return abs(figure - value) <= 1e-9 * abs(value)
    return figure <= value if claim["holds"] == "at_most" else figure >= value


def speaks_of(claim, device):
    """Whether a claim is about this GPU, of a record."""
    if claim.get("device") and claim["device"] not in device["name"]:
        return False
    return not claim.get("compute_capability") or claim["compute_capability"] == device.get("compute_capability")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", nargs="*", metavar="PATTERN", required=True)
    parser.add_argument("--program", default=ROOT / "lab")
    options = parser.parse_args()
    sys.exit(count(options.program, options.count or ["*"]))
