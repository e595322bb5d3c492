"""Plays the first conversation against the local host with the clients that two judges have generated."""

import os
import shutil
import signal
import subprocess
import time

from judges import CLIENTS as GENERATED
from judges import HERE, NODE_PROGRAMS, PYTHON_PROGRAMS, ROOT, TARGET

READY_FILE = TARGET / "ready.json"
START_SECONDS = 60
PLAY_SECONDS = 60


def start_host():
    """Starts the local host from binaries that have been built before."""
    READY_FILE.unlink(missing_ok=True)
    command = [ROOT / "target" / "debug" / "switchboard", "--no-build", "--memory", "--port", "0"]
    with open(TARGET / "host.log", "wb") as log:
        host = subprocess.Popen([*command, "--ready-file", READY_FILE], cwd=ROOT, stdout=log, stderr=log)
    deadline = time.monotonic() + START_SECONDS
    while not READY_FILE.exists():
        if host.poll() is not None or time.monotonic() > deadline:
            host.kill()
            raise RuntimeError(f"the local host does not start, see {TARGET}/host.log")
        time.sleep(0.1)
    return host


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


def problems():
    host = start_host()
    try:
        results = {name: play_with() for name, play_with in CLIENTS.items()}
    finally:
        host.send_signal(signal.SIGINT)
        host.wait(30)
    return [f"conversation in {name}: {output}" for name, output in results.items() if output]
