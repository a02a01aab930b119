#!/usr/bin/env python3
"""The digests of the stages whose observed kernels showed no fault: reports/observed.json.

`lab run` and `lab verify` observe a stage before its tick only where its sources are others (docs/emulator.md), since
most machines have no need to compile observed kernels.

usage: reports/observed.py                   say which stages are not observed as they stand; exit 1 if any
       reports/observed.py --write [BUILD]   observe every portable stage with the workers of BUILD (build/release),
                                             and write down those without a fault; exit 1 if one has a fault
"""

import argparse
import json
import pathlib
import subprocess
import sys

import source_digest

RECORD = source_digest.ROOT / "reports" / "observed.json"


def recorded():
    return json.loads(RECORD.read_text(encoding="utf-8"))["stages"] if RECORD.exists() else {}


def observe(worker, stage):
    """None when nothing is wrong, else what is."""
    request = json.dumps({"op": "observe", "stage": stage})
    done = subprocess.run([worker, "--once", request], capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return f"no answer: {done.stderr.strip()}"
    answer = json.loads(lines[-1])
    return None if answer["end"] == "ok" else answer.get("message", "failed")


def is_expected_failure(worker, stage):
    done = subprocess.run([worker, "--once", '{"op": "describe"}'], capture_output=True, text=True, check=True)
    stages = [one for track in json.loads(done.stdout)["tracks"] for one in track["stages"] if one["path"] == stage]
    return not stages or bool(stages[0]["expected_failure"]) or not stages[0]["runnable"]


def write(build):
    known, faults = {}, []
    for stage, digest in source_digest.Tree().digests()["stages"].items():
        worker = build / "workers" / "observed" / stage
        fault = None if is_expected_failure(worker, stage) else observe(worker, stage)
        if fault is None:
            known[stage] = digest
        else:
            faults.append(f"{stage}: {fault}")
    text = json.dumps({"schema": "kernel-lab-observed", "version": 1, "stages": known}, indent=2) + "\n"
    RECORD.write_text(text, encoding="utf-8")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", nargs="?", const=source_digest.ROOT / "build" / "release", type=pathlib.Path)
    build = parser.parse_args().write
    if build is not None:
        problems = write(build)
    else:
        known = recorded()
        problems = [f"{stage}: not observed as it stands"
                    for stage, digest in source_digest.Tree().digests()["stages"].items() if known.get(stage) != digest]
    print("\n".join(problems) if problems else "every stage is observed as it stands")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
