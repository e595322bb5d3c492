"""What all judges have in common: their findings, their versions, and how their programs are called."""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
from collections.abc import Callable

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = ROOT / "target" / "judges"
PYTHON_PROGRAMS = TARGET / "venv" / "bin"
NODE_PROGRAMS = TARGET / "node" / "node_modules" / ".bin"
# The programs of tests/judges/full.
FULL = TARGET / "full"
FULL_PYTHON_PROGRAMS = FULL / "venv" / "bin"


@dataclasses.dataclass(frozen=True)
class Finding:
    rule: str
    # The part of the document, page or exchange that the finding is about, or the first line of a generator's warning.
    place: str
    message: str = ""


@dataclasses.dataclass(frozen=True)
class Judge:
    name: str
    # The package whose version the page shows, such as `npm:svix`.
    package: str
    read: Callable[[], list[Finding]]
    # Whether only `tests/judges/run full` asks this judge.
    is_full: bool = False

    def version(self):
        """Returns the pinned version of the judge's package."""
        pinned = {}
        for folder in (HERE, HERE / "full"):
            python = dict(line.split("==") for line in (folder / "requirements.in").read_text().splitlines())
            node = json.loads((folder / "package.json").read_text())["dependencies"]
            pinned |= {f"pypi:{name}": version for name, version in python.items()}
            pinned |= {f"npm:{name}": version for name, version in node.items()}
        return pinned[self.package]


def run(*command, folder=TARGET / "node", standard_input=None):
    """Runs a program. Returns its exit status and its two outputs without colours."""
    environment = os.environ | {
        "PATH": f"{PYTHON_PROGRAMS}:{os.environ['PATH']}",
        "NO_PROXY": "*",
        # For programs that use the local host, or a browser.
        "READY_FILE": str(TARGET / "ready.json"),
        "BROWSER_MODULE": str(ROOT / "tests" / "pages" / "support" / "browser.mjs"),
        "REDOCLY_TELEMETRY": "off",
        "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
    }
    options = {"cwd": folder, "env": environment, "input": standard_input}
    done = subprocess.run(command, **options, capture_output=True, text=True, check=False)
    return done.returncode, *(re.sub(r"\x1b\[[0-9;]*m", "", output) for output in (done.stdout, done.stderr))


def failure(program, status, *outputs):
    """Returns the finding that a program failed without saying why in a form that we know."""
    return Finding("exit-status", program, f"status {status}: " + "\n".join(outputs).strip()[-2000:])


def failures(program, status, *outputs, expected=0):
    """Returns the finding that a program ended with another exit status than expected, or none."""
    return [] if status == expected else [failure(program, status, *outputs)]


def ask(program, *command, folder=FULL, question=None):
    """Runs a program that reads JSON and writes JSON. Returns its answer, and the finding that it failed."""
    status, output, errors = run(*command, folder=folder, standard_input=json.dumps(question))
    try:
        return json.loads(output), failures(program, status, output, errors)
    except ValueError:
        return None, [failure(program, status, output, errors)]
