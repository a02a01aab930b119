"""What a track tells the scripts in reports/ of itself: stages/TRACK/reports.json, an object that may hold

  "not_compared"      stages whose counters are not compared with the model's, each with the reason
  "one_value"         parameters that change nothing of the kernels, each with the value that stands for all
  "library_kernels"   parts of the names of kernels that stand in for a library's on the emulator: left out of comparisons
  "sanitizer"         the parameters at which compute-sanitizer watches its stages

A track without the file has nothing to tell.
"""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEMBERS = ("not_compared", "one_value", "library_kernels", "sanitizer")


def of(track, stages=ROOT / "stages"):
    """The track's notes; members that it leaves out are empty. Raises ValueError for a member that nobody reads."""
    path = pathlib.Path(stages) / track / "reports.json"
    told = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    unknown = set(told) - set(MEMBERS)
    if unknown:
        raise ValueError(f"{path}: there is no {', '.join(sorted(unknown))}; the members are {', '.join(MEMBERS)}")
    return {"not_compared": {}, "one_value": {}, "library_kernels": [], "sanitizer": {}, **told}
