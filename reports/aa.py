#!/usr/bin/env python3
"""Runs one program again and again and compares the runs with each other: how often does `lab compare` err?

usage: reports/aa.py --folder DIR --output FILE [--runs 21] [--repeat 5] [--lab ./lab] [--every-pair] -- PATTERN... [OPTION OF LAB RUN]...

Each of the runs is `lab run PATTERN... --repeat 5 --json DIR/run_01.json`, and so on. What lies in DIR already is not
run again, so that a call that was cut short can be repeated, and so that recorded runs can be judged anew. Then

A/A    each run is compared with the next: every row that is FASTER or SLOWER is a false verdict;
A/B    each run is compared with the next, all of whose samples are made longer by 3 % (--slower): every row that is not
       SLOWER was missed.

With --every-pair each run is compared with all later ones and not with the next alone: 18 runs make 153 comparisons, though
not as many that know nothing of each other.

FILE becomes JSON: the verdicts of each row, how many there are of each, the device and the sources. The exit code is 1
where more than 1 % of the verdicts are false or less than 95 % of the slowed rows are found; rows that INCONCLUSIVE is
the truth of (spread between processes above --steady, 0.5 %) are counted on their own for A/B, since no comparison
finds 3 % in 5 % of noise.
"""

import argparse
import collections
import itertools
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile


def fail(text):
    sys.exit(f"reports/aa.py: {text}")


def run_all(options, arguments):
    """The result files, in the order of the runs."""
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for number in range(1, options.runs + 1):
        path = folder / f"run_{number:02}.json"
        files.append(path)
        if path.exists() and json.loads(path.read_text()).get("complete"):
            continue
        call = [options.lab, "run", *arguments, "--repeat", str(options.repeat), "--json", str(path)]
        print(f"run {number} of {options.runs}", flush=True)
        found = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if found.returncode != 0:
            fail(f"{' '.join(call)} ended with {found.returncode}:\n{found.stdout}")
    return files


def compared(options, older, newer):
    """What `lab compare` says of two files, as its JSON."""
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "comparison.json"
        found = subprocess.run(
            [options.lab, "compare", str(older), str(newer), "--threshold", str(options.threshold), "--json", str(path)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        if found.returncode not in (0, 1):
            fail(found.stdout)
        return json.loads(path.read_text())


def slowed(path, factor, output):
    """A copy of a result file whose timings of stages all take `factor` as long."""
    run = json.loads(path.read_text())
    for group in run["groups"]:
        for row in group["rows"]:
            for timing in [row["timing"], *row.get("processes", [])]:
                if not timing:
                    continue
                timing["samples"] = [factor * sample for sample in timing["samples"]]
    output.write_text(json.dumps(run))


def name_of(row):
    return f"{row['stage']} ({row['parameters']}, L2 {row['l2']})"


def noise_of(row):
    return max(row[side]["noise"]["between_processes"] for side in ("old", "new"))


def judged(comparisons):
    """The verdicts of all comparisons: {row: {verdict: number}}, and the list of (verdict, noise)."""
    rows, every = collections.defaultdict(collections.Counter), []
    for comparison in comparisons:
        for row in comparison["rows"]:
            rows[name_of(row)][row["verdict"]] += 1
            every.append((row["verdict"], noise_of(row)))
        for row in comparison["not_compared"]:
            rows[name_of(row)]["not compared"] += 1
    return {name: dict(counts) for name, counts in sorted(rows.items())}, every


def part(number, of):
    return number / of if of else None


def main(arguments):
    before, dashes, of_run = " ".join(arguments), "--" in arguments, []
    if dashes:
        place = arguments.index("--")
        arguments, of_run = arguments[:place], arguments[place + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True, metavar="DIR", help="where the result files lie")
    parser.add_argument("--output", required=True, metavar="FILE", help="what is recorded, as JSON")
    parser.add_argument("--runs", type=int, default=21, help="21: 20 comparisons")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--slower", type=float, default=3.0, metavar="PERCENT")
    parser.add_argument("--threshold", type=float, default=1.0, metavar="PERCENT")
    parser.add_argument("--steady", type=float, default=0.5, metavar="PERCENT")
    parser.add_argument("--every-pair", action="store_true", help="compare each run with all later ones")
    parser.add_argument("--lab", default=str(pathlib.Path(__file__).resolve().parent.parent / "lab"))
    options = parser.parse_args(arguments)
    if options.runs < 2 or options.repeat < 2:
        parser.error("--runs and --repeat must be 2 at least")
    if not (dashes and of_run):
        parser.error("the stages to run follow after --")
    for value in (options.slower, options.threshold, options.steady):
        if not (math.isfinite(value) and value > 0):
            parser.error("percentages must be positive")

    files = run_all(options, of_run)
    pairs = list(itertools.combinations(files, 2) if options.every_pair else zip(files, files[1:]))
    same_rows, same = judged(compared(options, older, newer) for older, newer in pairs)
    with tempfile.TemporaryDirectory() as scratch:
        slow = pathlib.Path(scratch) / "slowed.json"

        def against_slowed():
            for older, newer in pairs:
                slowed(newer, 1 + options.slower / 100, slow)
                yield compared(options, older, slow)

        slowed_rows, slowed_all = judged(against_slowed())
    if not same:
        fail("no row could be compared")

    false = sum(verdict in ("FASTER", "SLOWER") for verdict, _ in same)
    steady = [verdict for verdict, noise in slowed_all if noise <= options.steady / 100]
    first = json.loads(files[0].read_text())
    record = {
        "schema": "kernel-lab-aa",
        "version": 1,
        "call": before,
        "created": first["created"],
        "device": first["device"],
        "program": first["program"],
        "runs": options.runs,
        "repeat": options.repeat,
        "comparisons": len(pairs),
        "threshold": options.threshold / 100,
        "slower": options.slower / 100,
        "noise_between_processes": {"median": statistics.median(noise for _, noise in same), "maximum": max(noise for _, noise in same)},
        "same": {"verdicts": dict(collections.Counter(verdict for verdict, _ in same)), "false_part": part(false, len(same)), "rows": same_rows},
        "slowed": {
            "verdicts": dict(collections.Counter(verdict for verdict, _ in slowed_all)),
            "steady_limit": options.steady / 100,
            "steady_rows": len(steady),
            "steady_found_part": part(steady.count("SLOWER"), len(steady)),
            "rows": slowed_rows,
        },
    }
    pathlib.Path(options.output).write_text(json.dumps(record, indent=2) + "\n")
    print(f"A/A: {record['same']['verdicts']}: {100 * record['same']['false_part']:.2f} % false verdicts of {len(same)}")
    print(f"A/B: {record['slowed']['verdicts']}: {steady.count('SLOWER')} of {len(steady)} steady rows that were slowed by {options.slower:g} % are found")
    found = record["slowed"]["steady_found_part"]
    return 0 if record["same"]["false_part"] <= 0.01 and found is not None and found >= 0.95 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
