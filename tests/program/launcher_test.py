#!/usr/bin/env python3
"""The launcher `lab`, on a project of its own that builds in no time: what is up to date is not built again, and nothing
stale is ever run; what needs no build answers without one."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# "Programs" that are made of all sources by concatenation, and workers that are their stage's source.
CMAKE = """cmake_minimum_required(VERSION 3.25)
project(kernel_lab VERSION 0.1 LANGUAGES NONE)
file(GLOB_RECURSE texts CONFIGURE_DEPENDS common/* harness/*.txt)
add_custom_target(commit COMMAND sh ${CMAKE_SOURCE_DIR}/harness/commit.sh ${CMAKE_SOURCE_DIR} BYPRODUCTS commit.txt)
foreach(program IN ITEMS lab lab-ladder)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${program} COMMAND sh ${CMAKE_SOURCE_DIR}/harness/make.sh ${CMAKE_BINARY_DIR}/${program}
    ${CMAKE_BINARY_DIR}/commit.txt ${texts} DEPENDS ${texts} commit.txt harness/make.sh)
  add_custom_target(make_${program} ALL DEPENDS ${CMAKE_BINARY_DIR}/${program} commit)
endforeach()
file(GLOB stages RELATIVE ${CMAKE_SOURCE_DIR}/stages CONFIGURE_DEPENDS stages/*/*/stage.cu)
list(TRANSFORM stages REPLACE "/stage.cu$" "")
list(JOIN stages "\\n" lines)
file(CONFIGURE OUTPUT stages.txt CONTENT "${lines}\\n" @ONLY)
foreach(stage IN LISTS stages)
  set(worker ${CMAKE_BINARY_DIR}/workers/emulator/${stage})
  add_custom_command(OUTPUT ${worker} COMMAND sh ${CMAKE_SOURCE_DIR}/harness/make.sh ${worker} ${CMAKE_SOURCE_DIR}/stages/${stage}/stage.cu
    DEPENDS stages/${stage}/stage.cu harness/make.sh)
  list(APPEND workers ${worker})
endforeach()
add_custom_target(workers ALL DEPENDS ${workers})
"""
# Fails where a source says so, and runs what a test has left to happen during the build.
MAKE = """set -e
out=$1
shift
mkdir -p "$(dirname "$out")"
if grep -q FAIL "$@"; then echo "error: it says FAIL"; exit 1; fi
{ echo '#!/bin/sh'; echo 'if [ "$1" = build-targets ]; then'
  echo '  shift; shift; for s in "$@"; do echo "workers/emulator/$s"; done; exit; fi'
  echo 'here=$(dirname "$0")'
  for file in "$@"; do sed 's/^/echo "/; s/$/"/' "$file"; done
  echo 'shift; for s in "$@"; do cat "$here/workers/emulator/$s" | grep "^echo"; done'
} > "$out"
chmod +x "$out"
if [ -f "$(dirname "$0")/during.sh" ]; then mv "$(dirname "$0")/during.sh" "$(dirname "$0")/now.sh"; sh "$(dirname "$0")/now.sh"; fi
"""
COMMIT = """git -C "$1" rev-parse HEAD > commit.new
git -C "$1" status --porcelain --untracked-files=no | sed 's/.*/changed/' | head -1 >> commit.new
cmp -s commit.new commit.txt || mv commit.new commit.txt
"""
PRESETS = {"version": 6, "configurePresets": [{"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/${presetName}"}]}
STAGE = """const registration<problem> registered{LAB_PATH, {.idea = "the idea of %s", .launch = launch%s}};
"""
PROBLEM = """struct problem {
  static constexpr const char* title = "The track";
  static std::vector<parameter<parameters>> describe() {
    return {{.name = "n", .meaning = "values", .bench = {1'000'000}, .emulator_bench = {1'000}}};
  }
};
"""


class Project:
    """A checkout of the miniature project, with the launcher of this one."""

    def __init__(self, folder):
        self.root = pathlib.Path(folder).resolve()
        self.build = self.root / "build/release"
        for name in ("lab", "harness/launcher", "harness/front/selection/verbs.txt"):
            target = self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(ROOT / name, target)
        self.put("CMakeLists.txt", CMAKE)
        self.put("CMakePresets.json", json.dumps(PRESETS, indent=2))
        self.put("harness/make.sh", MAKE)
        self.put("harness/commit.sh", COMMIT)
        self.put("harness/front.txt", "front 1")
        self.put("common/one.txt", "one 1")
        self.put("docs/start-here.md", "# Start\n\n## The lessons\n\n[b](../stages/bravo/), [a](../stages/alpha/01_a/)\n")
        self.put("reports/source_digest.py", "")
        self.put("tests/none.txt", "")
        self.put(".gitignore", "build/\n")
        for track in ("alpha", "bravo"):
            self.put(f"stages/{track}/problem.hpp", PROBLEM)
            self.put(f"stages/{track}/01_a/stage.cu", STAGE % ("a", ""))
        self.git("init", "-q")
        self.commit()

    def put(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=self.root, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")

    def start(self, *words, **settings):
        environment = {**os.environ, "LAB_INSTALL": "0", **settings}
        for name in ("LAB_PRESET", "LAB_BUILD_ALL", "LAB_COMMIT", "LAB_WORKER_CUDA"):
            environment.pop(name, None) if name not in settings else None
        return subprocess.Popen([self.root / "lab", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=environment, start_new_session=True)

    def lab(self, *words, **settings):
        with self.start(*words, **settings) as process:
            out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def has_built(self):
        """Whether ninja was asked since the last question."""
        log = self.build / "build.log"
        if not log.exists():
            return False
        log.unlink()
        return True


class LauncherTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="lab-launcher-")
        self.addCleanup(self.folder.cleanup)
        self.project = Project(self.folder.name)

    def run_lab(self, *words, code=0, **settings):
        found, out, err = self.project.lab(*words, **settings)
        self.assertEqual(found, code, out + err)
        return out

    def built(self, *words):
        """A call that has to build, and another that has not, with the same output."""
        out = self.run_lab(*words)
        self.assertTrue(self.project.has_built(), "nothing was built")
        self.assertEqual(self.run_lab(*words), out)
        self.assertFalse(self.project.has_built(), "ninja was asked although nothing has changed")
        return out

    def test_nothing_changed(self):
        self.assertIn("front 1", self.built("run", "alpha/01_a"))

    def test_edited_file(self):
        self.built("run", "alpha/01_a")
        self.project.put("common/one.txt", "one 2")
        self.assertIn("one 2", self.built("run", "alpha/01_a"))
        self.project.put("stages/alpha/01_a/stage.cu", "another stage")
        self.assertIn("another stage", self.built("run", "alpha/01_a"))

    def test_a_file_whose_time_was_set_back(self):
        self.built("run")
        self.project.put("common/one.txt", "one 2")
        os.utime(self.project.root / "common/one.txt", (1, 1))
        self.run_lab("run")
        self.assertTrue(self.project.has_built())

    def test_added_and_deleted_file(self):
        self.built("run")
        self.project.put("common/two.txt", "two 1")
        self.assertIn("two 1", self.built("run"))
        (self.project.root / "common/two.txt").unlink()
        self.assertNotIn("two 1", self.built("run"))

    def test_new_stage_and_removed_stage(self):
        self.built("run", "alpha/01_a")
        self.project.put("stages/alpha/02_b/stage.cu", "stage b")
        self.assertIn("stage b", self.built("run", "alpha/02_b"))
        shutil.rmtree(self.project.root / "stages/alpha/02_b")
        self.run_lab("run", "alpha/01_a")
        self.assertTrue(self.project.has_built())
        self.assertNotIn("02_b", (self.project.build / "stages.txt").read_text())

    def test_linked_folder(self):
        with tempfile.TemporaryDirectory() as elsewhere:
            stage = pathlib.Path(elsewhere) / "stage.cu"
            stage.write_text("linked 1")
            (self.project.root / "stages/alpha/03_linked").symlink_to(elsewhere)
            self.assertIn("linked 1", self.built("run", "alpha/03_linked"))
            stage.write_text("linked 2")
            self.assertIn("linked 2", self.built("run", "alpha/03_linked"))

    def test_commit_and_changes(self):
        first = self.built("run")
        self.project.git("commit", "-q", "--allow-empty", "-m", "y")
        second = self.built("run")
        self.assertNotEqual(first, second)
        self.project.put("docs/start-here.md", "changed, and compiled nowhere")
        self.assertIn("changed", self.built("run"))

    def test_another_call_needs_other_targets(self):
        self.built("run", "alpha/01_a")
        self.built("run", "bravo/01_a")
        self.run_lab("run", "alpha/01_a")
        self.run_lab("run", "alpha/01_a", "bravo/01_a")
        self.assertFalse(self.project.has_built())

    def test_a_program_that_was_deleted(self):
        self.built("run", "alpha/01_a")
        (self.project.build / "workers/emulator/alpha/01_a").unlink()
        self.built("run", "alpha/01_a")
        (self.project.build / "lab-ladder").unlink()
        self.built("run", "alpha/01_a")

    def test_run_and_verify_need_a_program_of_their_own(self):
        self.built("run", "alpha/01_a")
        self.assertFalse((self.project.build / "lab").exists())
        self.run_lab("verify", "alpha/01_a")
        self.assertFalse(self.project.has_built())
        self.built("apply", "alpha/01_a")
        self.assertTrue((self.project.build / "lab").exists())

    def test_failed_build(self):
        self.built("run", "alpha/01_a")
        self.project.put("stages/alpha/01_a/stage.cu", "FAIL")
        for _ in range(2):
            code, out, err = self.project.lab("run", "alpha/01_a")
            self.assertEqual((code, out), (2, ""))
            self.assertIn("it says FAIL", err)
            self.assertNotIn("in a stage: launch(", err)
        self.project.put("stages/alpha/01_a/stage.cu", "FAIL k<<<1, 2>>>(x);")  # what nvcc alone knows
        err = self.project.lab("run", "alpha/01_a")[2]
        self.assertIn("stages/alpha/01_a/stage.cu:1:FAIL k<<<1, 2>>>(x);\nlab: in a stage: launch(", err)
        self.assertIn("front 1", self.run_lab("run", "bravo/01_a"))  # costs no other stage its run
        self.project.put("stages/alpha/01_a/stage.cu", "right again")
        self.assertIn("right again", self.built("run", "alpha/01_a"))

    def test_interrupted_build(self):
        for sign in (signal.SIGINT, signal.SIGKILL):
            with self.subTest(sign=sign):
                self.run_lab("run", "alpha/01_a")
                self.project.put("harness/during.sh", "touch begun; sleep 2")
                self.project.put("stages/alpha/01_a/stage.cu", f"after {sign}")
                with self.project.start("run", "alpha/01_a") as process:
                    for _ in range(500):
                        if list(self.project.build.glob("**/begun")):
                            break
                        time.sleep(0.02)
                    os.killpg(process.pid, sign)
                    process.communicate(timeout=30)
                for begun in self.project.build.glob("**/begun"):
                    begun.unlink()
                self.project.has_built()
                self.assertIn(f"after {sign}", self.built("run", "alpha/01_a"))

    def test_edited_while_the_build_ran(self):
        self.built("run", "alpha/01_a")
        self.project.put("harness/during.sh", f"sleep 0.1; echo 'one 3' > '{self.project.root}/common/one.txt'")
        self.project.put("stages/alpha/01_a/stage.cu", "stage 2")
        self.run_lab("run", "alpha/01_a")
        self.project.has_built()
        self.assertIn("one 3", self.run_lab("run", "alpha/01_a"))

    def test_changed_configuration(self):
        self.built("run")
        presets = json.loads(json.dumps(PRESETS))
        presets["configurePresets"][0]["cacheVariables"] = {"A": "1"}
        self.project.put("CMakePresets.json", json.dumps(presets))
        self.built("run")
        subprocess.run(["cmake", "-DA=2", self.project.build], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.built("run")
        self.run_lab("run", CXXFLAGS="-O1")
        self.assertTrue(self.project.has_built())

    def test_without_a_build(self):
        for words in (["list"], ["list", "alpha"], ["--version"], ["-V"], ["--help"], ["-h"], ["help"], ["help", "list"], ["help", "run"],
                      ["run", "--help"], ["test", "--help"], ["completion", "bash"], ["completion", "verbs"], []):
            with self.subTest(words=words):
                began = time.monotonic()
                self.assertNotEqual(self.run_lab(*words), "")
                self.assertLess(time.monotonic() - began, 5)
        self.assertIn("The options of 'run' are shown here", self.run_lab("run", "--help"))
        self.assertFalse((self.project.root / "build").exists())
        for words in (["rnu"], ["nonsense", "--help"], ["help", "nonsense"]):
            code, _, err = self.project.lab(*words)
            self.assertEqual(code, 2, words)
            self.assertIn(f"there is no verb '{words[-1] if words[0] == 'help' else words[0]}'", err)
        self.assertFalse((self.project.root / "build").exists())

    def test_version(self):
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=self.project.root, check=True, capture_output=True, text=True).stdout.strip()
        self.assertEqual(self.run_lab("--version"), f"Kernel Lab 0.1 ({head})\n")
        self.assertEqual(self.run_lab("-V", LAB_COMMIT="x"), f"Kernel Lab 0.1 ({head})\n")
        shutil.rmtree(self.project.root / ".git")
        self.assertEqual(self.run_lab("-V", LAB_COMMIT="x"), "Kernel Lab 0.1 (x)\n")
        self.built("run", "alpha/01_a")  # a copy without its repository

    def test_help_names_every_verb(self):
        text = self.run_lab("--help")
        for verb in ("list", "run", "profile", "grade", "doctor", "test", "setup", "completion"):
            self.assertIn(f"\n  {verb} ", text)

    def test_completion(self):
        self.assertEqual(self.run_lab("completion", "stages").split(), ["alpha", "bravo", "alpha/01_a", "bravo/01_a"])
        for shell in ("bash", "zsh", "fish"):
            self.assertIn("completion stages", self.run_lab("completion", shell))
        self.run_lab("completion", "csh", code=2)
        script = self.run_lab("completion", "bash")
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)

    @unittest.skipIf(list(pathlib.Path("/dev").glob("nvidia[0-9]*")), "this machine has a GPU")
    def test_a_gpu_that_is_not_there(self):
        for words in (["--device", "cuda:0"], ["--device=cuda:1"], ["--devices", "cuda:0,cuda:1"]):
            code, _, err = self.project.lab("run", "alpha", *words)
            self.assertEqual(code, 2)
            self.assertIn("this machine shows no NVIDIA GPU", err)
        self.assertFalse((self.project.root / "build").exists())

    def with_packages(self):
        """A machine whose packages are files of a folder: apt-get notes what it is asked for, and installs what has a line
        in `offered`."""
        system = self.project.root / "system"
        launcher = (self.project.root / "lab").read_text().replace("/usr/include/", f"{system}/include/").replace("/usr/bin/bwrap", f"{system}/bwrap")
        self.project.put("lab", launcher)
        self.project.put("system/bin/dpkg-query", "#!/bin/sh\nfor last; do :; done\ncase $* in *libcli11-dev*) yes installed | head -5 ;; *) exit 1 ;; esac\n")
        self.project.put("system/bin/apt-get", f"""#!/bin/sh
case "$*" in *install*) ;; *) exit 0 ;; esac
echo "$*" >> {system}/asked
mkdir -p {system}/include
while IFS='|' read -r package file; do case "$*" in *"$package"*) touch "$file" ;; esac; done < {system}/offered
case "$*" in *bubblewrap*) [ -e {system}/bwrap ] ;; esac
""")
        self.project.put("system/bin/id", "#!/bin/sh\necho 0\n")
        self.project.put("system/offered", "".join(f"{package}|{system}/include/{file}\n" for package, file in (("catch2", "catch2"), ("libcsv-dev", "csv.h"), ("libpng-dev", "png.h"), ("libb2-dev", "blake2.h"))))
        for name in ("dpkg-query", "apt-get", "id"):
            (system / "bin" / name).chmod(0o755)
        return system

    def asked(self, system):
        """The packages that apt-get was asked for since the last question."""
        path = system / "asked"
        text = path.read_text() if path.exists() else ""
        path.unlink(missing_ok=True)
        return sorted(word for word in text.split() if word in ("catch2", "libcsv-dev", "libpng-dev", "libb2-dev", "bubblewrap", "libfmt-dev"))

    def test_packages_of_single_features(self):
        system = self.with_packages()
        settings = {"LAB_INSTALL": "1", "PATH": f"{system}/bin:{os.environ['PATH']}"}
        self.run_lab("run", "alpha/01_a", **settings)
        self.assertEqual(self.asked(system), [])
        self.run_lab("apply", "alpha/01_a", **settings)
        self.assertEqual(self.asked(system), [])
        self.project.lab("apply", "x.csv", **settings)
        self.assertEqual(self.asked(system), ["libcsv-dev"])
        code, _, err = self.project.lab("grade", **settings)
        self.assertEqual((code, self.asked(system)), (0, ["bubblewrap", "libb2-dev"]))
        self.assertIn("bubblewrap (./lab grade)", err)
        self.project.lab("grade", **settings)
        self.assertEqual(self.asked(system), [])  # what could not be had is not tried again
        self.project.lab("setup", **settings)
        self.assertEqual(self.asked(system), ["bubblewrap", "catch2", "libpng-dev"])
        code, _, err = self.project.lab("test", **settings)
        self.assertEqual(code, 2)
        self.assertIn("the tests need Catch2", err)

    def test_list(self):
        text = self.run_lab("list", "--device", "emulator")
        self.assertEqual(text.split("\n\n")[0], "bravo: The track\n  --n  values (default 1000)\n  bravo/01_a  the idea of a")
        self.assertIn("default 1000000", self.run_lab("list", "alpha", "--device", "cuda:0"))
        self.project.put("stages/another/01_a/stage.cu", STAGE % ("a", ""))  # unknown to the lessons, and without a problem
        self.project.put("stages/alpha/02_b/stage.cu", STAGE % ("b", ", .traits = {.gpu_only = true, .minimum_compute_capability = 90, .library = true}"))
        text = self.run_lab("list", "--device", "emulator")
        self.assertEqual([line.split(":")[0] for line in text.splitlines() if line and line[0] != " "], ["bravo", "alpha", "another"])
        self.assertIn("alpha/02_b  the idea of b (library)", text)
        self.assertIn("needs GPU, compute capability 9.0", text)
        self.assertIn("not here: needs a GPU", text)
        self.assertNotIn("not here", self.run_lab("list", "--device", "cuda:0"))

    def test_list_of_stages_that_are_not_understood(self):
        self.project.put("stages/alpha/02_b/stage.cu", "int main( { nothing that compiles")
        self.project.put("stages/alpha/03_c/stage.cu", "registered{LAB_PATH, {.idea = ")
        self.project.put("stages/alpha/04_d/stage.cu", 'registered{LAB_PATH, {.idea = "a\x1b[2Jb", .traits = {.gpu_only = }}};')
        text = self.run_lab("list", "alpha")
        self.assertIn("alpha/01_a  the idea of a", text)
        self.assertIn("alpha/02_b  not understood, stage.cu: ", text)
        self.assertIn("alpha/03_c  not understood, stage.cu: ", text)
        self.assertIn("alpha/04_d  ", text)
        self.assertNotIn("\x1b", text)

    def test_list_of_patterns(self):
        self.assertEqual(self.run_lab("list", "*/01*", "--device", "emulator"), self.run_lab("list", "alpha/", "bravo", "--device", "emulator"))
        for words, said in ((["alpah"], "did you mean alpha"), (["run"], "run is a verb"), (["--nonsense"], "--nonsense"), (["zzz"], "'lab list' shows"),
                            (["--device", "x"], "must be emulator or cuda:0"), (["--json", ""], "--json needs a value"), (["--json", "/none/x"], "/none/x")):
            code, out, err = self.project.lab("list", *words)
            self.assertEqual((code, out), (2, ""), words)
            self.assertIn(said, err)

    def test_json_of_list_and_doctor(self):
        path = self.project.root / "out.json"
        self.run_lab("list", "alpha", "--json", str(path))
        document = json.loads(path.read_text())
        self.assertEqual(document["schema"], "kernel-lab-list")
        self.assertEqual(document["tracks"][0]["stages"][0]["idea"], "the idea of a")
        code, out, _ = self.project.lab("doctor", "--json", str(path))
        document = json.loads(path.read_text())
        self.assertEqual(document["usable"], code == 0)
        for one in document["findings"]:
            self.assertIn(one["status"], ("ok", "missing", "warning"))
            self.assertIn(one["subject"], out)
        subjects = {one["subject"] for one in document["findings"]}
        self.assertLessEqual({"driver", "device", "toolkit", "counter permission", "clocks", "emulator", "libraries", "bubblewrap", "libcsv-dev", "Nsight Compute", "Nsight Systems"}, subjects)
        self.assertFalse((self.project.root / "build").exists())

    def test_output_that_is_lost(self):
        for verb in ("list", "doctor"):
            for where in ("> /dev/full", ">&-"):
                # Without the preset that the tests themselves may run with.
                done = subprocess.run(f"unset LAB_PRESET; '{self.project.root}/lab' {verb} {where}", shell=True, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("what should have been printed is lost", done.stderr)
            subprocess.run(["bash", "-c", f"unset LAB_PRESET; set -o pipefail; '{self.project.root}/lab' {verb} | head -1"], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
