#!/usr/bin/env python3
"""The ladders of counters on the tracks' pages: reports/counted.json, what `lab run` counts where there is no GPU.

A line is a track: its parameters, and of each stage the figures of one launch (docs/measuring.md, Without a GPU) with the digest
of the stage's kernel. reports/tables.py shows them between <!-- counted: TRACK --> and <!-- /counted -->.

usage: reports/counted.py               count all tracks with ./lab run, and write the file
       reports/counted.py --check LAB TRACK...   count these tracks with the program LAB; exit 1 where the file says otherwise
"""

import functools
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = ROOT / "reports" / "counted.json"
COLUMNS = {
    "bytes_per_output": "bytes/output",
    "sectors_per_request": "sectors/request",
    "wavefronts_per_access": "wavefronts/shared access",
    "barriers_per_block": "barriers/block",
    "atomics_per_block": "atomics/block",
}


def count(lab, tracks):
    """{track: {"parameters": ..., "stages": {name: figures and sources}}} of the stages that the emulator counts."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "run.json"
        subprocess.run([lab, "run", *tracks, "--device", "emulator", "--json", path], check=True, stdout=subprocess.DEVNULL)
        groups = json.loads(path.read_text(encoding="utf-8"))["groups"]
    found = {}
    for group in groups:
        stages = {row["stage"].split("/")[1]: {**row["figures"], "sources": row["sources"]} for row in group["rows"] if row.get("figures")}
        found.setdefault(group["track"], {"parameters": group["parameters"], "stages": stages})
    return found


@functools.cache
def read():
    return json.loads(FILE.read_text(encoding="utf-8"))


def main(arguments):
    if not arguments:
        lines = ",\n".join(f"{json.dumps(track)}: {json.dumps(of)}" for track, of in count(ROOT / "lab", []).items())
        FILE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
        return 0
    if arguments[0] != "--check" or len(arguments) < 3:
        sys.exit(__doc__)
    recorded = read()
    wrong = [track for track, of in count(arguments[1], arguments[2:]).items() if of != recorded.get(track)]
    for track in wrong:
        print(f"{FILE.name}: {track} is counted otherwise (reports/counted.py)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
