"""What the stages claim: stages/TRACK/STAGE/claims.json (docs/claims.md). Whether such a file has a mistake the program
tells, with its line; here it is taken as it stands."""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
COUNTERS = json.loads((ROOT / "harness" / "counters.json").read_text(encoding="utf-8"))["counters"]
TIME_WORDS = {
    "speedup": "times as fast as the stage before",
    "speedup_over_first": "times as fast as the first stage",
    "speedup_over_library": "times as fast as the library",
    "speed_of_light_percent": "percent of the speed of light",
}


class BrokenClaims(Exception):
    """Claims that cannot be used: the file and why."""


def complete(document):
    """{"metrics": [...], "claims": [...]}; every claim has all fields."""
    nothing = {"per": None, "over_previous": False, "at": {}, "device": None, "compute_capability": None, "because": None}
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
