#!/usr/bin/env python3
"""Checks the locked packages of Rust, npm and Python against the databases of security advisories.

    tests/advisories.py

Exits with 1 if an advisory applies. Some networks cannot reach a database: it prints `NOT CHECKED: <ecosystem>` for
each of them, which tests/run repeats in its last line, so that nobody mistakes a skipped check for a passed one.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT / "target/venv/bin"
NODE_PROJECTS = ["functions/www", "tests/pages", "docs/examples/node"]
PYTHON_LOCKS = [
    "tests/requirements.txt", "tests/node.txt", "tests/deploy/requirements.txt", "tests/deploy/ministack.txt",
    "docs/examples/python/requirements.txt",
]
TIMEOUT_SECONDS = 120


def run(command, folder=ROOT):
    """Returns the exit status and the output of a program, or None if it cannot be run or takes too long."""
    try:
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.returncode, result.stdout, result.stderr


def report(output):
    """Returns the JSON document in the output of a program, or an empty one if it printed something else."""
    try:
        return json.loads(output)
    except ValueError:
        return {}


def rust():
    """The RustSec database is a git repository, which `cargo-deny fetch db` downloads."""
    databases = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")) / "advisory-dbs"
    if not any(databases.glob("*/crates")):
        return None
    result = run([TOOLS / "cargo-deny", "--log-level", "error", "check", "--disable-fetch", "advisories"])
    if result is None:
        return None
    status, output, errors = result
    return [output + errors] if status != 0 else []


def npm():
    found = []
    for project in NODE_PROJECTS:
        result = run(["npm", "audit", "--json", "--package-lock-only"], ROOT / project)
        document = report(result[1]) if result else {}
        if "auditReportVersion" not in document:
            return None
        found += [f"{project}: {name} ({details['severity']})" for name, details in document["vulnerabilities"].items()]
    return found


def python():
    found = []
    for lock in PYTHON_LOCKS:
        result = run([TOOLS / "pip-audit", "--disable-pip", "--require-hashes", "--format", "json", "-r", lock])
        packages = report(result[1]).get("dependencies", []) if result else []
        if not packages or any("skip_reason" in package for package in packages):
            return None
        found += [f"{lock}: {package['name']} {vulnerability['id']}" for package in packages for vulnerability in package["vulns"]]
    return found


status = 0
for ecosystem, check in [("Rust", rust), ("npm", npm), ("Python", python)]:
    advisories = check()
    if advisories is None:
        print(f"NOT CHECKED: {ecosystem}")
    elif advisories:
        print(f"{ecosystem}:", *advisories, sep="\n  ")
        status = 1
    else:
        print(f"{ecosystem}: no advisories")
sys.exit(status)
