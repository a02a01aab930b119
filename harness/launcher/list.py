#!/usr/bin/env python3
"""lab list: the tracks and stages that the sources have, with their parameters, ideas and needs. Nothing is built.

Exit codes as those of every verb: 0, or 2 for a call that makes no sense.
"""

import fnmatch
import glob
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import output  # noqa: E402
import tracks as sources  # noqa: E402

NEEDS_GPU = "needs a GPU: it uses what the emulator does not model"


def text_of(value):
    """A default as it is written on a command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def has_gpu():
    return os.path.exists("/dev/dxg") or any(re.fullmatch(r"/dev/nvidia\d+", name) for name in glob.glob("/dev/nvidia[0-9]*"))


def backend_of(device):
    """cuda or emulator."""
    if not device:
        return "cuda" if has_gpu() else "emulator"
    if device == "emulator" or re.fullmatch(r"cuda:\d{1,4}(,cuda:\d{1,4})*", device):
        return device.split(":")[0]
    raise output.UsageError(f"--device must be emulator or cuda:0, cuda:1, ..., or several of these as cuda:0,cuda:1, not '{device}'")


def why_not(stage, backend):
    """Why a stage does not run on this kind of device; empty where it does."""
    if hidden := stage["hidden"].get(backend):
        return f"is an expected failure whose fault does not show here: {hidden}"
    return NEEDS_GPU if stage["gpu_only"] and backend == "emulator" else ""


def matches(pattern, track, stage):
    """Whether the pattern names track/stage, or its whole track."""
    return fnmatch.fnmatchcase(f"{track}/{stage}", pattern) or fnmatch.fnmatchcase(track, pattern)


def nothing_matches(pattern, known):
    verbs = [line.split("|")[1] for line in (sources.ROOT / "harness/front/selection/verbs.txt").read_text().splitlines() if "|" in line and not line.startswith("#")]
    if pattern in verbs:
        return output.UsageError(f"no stage matches '{pattern}': {pattern} is a verb, and comes first: lab {pattern}")
    for page in sorted(sources.ROOT.glob("stages/*/*/README.md")):
        # As stage_without_source in harness/front/selection/patterns.cpp.
        track, name = page.parts[-3:-1]
        named = matches(pattern, track, name) or ("/" in pattern and matches(pattern + "*", track, name))
        if named and not page.with_name("stage.cu").exists():
            stage = f"{track}/{name}"
            is_exercise = page.with_name("exercise.cu").exists()
            why = f"{stage} is an exercise, and yours to write: lab new --exercise {stage}" if is_exercise else f"stages/{stage} has no stage.cu, which a student edition leaves out where it holds a solution"
            return output.UsageError(f"no stage matches '{pattern}': {why}")
    import difflib  # slow to load, and only needed here

    near = difflib.get_close_matches(pattern, known, 3, 0.6) or [name for name in known if len(pattern) > 1 and pattern in name][:3]
    advice = f"did you mean {' or '.join(near)}?" if near else "'lab list' shows what there is, and 'lab new --list' the exercises"
    return output.UsageError(f"no stage matches '{pattern}'; {advice}")


def selected(patterns):
    """(track's name, names of its stages) that a pattern names; all without a pattern. As harness/front/selection/patterns.hpp."""
    here = sources.ROOT / "stages"
    all_stages = {name: sorted(file.parent.name for file in here.glob(f"{name}/*/stage.cu")) for name in sources.names()}
    if not any(all_stages.values()):
        raise output.UsageError("there are no stages in stages/")

    def matching(pattern):
        return {(track, stage) for track, stages in all_stages.items() for stage in stages if matches(pattern, track, stage)}

    found = set() if patterns else matching("*")
    for pattern in (pattern.rstrip("/") or pattern for pattern in patterns):
        hits = matching(pattern) or ("/" in pattern and (matching(pattern + "_*") or matching(pattern + "*")))
        if not hits:
            raise nothing_matches(pattern, [name for track, stages in all_stages.items() for name in (track, *(f"{track}/{stage}" for stage in stages))])
        found.update(hits)
    return [(track, kept) for track, stages in all_stages.items() if (kept := [stage for stage in stages if (track, stage) in found])]


def describe(call):
    backend = backend_of(call.device)
    document = {"schema": "kernel-lab-list", "version": 2, "backend": backend, "tracks": []}
    for name, kept in selected(call.pattern):
        track = sources.Track(sources.ROOT / "stages" / name)
        parameters = [{"name": one["name"], "meaning": one["meaning"], "choices": one["choices"], "defaults": one["defaults"][backend]} for one in track.parameters]
        stages = []
        for stage in track.stages:
            if stage["name"] not in kept:
                continue
            why = why_not(stage, backend)
            shown = {key: stage[key] for key in ("name", "path", "idea", "needs", "library", "expected_failure", "problem")}
            stages.append({**shown, "runnable": not why and not stage["problem"], "why_not": why})
        document["tracks"].append({"name": name, "title": track.title, "unit": track.unit, "problem": track.problem, "parameters": parameters, "texts": track.texts, "stages": stages})
    return document


def track_text(track):
    lines = [f"{track['name']}: {track['title']}"]
    for one in track["parameters"]:
        if one["choices"] is None:
            choices = "; its page lists the choices"
        else:
            choices = "; " + ", ".join(one["choices"]) if one["choices"] else ""
        lines.append(f"  --{one['name']}  {one['meaning']} (default {','.join(map(text_of, one['defaults']))}{choices})")
    lines += [f"  --{one['name']}  of apply: {one['meaning']}" for one in track["texts"]]
    if track["problem"]:
        lines.append(f"  {track['problem']}")
    width = max(len(stage["path"]) for stage in track["stages"])
    for stage in track["stages"]:
        idea = stage["problem"] or stage["idea"] + (" (library)" if stage["library"] else "")
        lines.append(f"  {stage['path']:<{width}}  {idea}".rstrip())
        notes = []
        if stage["expected_failure"]:
            notes.append("expected failure, wrong on purpose: fails with " + stage["expected_failure"])
        if stage["needs"]:
            notes.append("needs " + stage["needs"])
        if stage["why_not"]:
            notes.append("not here: " + stage["why_not"])
        lines += [f"  {'':<{width}}    {note}" for note in notes]
    return "\n".join(lines) + "\n"


def main(words):
    parser = output.Parser(prog="lab list", description="Tracks, stages, the idea of each, what each needs: read from the sources, without a build.", allow_abbrev=False)
    parser.add_argument("pattern", nargs="*", metavar="PATTERN", help="tracks or stages, shell-style: TRACK, TRACK/NN_name, '*/*cub*' (default: everything)")
    parser.add_argument("--device", "--devices", metavar="DEVICE", help="whose defaults are shown: cuda:0 or emulator (default: cuda:0 if there is one)")
    output.json_option(parser)
    try:
        call = output.checked(parser.parse_intermixed_args(words))
        document = describe(call)
        text = "\n".join(track_text(track) for track in document["tracks"])
        if not call.device and document["backend"] == "emulator":
            text += "\nno NVIDIA GPU is seen: the portable stages run on the CPU emulator\n"
        if call.json:
            output.write_json(call.json, document)
        return output.print_all(text)
    except output.UsageError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
