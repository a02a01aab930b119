"""The page of `lab view`: its figures are those of `lab profile`, it needs no network, and, where Chromium is installed, keys, pointer
and slider show what they should.

usage: view_test.py PROGRAM"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "reports"), str(ROOT / "tests" / "reports")]

import occupancy
import report_test
import view

PROGRAM = sys.argv.pop()
STAGE = "shared_tile/02_missing_barrier"

# Row 16 gets the focus, an arrow key goes to row 18, and the pointer to the row before it; the other stage's slider moves.
DRIVE = """<iframe src="page.html" style="width: 1100px; height: 800px"></iframe><script>
  onload = () => {
    const page = document.querySelector("iframe").contentDocument, [before, stage] = page.querySelectorAll(".stage");
    const row = (line) => stage.querySelector(`.source [data-line$="cu:${line}"]`), found = [];
    const shown = () => [...stage.querySelectorAll("figure:not([hidden])")].map((one) => one.dataset.line.split(":")[1]).join("+");
    row(16).focus();
    row(16).dispatchEvent(new FocusEvent("focus"));
    found.push(shown());
    row(16).dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown"}));
    row(18).dispatchEvent(new FocusEvent("focus"));
    found.push(shown(), page.activeElement === row(18));
    row(16).dispatchEvent(new MouseEvent("mouseenter"));
    found.push(shown());
    const active = () => [...before.querySelectorAll(".active")].map((one) => one.dataset.line.split(":")[1]).join("+");
    const slider = before.querySelector("input");
    found.push(active());
    slider.value = 1;
    slider.dispatchEvent(new Event("input"));
    found.push(active(), before.querySelector("output").textContent);
    document.body.dataset.found = found.join(" ") + " " + page.documentElement.dataset.view;
  };
</script>"""

OCCUPANCY = """
#include <cuda_occupancy.h>
#include <cstdio>
int main() {
  cudaOccDeviceProp of;
  of.maxThreadsPerBlock = 1024;
  of.regsPerBlock = of.regsPerMultiprocessor = 65536;
  of.warpSize = 32;
  of.sharedMemPerBlock = 48 << 10;
  of.numSms = 1;
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = 1024;
  kernel.sharedSizeBytes = 0;
  kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.numBlockBarriers = 1;
  cudaOccDeviceState state;
  int threads;
  size_t shared;
  while (std::scanf("%d %d %d %zu %zu %zu %d %d %zu", &of.computeMajor, &of.computeMinor, &of.maxThreadsPerMultiprocessor, &of.sharedMemPerMultiprocessor,
                    &of.sharedMemPerBlockOptin, &of.reservedSharedMemPerBlock, &threads, &kernel.numRegs, &shared) == 9) {
    kernel.maxDynamicSharedSizeBytes = shared;
    cudaOccResult result;
    std::printf("%d\\n", cudaOccMaxActiveBlocksPerMultiprocessor(&result, &of, &kernel, &state, threads, shared) == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1);
  }
}
"""


class View(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.page = pathlib.Path(folder.name, "page.html")
        cls.code = view.main([STAGE, "--width", "256", "--height", "128", "--program", PROGRAM, "--output", str(cls.page)])

    def test_figures_are_those_of_the_profile(self):
        self.assertEqual(self.code, 0)
        record = self.page.with_name("profile.json")
        subprocess.run([PROGRAM, "profile", "shared_tile/01_synchronized", "--width", "256", "--height", "128", "--device", "emulator", "--json", record], stdout=subprocess.DEVNULL, check=True)
        text = self.page.read_text(encoding="utf-8")
        lines = json.loads(record.read_text())["stages"][0]["profile"]["kernels"][0]["lines"]
        for line in lines:
            row = re.search(rf'<tr data-line="{line["file"]}:{line["line"]}".*?</tr>', text)[0]
            cells = re.findall(r'style="--heat:[^"]*">(\d*)<', row)
            self.assertEqual([int(cell or 0) for cell in cells], [sum(line["metrics"][metric] for metric in metrics) for metrics, _ in view.COLUMNS.values()])
        self.assertTrue(any(cell for cell in cells))

    def test_lines_of_a_race_are_marked_and_nothing_is_loaded(self):
        text = self.page.read_text(encoding="utf-8")
        self.assertEqual(re.findall(r'<strong class="race">race</strong> (\d+)', text), ["16", "18"])
        self.assertFalse(re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', text))

    def test_keys_pointer_and_slider(self):
        if not report_test.BROWSER:
            self.skipTest("no Chromium is installed")
        drive = self.page.with_name("drive.html")
        drive.write_text(DRIVE)
        self.assertIn('data-found="16 18+18 true 16 17 21 1 shown"', report_test.dom_of(drive))
        for ground, options in (("rgb(255, 255, 255)", []), ("rgb(13, 17, 23)", ["--force-dark-mode"])):
            drive.write_text('<iframe src="page.html"></iframe><script>onload = () => { const page = document.querySelector("iframe").contentDocument; '
                             'document.body.dataset.ground = page.defaultView.getComputedStyle(page.body).backgroundColor; }</script>')
            self.assertIn(f'data-ground="{ground}"', report_test.dom_of(drive, *options))

    def test_blocks_on_a_multiprocessor_are_those_of_the_toolkits_own_header(self):
        nvcc = occupancy.find_nvcc()
        include = pathlib.Path(nvcc or "/", "../../include").resolve()
        if not (include / "cuda_occupancy.h").exists():
            self.skipTest("no CUDA Toolkit is installed")
        program = self.page.with_name("occupancy")
        subprocess.run(["c++", "-x", "c++", "-I", include, "-o", program, "-"], input=OCCUPANCY, text=True, check=True)
        calls = [
            (name, threads, registers, shared)
            for name in occupancy.MULTIPROCESSORS for threads in (1, 32, 33, 64, 128, 200, 256, 384, 512, 1000, 1024)
            for registers in (8, 16, 25, 32, 40, 64, 65, 96, 128, 200, 255) for shared in (0, 1, 1000, 1024, 5000, 27528, 49152, 60000, 65536, 101376, 101377, 160000, 232448)
        ]
        lines = [f"{name[3:-1]} {name[-1]} {of.threads} {of.shared} {of.of_block} {of.reserved} {threads} {registers} {shared}" for name, threads, registers, shared in calls for of in [occupancy.MULTIPROCESSORS[name]]]
        found = subprocess.run([program], input="\n".join(lines), stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        expected = [min(occupancy.limits(occupancy.MULTIPROCESSORS[name], *rest).values()) for name, *rest in calls]
        self.assertEqual([one for one in zip(calls, map(int, found), expected) if one[1] != one[2]], [])
        self.assertEqual(len(found), len(calls))
        compiled = occupancy.resources("elementwise/01_naive", nvcc)
        shown = occupancy.rows(compiled, "lab::elementwise::naive::(anonymous namespace)::double_kernel", 128, 0)
        self.assertEqual([row[0] for row in shown], list(occupancy.MULTIPROCESSORS))
        self.assertEqual({row[2] for row in shown}, {"0"})
        record = self.page.with_name("occupancy.json")
        text = subprocess.run([PROGRAM, "profile", "elementwise/01_naive", "--occupancy", "--device", "emulator", "--json", record], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertEqual([(one["threads"], one["rows"]) for one in json.loads(record.read_text())["stages"][0]["occupancy"]], [(128, shown)])
        self.assertEqual([line.split(None, 6) for line in text.splitlines() if line.startswith("sm_")], [" ".join(row).split(None, 6) for row in shown])

    def test_what_the_program_refuses_is_refused(self):
        self.assertEqual(view.main(["shared_tile/77", "--program", PROGRAM, "--output", str(self.page) + ".no"]), 2)
        self.assertFalse(pathlib.Path(str(self.page) + ".no").exists())
        self.assertEqual(view.main([STAGE, "--program", PROGRAM, "--output", str(self.page / "no")]), 2)


if __name__ == "__main__":
    unittest.main()
