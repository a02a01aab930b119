#!/usr/bin/env python3
"""Records what compute-sanitizer says about the stages, on a machine with a GPU, into their pages.

A page says what it needs with a pair of comments, and what stands between them is the tool's own output:

    <!-- recorded: TOOL TRACK/STAGE -->   the tool (racecheck), and the stage that it watches
    <!-- /recorded -->

The parameters of a track's stages are in its reports.json (reports/track_notes.py).

usage: reports/sanitizer.py [WORKERS]     WORKERS: build/release/workers/cuda by default
"""

import json
import pathlib
import re
import subprocess
import sys

import track_notes

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKER = re.compile(r"(<!-- recorded: (\S+) (\S+) -->\n).*?(<!-- /recorded -->)", re.DOTALL)
# Enough to see a fault several times, and no more than a person reads.
MOST_LINES = 30


def record(workers, tool, stage):
    request = {"op": "once", "stage": stage, "parameters": track_notes.of(stage.split("/")[0])["sanitizer"]}
    command = ["compute-sanitizer", "--tool", tool]
    run = subprocess.run(
        [*command, f"{workers}/{stage}", "--device", "0", "--once", json.dumps(request)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines = [line.rstrip().replace(f"{ROOT}/", "") for line in run.stdout.splitlines() if line.startswith("=========")]
    if not lines:
        sys.exit(f"{tool} said nothing about {stage}:\n{run.stdout}")
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 2], "...", lines[-1]]
    device = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True)
    name = device.stdout.splitlines()[0].replace(", ", ", driver ")
    return "```\n$ " + " ".join([*command, f"workers/cuda/{stage}", "--device 0", "--once", f"'{json.dumps(request)}'"]) + "\n" + "\n".join(lines) + f"\n```\n\n{name}.\n"


def main(arguments):
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        sys.exit(__doc__)
    workers = arguments[0] if arguments else str(ROOT / "build" / "release" / "workers" / "cuda")
    for path in sorted(ROOT.glob("stages/**/*.md")):
        old = path.read_text()
        new = MARKER.sub(lambda match: match[1] + record(workers, match[2], match[3]) + match[4], old)
        if new != old:
            path.write_text(new)
            print(f"{path.relative_to(ROOT)}: recorded")


if __name__ == "__main__":
    main(sys.argv[1:])
