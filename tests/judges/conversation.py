"""Plays the first conversation against the local host with the clients that two judges have generated."""

import os
import shutil
import subprocess
import traceback

from documents import CLIENTS as GENERATED
from host import READY_FILE
from judge import HERE, NODE_PROGRAMS, PYTHON_PROGRAMS, TARGET

PLAY_SECONDS = 60


def with_python():
    environment = {"PYTHONPATH": str(GENERATED / "python")}
    return play(environment, PYTHON_PROGRAMS / "python", HERE / "play_conversation.py")


def with_typescript():
    """Also checks the types of the generated client."""
    folder = TARGET / "conversation"
    shutil.rmtree(folder, ignore_errors=True)
    sources = TARGET / "node" / "conversation"
    shutil.rmtree(sources, ignore_errors=True)
    shutil.copytree(GENERATED / "typescript", sources / "client")
    shutil.copy(HERE / "play_conversation.ts", sources)
    options = ["--strict", "--target", "es2022", "--module", "commonjs", "--moduleResolution", "node10"]
    compiler = [NODE_PROGRAMS / "tsc", sources / "play_conversation.ts", *options, "--outDir", folder]
    return play({}, *compiler) or play({}, "node", folder / "play_conversation.js")


def play(environment, *command):
    """Returns the output of a program that failed."""
    environment = os.environ | {"READY_FILE": str(READY_FILE), "NO_PROXY": "*"} | environment
    # The compiler looks for the types of Node in its working directory.
    options = {"cwd": TARGET / "node", "env": environment, "timeout": PLAY_SECONDS}
    output = subprocess.run(command, **options, capture_output=True, text=True, check=False)
    return "" if output.returncode == 0 else output.stdout + output.stderr


CLIENTS = {"Python": with_python, "TypeScript": with_typescript}


def problem(play_with):
    try:
        return play_with()
    except Exception:
        return traceback.format_exc()


def problems(clients):
    results = {name: problem(play_with) for name, play_with in clients.items()}
    return [f"conversation in {name}: {output}" for name, output in results.items() if output]
