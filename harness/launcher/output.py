"""What the launcher's Python verbs share with the program's: a wrong call is exit code 2, a file is written whole or not
at all, and output that is lost is an error."""

import argparse
import json
import os
import pathlib
import sys


class UsageError(Exception):
    """A call that makes no sense, or a file that cannot be written: exit code 2."""


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(message)


def write_json(path, document):
    """The file whole, or as it was."""
    import tempfile

    target = pathlib.Path(os.path.realpath(path))
    unfinished = None
    try:
        if target.exists() and not target.is_file():
            target.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
            return
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=target.parent, prefix=target.name + ".", delete=False) as file:
            unfinished = file.name
            json.dump(document, file, indent=2, ensure_ascii=False)
            file.write("\n")
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(unfinished, 0o666 & ~mask)
        os.replace(unfinished, target)
    except OSError as error:
        if unfinished and os.path.exists(unfinished):
            os.unlink(unfinished)
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None


def print_all(text):
    """0, or 1 where what should have been printed is lost. A reader that has seen enough is no loss."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except (OSError, AttributeError) as error:  # closed, or full
        print(f"lab: what should have been printed is lost: {error}", file=sys.stderr)
        if sys.stdout:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    return 0


def json_option(parser):
    parser.add_argument("--json", metavar="FILE", help="write the results to this file")


def checked(call):
    for option in ("json", "device"):
        if getattr(call, option, None) == "":
            raise UsageError(f"--{option} needs a value, and the one given is empty")
    if call.json and not os.path.isdir(os.path.dirname(os.path.abspath(call.json))):
        raise UsageError(f"{call.json}: there is no such directory")
    return call
