"""Executes docs/first_hour.ipynb, whose cells hold their own assertions, where nbclient is installed: for this Python, or in
the virtual environment build/notebook, which CI makes.

usage: notebook_test.py PRESET, whose build has what the cells need"""

import importlib.util
import os
import pathlib
import sys
import tempfile

NEEDED = ("nbclient", "nbformat", "ipykernel", "matplotlib")
ROOT = pathlib.Path(__file__).resolve().parents[2]
python = ROOT / "build" / "notebook" / "bin" / "python"
if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
    if python.exists() and sys.prefix == sys.base_prefix:
        os.execv(python, [str(python), *sys.argv])
    print(f"not installed: {', '.join(missing)}")
    sys.exit(77)  # CTest: skipped

import nbclient
import nbformat

notebook = nbformat.read(ROOT / "docs" / "first_hour.ipynb", as_version=4)
with tempfile.TemporaryDirectory() as scratch:
    os.environ.update(LAB_PRESET=sys.argv[1], LAB_INSTALL="0", LAB_NOTEBOOK=scratch, MPLBACKEND="module://matplotlib_inline.backend_inline")
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(ROOT / "docs")}}).execute()
shown = [kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})]
for kind in ("image/svg+xml", "image/png"):
    if kind not in shown:
        sys.exit(f"docs/first_hour.ipynb shows no {kind}")
