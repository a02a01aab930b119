#!/usr/bin/env python3
"""lab doctor: what this machine has, what is missing and for what it is needed. Nothing is built.

The launcher hands over the tables by which it installs packages: LAB_LIBRARIES (name=package) and LAB_OPTIONAL (lines
package|file|feature). Exit code 0 where stages can run, on a GPU or on the emulator, else 2.
"""

import argparse
import ctypes
import glob
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import output  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUERY_SECONDS = 30
TOOLKIT = "/usr/local/cuda"
HEADERS = {"CLI11": "CLI/CLI.hpp", "fmt": "fmt/core.h", "nlohmann_json": "nlohmann/json.hpp", "benchmark": "benchmark/benchmark.h", "Boost.Context": "boost/context/detail/fcontext.hpp"}


def finding(subject, status, detail, advice=""):
    """status: ok, missing or warning. `advice` says what to do; empty where nothing need be done."""
    return {"subject": subject, "status": status, "detail": detail, "advice": advice or None}


def output_of(*command):
    """What a program says of itself; empty where it says nothing or fails."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=QUERY_SECONDS, check=False, text=True, errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def first(text, pattern):
    match = re.search(pattern, text)
    return match[1] if match else ""


def text_of(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def program(name, *folders):
    found = shutil.which(name)
    return found or next((f"{folder}/{name}" for folder in folders if os.access(f"{folder}/{name}", os.X_OK)), "")


def folders(kind):
    """Where headers or libraries are looked for, as CMake does."""
    prefixes = [prefix for prefix in os.environ.get("CMAKE_PREFIX_PATH", "").split(":") if prefix]
    return [f"{prefix}/{kind}" for prefix in (*prefixes, "/usr/local", "/usr")] + [f"{TOOLKIT}/{kind}"]


def has_header(name):
    return any(os.path.exists(f"{folder}/{name}") for folder in folders("include"))


def has_library(name):
    return any(glob.glob(f"{folder}/{name}") or glob.glob(f"{folder}/*-linux-gnu/{name}") for kind in ("lib", "lib64") for folder in folders(kind))


def examine_system():
    system = platform.uname()
    name = first(text_of("/etc/os-release"), r'PRETTY_NAME="?([^"\n]*)')
    cores = len(os.sched_getaffinity(0))
    return finding("system", "ok", f"{name or 'unknown distribution'}, {system.system} {system.release} {system.machine}, {cores} CPU cores")


def examine_program(build):
    version = first(text_of(ROOT / "CMakeLists.txt"), r"project\(kernel_lab VERSION ([\d.]+)")
    commit = output_of("git", "-C", str(ROOT), "rev-parse", "HEAD") or os.environ.get("LAB_COMMIT") or "unknown"
    changes = " with changes" if output_of("git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no") else ""
    state = f"built in {build}" if os.access(f"{build}/lab", os.X_OK) else "not built yet: the first ./lab run builds it"
    return finding("program", "ok", f"Kernel Lab {version}, commit {commit}{changes}, {state}")


def examine_build():
    """The compiler and the tools of the build."""
    compiler = (os.environ.get("CXX") or "c++").split()[0]
    parts, missing = [], []
    for name, pattern in ((compiler, r"(\d+\.[\d.]+)"), ("cmake", r"version ([\d.]+)"), ("ninja", r"([\d.]+)"), ("git", r"version ([\d.]+)")):
        found = program(name)
        if not found:
            missing.append(name)
            continue
        version = first(output_of(found, "--version").partition("\n")[0], pattern)
        parts.append(f"{name} {version}".strip())
        if name == "cmake" and version and tuple(int(part) for part in version.split(".")[:2]) < (3, 25):
            return finding("build tools", "warning", ", ".join(parts), "CMake 3.25 is needed: https://cmake.org/download, or python3 -m pip install cmake")
    if missing:
        return finding("build tools", "missing", f"no {', '.join(missing)}", "./lab setup installs them")
    return finding("build tools", "ok", ", ".join(parts))


def examine_driver():
    smi = program("nvidia-smi", "/usr/bin", "/usr/lib/wsl/lib")
    said = output_of(smi, "--query-gpu=driver_version", "--format=csv,noheader") if smi else ""
    if said:
        return finding("driver", "ok", said.partition("\n")[0])
    module = first(text_of("/proc/driver/nvidia/version"), r"Kernel Module.*?\s(\d+\.[\d.]+)")
    if module:
        return finding("driver", "ok", f"{module} (nvidia-smi {'says nothing' if smi else 'is not installed'})")
    if not smi:
        return finding("driver", "missing", "nvidia-smi is not installed", "install NVIDIA's driver if there is a GPU")
    return finding("driver", "missing", "nvidia-smi finds no driver or no GPU", "install NVIDIA's driver; after an update, restart")


def devices_of_driver():
    """The GPUs by the driver's own library, for machines without nvidia-smi: name, compute capability."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        count = ctypes.c_int()
        if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
            return []
        found = []
        for index in range(count.value):
            device, name = ctypes.c_int(), ctypes.create_string_buffer(256)
            major, minor = ctypes.c_int(), ctypes.c_int()
            driver.cuDeviceGet(ctypes.byref(device), index)
            driver.cuDeviceGetName(name, 256, device)
            driver.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
            driver.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
            found.append((name.value.decode(errors="replace"), f"{major.value}.{minor.value}"))
        return found
    except (OSError, AttributeError):
        return []


def devices():
    smi = program("nvidia-smi", "/usr/bin", "/usr/lib/wsl/lib")
    said = output_of(smi, "--query-gpu=name,compute_cap", "--format=csv,noheader") if smi else ""
    found = [tuple(part.strip() for part in line.rsplit(",", 1)) for line in said.splitlines() if "," in line]
    return found or devices_of_driver()


def examine_devices(found):
    if not found:
        return finding("device", "missing", "no CUDA device", "a GPU needs a driver (nvidia-smi must work); without one, stages run on the emulator")
    said = [f"cuda:{index}: {name}, compute capability {capability}" for index, (name, capability) in enumerate(found)]
    return finding("device", "ok", "; ".join(said))


def examine_clocks():
    smi = program("nvidia-smi", "/usr/bin", "/usr/lib/wsl/lib")
    said = output_of(smi, "--query-gpu=clocks.sm,clocks.max.sm,clocks_event_reasons.active", "--format=csv,noheader") if smi else ""
    if not said:
        return finding("clocks", "missing", "cannot be read")
    return finding("clocks", "ok", f"SM clock now, highest, reasons it is held down: {said.partition(chr(10))[0]}")


def examine_counter_permission():
    setting = first(text_of("/proc/driver/nvidia/params"), r"RmProfilingAdminOnly: *(\d+)")
    if not setting:
        return finding("counter permission", "missing", "no driver to ask")
    if setting == "0":
        return finding("counter permission", "ok", "every user may read performance counters")
    if os.geteuid() == 0:
        return finding("counter permission", "ok", "only administrators may read performance counters, and this is one")
    return finding("counter permission", "warning", "only administrators may read performance counters",
                   "use sudo for 'lab profile', or set NVreg_RestrictProfilingToAdminUsers=0: https://developer.nvidia.com/ERR_NVGPUCTRPERM")


def examine_toolkit():
    nvcc = program(os.environ.get("CUDACXX") or "nvcc") or program("nvcc", f"{TOOLKIT}/bin")
    if not nvcc:
        return finding("toolkit", "missing", f"no nvcc in PATH or {TOOLKIT}/bin", "install the CUDA Toolkit 13; without it only the emulator is built")
    version = first(output_of(nvcc, "--version"), r"V([\d.]+)")
    if not version:
        return finding("toolkit", "warning", f"{nvcc} does not run", "reinstall the toolkit")
    if int(version.split(".")[0]) < 13:
        return finding("toolkit", "warning", f"nvcc {version} ({nvcc})", "the lab is written for CUDA 13")
    return finding("toolkit", "ok", f"nvcc {version} ({nvcc})")


def examine_tool(subject, name, pattern, feature, package, *places):
    found = program(name, *places)
    if not found:
        return finding(subject, "missing", f"no {name}", f"for {feature}; package {package}")
    return finding(subject, "ok", f"{first(output_of(found, '--version'), pattern)} ({found})".strip())


def examine_tools():
    version = r"[Vv]ersion ([\d.]+)"
    compute = sorted(glob.glob("/opt/nvidia/nsight-compute/*"), reverse=True)
    systems = sorted(glob.glob("/opt/nvidia/nsight-systems/*/bin"), reverse=True)
    return [examine_tool("Nsight Compute", "ncu", version, "'lab profile' on a GPU", "cuda-nsight-compute (of the CUDA Toolkit)", f"{TOOLKIT}/bin", *compute),
            examine_tool("Nsight Systems", "nsys", version, "reports in its own format by 'lab trace'", "cuda-nsight-systems (of the CUDA Toolkit)", f"{TOOLKIT}/bin", *systems),
            examine_tool("Compute Sanitizer", "compute-sanitizer", version, "stages of your own", "cuda-sanitizer (of the CUDA Toolkit)", f"{TOOLKIT}/bin")]


def examine_libraries():
    """What the build needs, what single features need."""
    needed = dict(pair.split("=") for pair in os.environ.get("LAB_LIBRARIES", "").split())
    absent = [name for name in needed if not has_header(HEADERS.get(name, name))]
    found = []
    if absent:
        found.append(finding("libraries", "missing", f"no {', '.join(absent)}", "./lab setup installs them, and so does the first call that builds"))
    else:
        found.append(finding("libraries", "ok", ", ".join(needed)))
    for line in os.environ.get("LAB_OPTIONAL", "").splitlines():
        package, file, feature = line.split("|")
        here = os.path.exists(file) or ("/include/" in file and has_header(file.partition("/include/")[2]))
        if here and package == "bubblewrap" and subprocess.run([file, "--ro-bind", "/", "/", "--unshare-all", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
            found.append(finding(package, "warning", f"for {feature}; it does not work here (a container without user namespaces?)", "--unconfined runs submissions without walls"))
            continue
        found.append(finding(package, "ok" if here else "missing", f"for {feature}", "" if here else f"./lab setup, or apt-get install {package}; all else works without"))
    return found


def examine_further():
    run_time = [name for name, header in (("NVRTC", "nvrtc.h"), ("nvJitLink", "nvJitLink.h")) if not has_header(header)]
    return [finding("run-time compilation", "missing", f"no {', '.join(run_time)}", "for the track udf on a GPU and 'lab translate --compile'; they come with the CUDA Toolkit")
            if run_time else finding("run-time compilation", "ok", "NVRTC, nvJitLink"),
            finding("NCCL", "ok", "for stages that name it") if has_header("nccl.h") or os.environ.get("NCCL_HOME") else
            finding("NCCL", "missing", "no nccl.h", "for three stages of the tracks over several GPUs; package libnccl-dev, or NCCL_HOME"),
            finding("MPI", "ok", "for 'lab run --processes'") if program("mpicxx") and program("mpirun") else
            finding("MPI", "missing", "no mpicxx or mpirun", "for 'lab run --processes'; packages libopenmpi-dev and openmpi-bin")]


def findings_text(findings):
    width = max(len(one["subject"]) for one in findings)
    lines = []
    for one in findings:
        lines.append(f"{one['status']:<7}  {one['subject']:<{width}}  {one['detail']}")
        if one["advice"]:
            lines.append(f"{'':<7}  {'':<{width}}  {one['advice']}")
    return "\n".join(lines) + "\n"


def examine():
    """All findings, and what stages can run on: "cuda", "emulator" or nothing."""
    found = devices()
    toolkit, tools, libraries = examine_toolkit(), examine_build(), examine_libraries()
    device = examine_devices(found)
    emulator = finding("emulator", "ok", "Boost.Context is here; it needs no GPU and no CUDA Toolkit") if has_header(HEADERS["Boost.Context"]) else finding("emulator", "missing", "no Boost.Context", "./lab setup installs it (package libboost-context-dev)")
    buildable = tools["status"] == "ok" and libraries[0]["status"] == "ok"
    place = ""
    if buildable and found and toolkit["status"] != "missing":
        place = "cuda"
    elif buildable and emulator["status"] == "ok":
        place = "emulator"
    build = ROOT / "build" / os.environ.get("LAB_PRESET", "release")
    return [examine_system(), examine_program(build), tools, emulator, examine_driver(), device, examine_clocks(), examine_counter_permission(), toolkit, *examine_tools(), *libraries, *examine_further()], place


CONCLUSIONS = {"cuda": "Stages run on the GPU.",
               "emulator": "Stages run on the CPU emulator: right results, and no times of a GPU.",
               "": "No stage can run here yet: ./lab setup installs what is missing."}


def main(words):
    parser = output.Parser(prog="lab doctor", description="What this machine has, what is missing and for what, and what to do. Nothing is built.", allow_abbrev=False)
    output.json_option(parser)
    try:
        call = output.checked(parser.parse_args(words))
        findings, place = examine()
        if call.json:
            output.write_json(call.json, {"schema": "kernel-lab-doctor", "version": 1, "usable": bool(place), "findings": findings})
        return output.print_all(f"{findings_text(findings)}\n{CONCLUSIONS[place]}\n") or (0 if place else 2)
    except output.UsageError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
