#!/usr/bin/env python3
"""What the stages claim: stages/TRACK/STAGE/claims.json (docs/claims.md), as harness/front/claims_file.cpp reads them too.

usage: reports/claims.py    read the claims of every stage; exit 1, with the file and the line, if one has a mistake

Whether a stage's track has a claim's parameters only the program knows: `lab profile --check`.
"""

import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMA = json.loads((ROOT / "docs" / "claims.schema.json").read_text(encoding="utf-8"))
COUNTERS = json.loads((ROOT / "harness" / "counters.json").read_text(encoding="utf-8"))["counters"]
TIME_WORDS = {
    "speedup": "times as fast as the stage before",
    "speedup_over_first": "times as fast as the first stage",
    "speedup_over_library": "times as fast as the library",
    "speed_of_light_percent": "percent of the speed of light",
}
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float), "integer": (int, float)}


class BrokenClaims(Exception):
    """Claims that cannot be used: the file, the line, and why."""


class Mistake(Exception):
    """What is wrong with the value at a path, such as ("claims", 3, "holds")."""

    def __init__(self, path, text):
        super().__init__(text)
        self.path = path


def lines_of(text):
    """The line of each value of a JSON document, by its path. Raises BrokenClaims where a member stands twice."""
    lines, open_places = {}, []
    name, counted, line = None, 0, 1
    for token in TOKEN.finditer(text):
        line += text.count("\n", counted, token.start())
        counted = token.start()
        if token[0] in "}]":
            open_places.pop()
        elif token[0] == ",":
            name = None
        elif token[0] == ":":
            pass
        elif open_places and open_places[-1][1] is None and name is None:
            name = json.loads(token[0])
        else:
            path = ()
            if open_places:
                outer, number = open_places[-1]
                path = (*outer, name if number is None else number)
                open_places[-1][1] = None if number is None else number + 1
            if path in lines:
                raise BrokenClaims(f"{line}: '{path[-1]}' stands twice")
            lines[path] = line
            name = None
            if token[0] in "{[":
                open_places.append([path, None if token[0] == "{" else 0])
    return lines


def is_of_type(value, name):
    if isinstance(value, bool) or name == "boolean":
        return isinstance(value, bool) and name == "boolean"
    if not isinstance(value, TYPES[name]):
        return False
    return name not in ("number", "integer") or (math.isfinite(value) and (name == "number" or value == int(value)))


def check(value, schema, path=()):
    """Raises Mistake where a value is not as the schema has it."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    name, shown = path[-1] if path else "the file", json.dumps(value)[:60]
    if types and not any(is_of_type(value, one) for one in types):
        raise Mistake(path, f"'{name}' must be {' or '.join(types)}, not {shown}")
    if "enum" in schema and value not in schema["enum"]:
        raise Mistake(path, f"'{name}' must be {', '.join(schema['enum'])}, not {shown}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        raise Mistake(path, f"'{name}' is {shown}")
    for number, member in enumerate(value if isinstance(value, list) else []):
        check(member, schema.get("items", {}), (*path, number))
    if isinstance(value, dict):
        missing = [member for member in schema.get("required", []) if member not in value]
        if missing:
            raise Mistake(path, f"a claim needs '{missing[0]}'")
        known, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        for member, content in value.items():
            if member not in known and others is False:
                raise Mistake((*path, member), f"there is no '{member}' here; the members are {', '.join(known)}")
            check(content, known.get(member, others), (*path, member))


def check_claim(claim, metrics, path):
    """What the schema cannot say: that counters are known, and what claims about time name."""
    known = {counter["name"] for counter in COUNTERS} | set(metrics)
    about_time = is_about_time(claim)
    for member in ("metric", "per"):
        if member in claim and claim[member] not in known and not (member == "metric" and about_time):
            raise Mistake((*path, member), f"no counter '{claim[member]}' is known")
    for member in ("per", "over_previous"):
        if about_time and member in claim:
            raise Mistake((*path, member), f"a claim about time has no '{member}'")
    if about_time and not (claim.get("at") and claim.get("compute_capability")):
        raise Mistake(path, "a claim about time names its sizes ('at') and a compute_capability")


def no_number(text):
    raise ValueError(f"{text} is no number of JSON")


def parse(text, file):
    """{"metrics": [...], "claims": [...]}; every claim has all fields. Raises BrokenClaims: "FILE:12: ..."."""
    try:
        document = json.loads(text, parse_constant=no_number)
        lines = lines_of(text)
    except json.JSONDecodeError as error:
        raise BrokenClaims(f"{file}:{error.lineno}: this is no JSON: {error.msg}") from None
    except BrokenClaims as twice:
        raise BrokenClaims(f"{file}:{twice}") from None
    except (ValueError, RecursionError) as error:
        raise BrokenClaims(f"{file}:1: this is no JSON: {error}") from None
    try:
        check(document, SCHEMA)
        metrics = document.get("metrics", [])
        for number, claim in enumerate(document.get("claims", [])):
            check_claim(claim, metrics, ("claims", number))
    except Mistake as mistake:
        raise BrokenClaims(f"{file}:{lines[mistake.path]}: {mistake}") from None
    nothing = {"per": None, "over_previous": False, "at": {}, "device": None, "compute_capability": None, "because": None}
    return {"metrics": metrics, "claims": [{**nothing, **claim} for claim in document.get("claims", [])]}


def read_all(root=ROOT):
    """Stage -> what its file says, of every stage that has one. Raises BrokenClaims."""
    found = {}
    for path in sorted((root / "stages").glob("*/*/claims.json")):
        name = path.relative_to(root).as_posix()
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise BrokenClaims(f"{name}: {error}") from None
        found[path.parent.relative_to(root / "stages").as_posix()] = parse(text, name)
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


def main():
    try:
        found = read_all()
    except BrokenClaims as broken:
        sys.exit(str(broken))
    print(f"{sum(len(one['claims']) for one in found.values())} claims of {len(found)} stages")


if __name__ == "__main__":
    main()
