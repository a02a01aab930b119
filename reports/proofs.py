#!/usr/bin/env python3
"""The proofs of the shipped stages: reports/proofs/BACKEND.json, by which a fresh clone need not make them.

A proof says that a stage passed everything that `lab verify` tries, and names the digest of what was compiled (the tokens of
its sources, of its track's, and the verifier's version: source_digest.py). `lab run` takes a proof with the right digest, and
makes one where there is none.

usage: reports/proofs.py                  say which proofs do not match the sources, or are missing; exit 1 if any. Proofs of the
                                          emulator by an earlier verifier or emulator are counted: the tests try their stages in full
       reports/proofs.py --make           make all of these with ./lab verify, and record them
       reports/proofs.py --collect BUILD  record what calls of BUILD (build/release) have proved on any device

--make proves on the device that `lab verify` takes: a GPU where there is one, else the emulator. Proofs of a GPU that do not
match are taken out by either call: the next run on such a GPU makes them again.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import source_digest

ROOT = source_digest.ROOT
FOLDER = ROOT / "reports" / "proofs"
SCHEMA = "kernel-lab-proofs"


def read(path):
    """{stage: proof} of a record."""
    if not path.exists():
        return {}
    document = json.loads(path.read_text(encoding="utf-8"))
    if document.get("schema") != SCHEMA or document.get("version") != 1:
        raise ValueError(f"{path} is no record of proofs")
    return {one["stage"]: one for one in document["proofs"]}


def write(path, proofs):
    """A line a proof, so that a difference shows which have changed."""
    lines = ",\n".join(json.dumps(proofs[stage], sort_keys=True) for stage in sorted(proofs))
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'{{"schema": "{SCHEMA}", "version": 1, "proofs": [\n{lines}\n]}}\n', encoding="utf-8")


def records():
    return {path.stem: read(path) for path in sorted(FOLDER.glob("*.json"))}


def expected_on_emulator(root=ROOT):
    """The stages that the emulator runs and that are no expected failures, as their sources say."""
    stages = source_digest.Tree(root).stages()
    return {stage for stage in stages if not ({"gpu_only", "expected_failure"} & set(traits_of(root, stage)))}


def traits_of(root, stage):
    text = source_digest.code_text((root / "stages" / stage / "stage.cu").read_text(encoding="utf-8"))
    return [name for name in ("gpu_only", "expected_failure") if f".{name} =" in text]


def problems(found, digests, wanted):
    """A line for each proof that does not match, and for each of the emulator's that is missing."""
    lines = []
    for backend, proofs in found.items():
        lines += [f"{backend}: {stage} has changed since it was proved" if stage in digests else f"{backend}: there is no stage {stage}"
                  for stage, proof in proofs.items() if digests.get(stage) != proof["digest"]]
    lines += [f"emulator: {stage} has no proof" for stage in sorted(wanted - set(found.get("emulator", {})))]
    return lines


def of_earlier_judges(found, judges):
    """The stages whose proof on the emulator was made by another verifier or another emulator than today's."""
    return {stage for stage, proof in found.get("emulator", {}).items() if proof.get("judges") != judges}


def collect(build, found, digests):
    """Adds what the calls of a build have proved, takes out what does not match, and writes the records."""
    for path in build.glob("proofs/*/*/*.json"):
        proof = json.loads(path.read_text(encoding="utf-8"))
        if digests.get(proof["stage"]) == proof["digest"]:
            found.setdefault(proof["backend"], {})[proof["stage"]] = proof
    for backend, proofs in found.items():
        write(FOLDER / f"{backend}.json", {stage: proof for stage, proof in proofs.items() if digests.get(stage) == proof["digest"]})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--collect", type=pathlib.Path)
    asked = parser.parse_args()
    tree = source_digest.Tree()
    digests, judges, wanted = tree.proofs(), tree.judges(), expected_on_emulator()
    if asked.make:
        recorded = records()
        current = {stage for stage, proof in recorded.get("emulator", {}).items() if digests.get(stage) == proof["digest"]}
        missing = sorted(wanted - (current - of_earlier_judges(recorded, judges)))
        if missing and subprocess.run([ROOT / "lab", "verify", *missing], check=False).returncode not in (0, 1):
            return 2
        asked.collect = ROOT / "build" / "release"
    if asked.collect is not None:
        collect(asked.collect, records(), digests)
    found = records()
    lines = problems(found, digests, wanted)
    earlier = len(of_earlier_judges(found, judges))
    if earlier:
        print(f"{earlier} proofs of the emulator are by an earlier verifier or emulator: the tests try their stages in full (--make)")
    print("\n".join(lines) if lines else "every proof matches the sources, and no stage of the emulator's lacks one")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
