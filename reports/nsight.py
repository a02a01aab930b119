#!/usr/bin/env python3
"""Records the labs of docs/nsight-labs.md, on a machine with a GPU and Nsight Compute: reports/DEVICE/nsight/.

usage: reports/nsight.py --build BUILD --output DIR                  every lab
       reports/nsight.py --build BUILD --output DIR --only PATTERN   labs, shell-style: '0[1-3]*' (repeatable)
       reports/nsight.py --list                                      the labs and their commands
       reports/nsight.py --targets                                   what must have been built: targets of ninja
       ... --seconds S       stop after so long (default 100): labs that have not begun by then are skipped
       ... --keep-reports    keep reports of more than 3 MiB as well

`--build` is a build directory of CUDA (build/release), with the program and the workers that --targets lists. A lab's commands are
run as the page has them. Of each lab DIR keeps

    NN_name.txt                     device, versions, date; for each stage the sections that the page speaks of, as
                                    `ncu --import FILE --page details` prints them, and the values to find
    NN_name.TRACK_STAGE.ncu-rep     the reports, to be opened with ncu-ui

Of a stage that launches several kernels the one that takes longest is shown. A lab of which something fails leaves its older
record as it was; a line says why. reports/tables.py puts the texts into the page.

Exit: 0 all labs recorded; 1 some were skipped; 2 bad usage, no GPU, no Nsight Compute, or no build.
"""

import argparse
import concurrent.futures
import csv
import datetime
import fnmatch
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MOST_BYTES = 3 << 20  # of a report that is kept
MOST_LINES = 60  # of a section
MOST_TRACE_LINES = 160  # of what `lab trace` prints
CALL_SECONDS = 60  # for one command

STALLS = [f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio" for reason in ("barrier", "long_scoreboard", "short_scoreboard", "membar", "sleeping", "wait")]
LOADS = ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]
SHARED = ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"]
FLOPS = [f"smsp__sass_thread_inst_executed_op_{operation}_pred_on.sum" for operation in ("dadd", "dmul", "dfma")]
TIME = "gpu__time_duration.sum"

# Each lab: its commands, words after "./lab"; the sections of the details page that are shown; the values to find.
LABS = {
    "01_speed_of_light": {
        "commands": ["profile elementwise/03_vectorized --full --baseline elementwise/01_naive --n 100000000"],
        "sections": ["GPU Speed Of Light Throughput"],
        "values": [TIME, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "dram__bytes_read.sum", "dram__bytes_write.sum"],
    },
    "02_coalescing": {
        "commands": ["profile reduction_2d/02_coalesced --full --baseline reduction_2d/01_naive --result rows"],
        "sections": ["Memory Workload Analysis Tables", "Source Counters"],
        "values": [TIME, *LOADS],
    },
    "03_bank_conflicts": {
        "commands": ["profile moving_average/04_padded --full --baseline moving_average/03_thread_tiled --n 100000000 --window 300"],
        "sections": ["Memory Workload Analysis Tables", "Source Counters"],
        "values": [TIME, *SHARED],
    },
    "04_barriers": {
        "commands": ["profile reduction/03_warp_shuffle --full --baseline reduction/02_tree --n 100000000"],
        "sections": ["Warp State Statistics"],
        "values": [TIME, *STALLS],
    },
    "05_occupancy": {
        "commands": [
            "profile moving_average/09_two_groups --full --baseline moving_average/08_bulk_copy --n 100000000 --window 300",
            "profile moving_average/09_two_groups --full --baseline moving_average/08_bulk_copy --n 100000000 --window 16384",
        ],
        "sections": ["Occupancy"],
        "values": [TIME, "sm__warps_active.avg.pct_of_peak_sustained_active", "smsp__issue_active.avg.per_cycle_active"],
    },
    "06_look_back": {
        "commands": ["profile ewm/04_warm_start --full --baseline ewm/03_look_back --n 100000000 --span 300"],
        "sections": ["Warp State Statistics"],
        "values": [TIME, *STALLS],
    },
    "07_roofline": {
        "commands": [f"profile moving_average/01_naive --full --n 100000000 --window {window} --metrics {','.join([*FLOPS, 'dram__bytes.sum', TIME])}" for window in (4, 300)],
        "sections": ["GPU Speed Of Light Throughput", "GPU Speed Of Light Roofline Chart"],
        "values": [*FLOPS, "dram__bytes.sum", TIME],
    },
    "08_timeline": {
        "commands": ["trace redact/04_two_pass --baseline redact/01_api_chain --rows 600000"],
        "sections": [],
        "values": [],
    },
}


class Skipped(Exception):
    """Why a lab leaves no record."""


def stages_of(command):
    """The stages of a command, as they are profiled: the baseline first."""
    words = command.split()
    return ([words[words.index("--baseline") + 1]] if "--baseline" in words else []) + [words[1]]


def targets():
    stages = dict.fromkeys(stage for lab in LABS.values() for command in lab["commands"] for stage in stages_of(command))
    tracks = dict.fromkeys(stage.split("/")[0] for stage in stages)
    return ["lab", *(f"workers/cuda/{track}.track" for track in tracks), *(f"workers/cuda/{stage}" for stage in stages)]


def run(command, seconds, directory=None):
    """What a command prints. Raises Skipped where it fails, or takes longer; its children end with it."""
    program = subprocess.Popen([str(word) for word in command], cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        output, _ = program.communicate(timeout=max(1, seconds))
    except subprocess.TimeoutExpired:
        os.killpg(program.pid, signal.SIGKILL)
        program.communicate()
        raise Skipped(f"{pathlib.Path(command[0]).name} {' '.join(command[1:3])} was stopped after {seconds:.0f} s") from None
    if program.returncode != 0:
        last = [line for line in output.splitlines() if line.strip()][-1:] or ["(nothing)"]
        raise Skipped(f"{pathlib.Path(command[0]).name} {' '.join(command[1:3])} ended with {program.returncode}: {last[0][:300]}")
    return output


def values_of(raw):
    """The raw page as CSV: a dictionary of metrics for each launch, with its number of the report's."""
    lines = [line for line in raw.splitlines() if line.startswith('"')]
    return list(csv.DictReader(lines))[1:]  # the first: units


def as_number(text):
    try:
        return float(text.replace(",", ""))
    except (AttributeError, ValueError):
        return None


def longest(launches):
    """The place of the launch that takes longest. Raises Skipped where the report has none."""
    if not launches:
        raise Skipped("the report has no kernel")
    return max(range(len(launches)), key=lambda place: as_number(launches[place].get(TIME)) or 0)


KERNEL = re.compile(r"^  \S.*, Context \d+, Stream \d+, Device \d+")
SECTION = re.compile(r"^    Section: (.+?)\s*$")


def kernels_of(details):
    """The details page, cut: [(the kernel's line, [(section, its lines)])] in the order of the launches."""
    kernels = []
    for line in details.splitlines():
        line = line.rstrip()
        if KERNEL.match(line):
            kernels.append((line.strip(), []))
        elif kernels:
            begins = SECTION.match(line)
            if begins:
                kernels[-1][1].append((begins[1], []))
            elif kernels[-1][1]:
                kernels[-1][1][-1][1].append(line)
    return kernels


def section_text(name, lines):
    while lines and not lines[-1]:
        lines = lines[:-1]
    left = len(lines) - MOST_LINES
    if left > 1:
        lines = [*lines[:MOST_LINES], f"    ... {left} lines more in the report"]
    return "\n".join([f"    Section: {name}", *lines])


def stage_text(stage, details, raw, sections, values):
    """What a lab shows of one report."""
    launches = values_of(raw)
    place = longest(launches)
    kernels = kernels_of(details)
    if place >= len(kernels):
        raise Skipped(f"the details page has {len(kernels)} kernels, the raw page {len(launches)}")
    kernel, found = kernels[place]
    parts = [stage, f"  {kernel}"]
    shown = [section_text(name, lines) for name, lines in found if name in sections]
    parts.append("\n\n".join(shown) if shown else f"    (no section {' or '.join(sections)} in the report)")
    parts += ["", "    Values"]
    width = max(len(name) for name in values)
    for name in values:
        number = as_number(launches[place].get(name))
        parts.append(f"    {name:<{width}}  {'not in the report' if number is None else f'{number:.10g}'}")
    return "\n".join(parts)


def report_name(stage):
    return stage.replace("/", "_") + ".ncu-rep"


class Recorder:
    def __init__(self, build, output, ncu, seconds, keep_reports, scratch):
        self.build, self.output, self.ncu, self.keep_reports, self.scratch = build, output, ncu, keep_reports, pathlib.Path(scratch)
        self.end = time.monotonic() + seconds
        self.pool = concurrent.futures.ThreadPoolExecutor(2)

    def left(self):
        return self.end - time.monotonic()

    def import_page(self, report, page, *options):
        return run([self.ncu, "--import", report, "--page", page, *options], CALL_SECONDS)

    def begin(self, name, lab):
        """Runs a lab's commands; returns what writes its record, which needs no GPU and runs beside the next lab."""
        shown = []  # (command, stages with their reports, what it printed)
        for number, command in enumerate(lab["commands"]):
            if self.left() <= 0:
                raise Skipped("its time had passed before it began")
            place = self.scratch / f"{name}_{number}"
            place.mkdir()
            printed = run([self.build / "lab", *shlex.split(command), "--device", "cuda:0"], min(CALL_SECONDS, self.left()), place)
            shown.append((command, [(stage, place / report_name(stage)) for stage in stages_of(command)], printed))
        return self.pool.submit(self.write, name, lab, shown)

    def write(self, name, lab, shown):
        texts = []
        kept = []
        for command, stages, printed in shown:
            texts.append(f"$ ./lab {command}")
            if command.startswith("trace "):
                lines = [line.rstrip() for line in printed.splitlines() if str(self.scratch) not in line]
                left = len(lines) - MOST_TRACE_LINES
                texts.append("\n".join(lines if left <= 1 else [*lines[:MOST_TRACE_LINES], f"... {left} lines more"]))
                continue
            for stage, report in stages:
                if not report.exists():
                    raise Skipped(f"{stage} left no report")
                details, raw = self.import_page(report, "details"), self.import_page(report, "raw", "--csv", "--print-units", "base")
                texts.append(stage_text(stage, details, raw, lab["sections"], lab["values"]))
                suffix = f"_{len(kept)}" if len(lab["commands"]) > 1 else ""
                kept.append((report, self.output / f"{name}.{report.stem}{suffix}.ncu-rep"))
        notes = []
        for report, at in kept:
            size = report.stat().st_size
            if size > MOST_BYTES and not self.keep_reports:
                notes.append(f"{at.name} is left out: {size / (1 << 20):.1f} MiB")
                at.unlink(missing_ok=True)
            else:
                shutil.copyfile(report, at)
        file = self.output / f"{name}.txt"
        unfinished = file.with_suffix(".unfinished")
        unfinished.write_text(f"{self.provenance}\n\n" + "\n\n".join(texts) + "\n", encoding="utf-8")
        unfinished.replace(file)
        return notes

    def find_provenance(self, stage):
        """One line: device, driver, versions, date. `stage` is one whose worker has been built. Raises Skipped without a GPU."""
        path = self.scratch / "description.json"
        run([self.build / "lab", "describe", stage, "--device", "cuda:0", "--json", path], CALL_SECONDS)
        device = json.loads(path.read_text(encoding="utf-8"))["device"]
        if not device:
            raise Skipped("there is no CUDA device")
        ncu = run([self.ncu, "--version"], CALL_SECONDS).strip().splitlines()[-1].split(" (")[0]
        program = run([self.build / "lab", "--version"], CALL_SECONDS).strip()
        today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
        self.provenance = f"{device['name']}, driver {device['driver']}, Nsight Compute {ncu}, {today}, {program}"


def find_ncu():
    found = shutil.which("ncu") or shutil.which("ncu", path="/usr/local/cuda/bin")
    if not found:
        versions = sorted(pathlib.Path("/opt/nvidia/nsight-compute").glob("*/ncu"))
        found = str(versions[-1]) if versions else None
    return found


def record(options, names):
    build, output = options.build.resolve(), options.output.resolve()
    ncu = find_ncu()
    if not ncu:
        print("nsight.py: Nsight Compute (ncu) is neither on the PATH nor in /usr/local/cuda/bin nor under /opt/nvidia/nsight-compute", file=sys.stderr)
        return 2
    if not (build / "lab").exists():
        print(f"nsight.py: {build} holds no program 'lab': cmake --build {build} --target $(reports/nsight.py --targets)", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="nsight-") as scratch:
        return record_labs(Recorder(build, output, ncu, options.seconds, options.keep_reports, scratch), names, options.seconds)


def record_labs(recorder, names, seconds):
    try:
        recorder.output.mkdir(parents=True, exist_ok=True)
        recorder.find_provenance(stages_of(LABS[names[0]]["commands"][0])[0])
    except (Skipped, OSError) as reason:
        print(f"nsight.py: {reason}", file=sys.stderr)
        return 2
    skipped = 0
    begun = []
    for name in names:
        try:
            begun.append((name, recorder.begin(name, LABS[name])))
        except (Skipped, OSError) as reason:
            skipped += 1
            print(f"{name}: skipped: {reason}", flush=True)
    for name, written in begun:
        try:
            notes = written.result()
            print(f"{name}: recorded", flush=True)
            for note in notes:
                print(f"  {note}", flush=True)
        except (Skipped, OSError) as reason:
            skipped += 1
            print(f"{name}: skipped: {reason}", flush=True)
    print(f"{len(names) - skipped} of {len(names)} labs recorded in {seconds - recorder.left():.0f} s")
    return 1 if skipped else 0


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, help="the build directory")
    parser.add_argument("--output", type=pathlib.Path, help="the directory of the records")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="these labs alone (repeatable)")
    parser.add_argument("--seconds", type=float, default=100, help="stop after so long (default 100)")
    parser.add_argument("--keep-reports", action="store_true", help="keep reports of more than 3 MiB as well")
    parser.add_argument("--list", action="store_true", help="show the labs and their commands")
    parser.add_argument("--targets", action="store_true", help="show what must have been built")
    options = parser.parse_args(arguments)
    names = [name for name in LABS if not options.only or any(fnmatch.fnmatch(name, pattern) for pattern in options.only)]
    if not names:
        parser.error(f"no lab is called {' or '.join(options.only)}; the labs are {', '.join(LABS)}")
    if options.targets:
        print(" ".join(targets()))
        return 0
    if options.list:
        for name in names:
            print(name, *(f"  ./lab {command}" for command in LABS[name]["commands"]), sep="\n")
        return 0
    if not options.build or not options.output:
        parser.error("--build and --output say where the program is and where the records go")
    if not options.seconds > 0:
        parser.error("--seconds must be above 0")
    return record(options, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
