"""Linters of CloudFormation, on the templates after the SAM transform."""

import functools
import json
import pathlib
import subprocess

from judge import FULL_PYTHON_PROGRAMS, HERE, ROOT, TARGET, Finding, Judge, failure, run

FOLDER = TARGET / "templates"


@functools.cache
def templates():
    """Transforms the template without and with a staged rollout. Returns the files."""
    FOLDER.mkdir(exist_ok=True)
    staged = FOLDER / "staged.yaml"
    rollout = subprocess.run([ROOT / "infra" / "rollout", "Canary10Percent5Minutes"], capture_output=True, check=True)
    staged.write_bytes(rollout.stdout)
    transform = [FULL_PYTHON_PROGRAMS / "python", HERE / "full" / "transform.py", FOLDER]
    subprocess.run([*transform, ROOT / "template.yaml", staged], check=True)
    return [FOLDER / "template.json", FOLDER / "staged.json"]


def cfn_lint():
    program = FULL_PYTHON_PROGRAMS / "cfn-lint"
    rules = ["--append-rules", "cfn_lint_serverless.rules"]
    status, output, errors = run(program, *rules, "--format", "json", "--", *templates())
    try:
        found = json.loads(output)
    except ValueError:
        found = []
    # Findings have a status of their own.
    if status != 0 and not found:
        return [failure("cfn-lint", status, output, errors)]
    return [
        Finding(each["Rule"]["Id"], f"{pathlib.Path(each['Filename']).stem} {path_of(each)}", each["Message"])
        for each in found
    ]


def path_of(finding):
    path = finding["Location"]["Path"] or []
    return "/".join(map(str, path[1:] if path[:1] == ["Resources"] else path))


def checkov():
    files = [option for template in templates() for option in ("--file", template)]
    options = ["--framework", "cloudformation", "--output", "json", "--compact", "--quiet", "--skip-download"]
    status, output, errors = run(FULL_PYTHON_PROGRAMS / "checkov", *files, *options)
    try:
        report = json.loads(output)
        failed, unread = report["results"]["failed_checks"], report["summary"]["parsing_errors"]
    except (ValueError, KeyError):
        failed, unread = [], 0
    # Failed checks have the status 1.
    if status != 0 and not failed and not unread:
        return [failure("checkov", status, output, errors)]
    found = [
        Finding(each["check_id"], f"{pathlib.Path(each['file_path']).stem} {each['resource']}", each["check_name"])
        for each in failed
    ]
    return found + ([Finding("unread", "templates", f"{unread} files")] if unread else [])


JUDGES = [
    Judge("cfn-lint with cfn-lint-serverless", "pypi:cfn-lint-serverless", cfn_lint, is_full=True),
    Judge("checkov", "pypi:checkov", checkov, is_full=True),
]
