#!/usr/bin/env python3
"""Writes the textbook table of docs/counters.md: what the emulator models beside what Nsight Compute counts.

  reports/counters.py --build build/release               both columns, on a machine with a GPU and ncu
  reports/counters.py --build build/release --record F    the same, and keeps ncu's table in the file F
  reports/counters.py --build build/emulator --measured F the measured column from such a file
"""
import argparse
import csv
import json
import pathlib
import subprocess

METRICS = {
    "load requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "store requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "store sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared load wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared load conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared store wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared store conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}
BEGIN, END = "<!-- textbook -->", "<!-- /textbook -->"


def modelled(build):
    output = subprocess.run([build / "textbook-observed"], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def count_with_ncu(build):
    """ncu's CSV of one launch for each example, in the order of the examples."""
    command = ["ncu", "--clock-control", "none", "--cache-control", "none", "--print-units", "base", "--csv",
               "--page", "raw", "--metrics", ",".join(METRICS.values()), str(build / "textbook-cuda")]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def measured(table):
    lines = [line for line in table.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))[1:]  # the first holds the units
    return [{metric: float(row[metric].replace(",", "")) for metric in METRICS.values()} for row in rows]


def markdown(examples, found):
    lines = ["| example | counter | modelled | Nsight Compute, H200 |", "| --- | --- | ---: | ---: |"]
    for number, example in enumerate(examples):
        for short, metric in METRICS.items():
            model = example["metrics"].get(metric, 0)
            real = found[number][metric] if found else None
            if not model and not real:
                continue
            text = "" if real is None else f"{real:.0f}" + ("" if real == model else " (differs)")
            lines.append(f"| {example['name']} | {short} | {model:.0f} | {text} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build directory")
    parser.add_argument("--measured", type=pathlib.Path, help="ncu's table from an earlier run")
    parser.add_argument("--record", type=pathlib.Path, help="keep ncu's table here")
    options = parser.parse_args()

    table = None
    if options.measured:
        table = options.measured.read_text()
    elif (options.build / "textbook-cuda").exists():
        table = count_with_ncu(options.build)
        if options.record:
            options.record.write_text(table)
    examples = modelled(options.build)
    found = measured(table) if table else None
    if found and len(found) != len(examples):
        raise SystemExit(f"{len(found)} launches were measured, and there are {len(examples)} examples")
    page = pathlib.Path(__file__).resolve().parent.parent / "docs" / "counters.md"
    text = page.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n{markdown(examples, found)}\n{END}{after}")


if __name__ == "__main__":
    main()
