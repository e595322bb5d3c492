"""The programs that read the documents and the workflows. Each judge returns its findings."""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
from collections.abc import Callable

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = ROOT / "target" / "judges"
PYTHON_PROGRAMS = TARGET / "venv" / "bin"
NODE_PROGRAMS = TARGET / "node" / "node_modules" / ".bin"
OPENAPI = ROOT / "docs" / "openapi.json"
ASYNCAPI = ROOT / "docs" / "asyncapi.json"
CLIENTS = TARGET / "clients"
OUTGOING = "outgoing: "


@dataclasses.dataclass(frozen=True)
class Finding:
    rule: str
    # The part of the document that the finding is about, or the first line of a generator's warning. OUTGOING precedes
    # a part that only describes what the service sends.
    place: str
    message: str = ""


@dataclasses.dataclass(frozen=True)
class Judge:
    name: str
    package: str
    read: Callable[[], list[Finding]]
    needs_java: bool = False

    def findings(self):
        return self.read()

    def version(self):
        """Returns the pinned version of the judge's package."""
        pinned = dict(line.split("==") for line in (HERE / "requirements.in").read_text().splitlines())
        return (pinned | json.loads((HERE / "package.json").read_text())["dependencies"])[self.package]


def run(*command):
    """Runs a program. Returns its exit status and its two outputs without colours."""
    environment = os.environ | {
        "PATH": f"{PYTHON_PROGRAMS}:{os.environ['PATH']}",
        "REDOCLY_TELEMETRY": "off",
        "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
    }
    done = subprocess.run(command, cwd=TARGET / "node", env=environment, capture_output=True, text=True, check=False)
    return done.returncode, *(re.sub(r"\x1b\[[0-9;]*m", "", output) for output in (done.stdout, done.stderr))


def failure(program, status, *outputs):
    """Returns the finding that a program failed without saying why in a form that we know."""
    return Finding("exit-status", program, f"status {status}: " + "\n".join(outputs).strip()[-2000:])


def redocly():
    config = ROOT / "redocly.yaml"
    status, output, errors = run(NODE_PROGRAMS / "redocly", "lint", OPENAPI, "--config", config, "--format", "json")
    try:
        problems = json.loads(output)["problems"]
    except ValueError:
        return [failure("redocly", status, output, errors)]
    return [Finding(each["ruleId"], each["location"][0].get("pointer", ""), each["message"]) for each in problems]


def spectral():
    # The program finds the rules' package beside the ruleset.
    ruleset = TARGET / "node" / "spectral.yaml"
    shutil.copy(HERE / "spectral.yaml", ruleset)
    status, output, errors = run(NODE_PROGRAMS / "spectral", "lint", OPENAPI, "--ruleset", ruleset, "--format", "json")
    try:
        findings = diagnostics(json.loads(output))
    except ValueError:
        return [failure("spectral", status, output, errors)]
    incoming = incoming_schemas(json.loads(OPENAPI.read_text()))
    return [dataclasses.replace(each, place=direction(each.place, incoming) + each.place) for each in findings]


def incoming_schemas(document):
    """Returns the names of the schemas that occur in what the service receives: requests to it and their parameters,
    and the responses of customers' servers."""
    own, foreign = document["paths"], document["webhooks"]
    items = [item for path in own.values() for item in path.values()]
    open_parts = [[item.get("requestBody"), item.get("parameters")] if isinstance(item, dict) else item for item in items]
    open_parts += [item["post"]["responses"] for item in foreign.values()]
    open_parts += [document["components"].get("requestBodies"), document["components"].get("parameters")]
    found = set()
    while open_parts:
        part = open_parts.pop()
        if isinstance(part, list):
            open_parts += part
        elif isinstance(part, dict):
            open_parts += part.values()
            name = str(part.get("$ref", "")).removeprefix("#/components/schemas/")
            if name in document["components"]["schemas"] and name not in found:
                found.add(name)
                open_parts.append(document["components"]["schemas"][name])
    return found


def direction(place, incoming):
    if place.startswith("#/components/schemas/"):
        is_outgoing = place.split("/")[3] not in incoming
    else:
        is_outgoing = re.match(r"#/paths/.*/responses/|#/webhooks/.*/requestBody/|#/components/(responses|headers)", place)
    return OUTGOING if is_outgoing else ""


def asyncapi():
    if not ASYNCAPI.exists():
        return []
    script = TARGET / "node" / "parse_asyncapi.mjs"
    shutil.copy(HERE / "parse_asyncapi.mjs", script)
    status, output, errors = run("node", script, ASYNCAPI)
    try:
        return diagnostics(json.loads(output))
    except ValueError:
        return [failure("@asyncapi/parser", status, output, errors)]


def diagnostics(reported):
    """Returns the errors among the diagnostics of Spectral, in whose format the AsyncAPI parser reports too."""
    errors = [each for each in reported if each["severity"] == 0]
    places = ["#/" + "/".join(str(part).replace("/", "~1") for part in each["path"]) for each in errors]
    return [Finding(each["code"], place, each["message"]) for each, place in zip(errors, places)]


def python_client():
    folder = CLIENTS / "python"
    program = PYTHON_PROGRAMS / "openapi-python-client"
    status, output, errors = run(program, "generate", "--path", OPENAPI, "--output-path", folder, "--overwrite")
    # The name of a class in a message is followed by its address in memory.
    lines = [re.sub(r" object at 0x[0-9a-f]+", "", line) for line in (output + errors).splitlines()]
    starts = ("WARNING", "ERROR", "Unable to", "Skipping", "components.", "paths.")
    findings = [Finding("warning", line.rstrip(":")) for line in lines if line.startswith(starts)]
    return findings if findings or status == 0 else [failure("openapi-python-client", status, output, errors)]


def hey_api():
    folder = CLIENTS / "typescript"
    status, output, errors = run(NODE_PROGRAMS / "openapi-ts", "--input", OPENAPI, "--output", folder, "--no-log-file")
    expected = ("@hey-api/openapi-ts v", "Generating from", "[1] ", "✅ Done!")
    lines = [re.sub(r"^\[Job 1\] (⏳ )?\s*", "", line).strip() for line in (output + errors).splitlines()]
    findings = [Finding("output", line) for line in lines if line and not line.startswith(expected)]
    return findings if findings or status == 0 else [failure("@hey-api/openapi-ts", status, output, errors)]


def openapi_generator(generator):
    def read():
        folder = CLIENTS / generator
        shutil.rmtree(folder, ignore_errors=True)
        program = PYTHON_PROGRAMS / "openapi-generator-cli"
        status, output, errors = run(program, "generate", "-i", OPENAPI, "-g", generator, "-o", folder)
        found = re.findall(r"^\[main\] (?:WARN|ERROR) +(\S+) - (.*)", output + errors, re.MULTILINE)
        # The generator repeats a warning for each use of a schema.
        findings = [Finding(logger.rpartition(".")[2], message) for logger, message in dict.fromkeys(found)]
        return findings if findings or status == 0 else [failure("openapi-generator-cli", status, output, errors)]

    return Judge(f"openapi-generator-cli {generator}", "openapi-generator-cli", read, needs_java=True)


def zizmor():
    workflows = ROOT / ".github" / "workflows"
    status, output, errors = run(PYTHON_PROGRAMS / "zizmor", "--offline", "--no-exit-codes", "--strict-collection", "--format", "json", workflows)
    try:
        findings = json.loads(output)
    except ValueError:
        return [failure("zizmor", status, output, errors)]
    return [Finding(each["ident"], workflow_of(each), each["desc"]) for each in findings]


def workflow_of(finding):
    """Returns the name of the file that a finding of zizmor is about."""
    key = finding["locations"][0]["symbolic"]["key"]
    return pathlib.Path(next(iter(key.values()))["verbatim_path"]).name


JUDGES = [
    Judge("@redocly/cli, recommended-strict", "@redocly/cli", redocly),
    Judge("@stoplight/spectral-cli with the OWASP ruleset", "@stoplight/spectral-owasp-ruleset", spectral),
    Judge("@asyncapi/parser", "@asyncapi/parser", asyncapi),
    Judge("openapi-python-client", "openapi-python-client", python_client),
    Judge("@hey-api/openapi-ts", "@hey-api/openapi-ts", hey_api),
    Judge("zizmor", "zizmor", zizmor),
    *(openapi_generator(generator) for generator in ("kotlin", "typescript-fetch", "go", "php")),
]
