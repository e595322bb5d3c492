"""The programs that read the documents and the workflows."""

import dataclasses
import json
import pathlib
import re
import shutil

from judge import HERE, NODE_PROGRAMS, PYTHON_PROGRAMS, ROOT, TARGET, Finding, Judge, failure, failures, run

OPENAPI = ROOT / "docs" / "openapi.json"
ASYNCAPI = ROOT / "docs" / "asyncapi.json"
CLIENTS = TARGET / "clients"
# Precedes a place that only describes what the service sends.
OUTGOING = "outgoing: "


def redocly():
    config = ROOT / "redocly.yaml"
    status, output, errors = run(NODE_PROGRAMS / "redocly", "lint", OPENAPI, "--config", config, "--format", "json")
    try:
        problems = json.loads(output)["problems"]
    except ValueError:
        return [failure("redocly", status, output, errors)]
    found = [Finding(each["ruleId"], each["location"][0].get("pointer", ""), each["message"]) for each in problems]
    # The status is 1 if there are errors, and 0 if there are only warnings.
    return found + failures("redocly", status, output, errors, expected=1 if found and status == 1 else 0)


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
    found = [dataclasses.replace(each, place=direction(each.place, incoming) + each.place) for each in findings]
    # The status is 1 if there are errors.
    return found + failures("spectral", status, output, errors, expected=1 if found else 0)


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
    script = TARGET / "node" / "parse_asyncapi.mjs"
    shutil.copy(HERE / "parse_asyncapi.mjs", script)
    status, output, errors = run("node", script, ASYNCAPI)
    try:
        return diagnostics(json.loads(output)) + failures("@asyncapi/parser", status, output, errors)
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
    return findings + failures("openapi-python-client", status, output, errors)


def hey_api():
    folder = CLIENTS / "typescript"
    status, output, errors = run(NODE_PROGRAMS / "openapi-ts", "--input", OPENAPI, "--output", folder, "--no-log-file")
    expected = ("@hey-api/openapi-ts v", "Generating from", "[1] ", "✅ Done!")
    lines = [re.sub(r"^\[Job 1\] (⏳ )?\s*", "", line).strip() for line in (output + errors).splitlines()]
    findings = [Finding("output", line) for line in lines if line and not line.startswith(expected)]
    return findings + failures("@hey-api/openapi-ts", status, output, errors)


def openapi_generator(generator):
    def read():
        folder = CLIENTS / generator
        shutil.rmtree(folder, ignore_errors=True)
        program = PYTHON_PROGRAMS / "openapi-generator-cli"
        status, output, errors = run(program, "generate", "-i", OPENAPI, "-g", generator, "-o", folder)
        found = re.findall(r"^\[main\] (?:WARN|ERROR) +(\S+) - (.*)", output + errors, re.MULTILINE)
        # The generator repeats a warning for each use of a schema.
        findings = [Finding(logger.rpartition(".")[2], message) for logger, message in dict.fromkeys(found)]
        return findings + failures("openapi-generator-cli", status, output, errors)

    return Judge(f"openapi-generator-cli {generator}", "pypi:openapi-generator-cli", read, is_full=True)


def zizmor():
    workflows = ROOT / ".github" / "workflows"
    status, output, errors = run(PYTHON_PROGRAMS / "zizmor", "--offline", "--no-exit-codes", "--strict-collection", "--format", "json", workflows)
    try:
        findings = json.loads(output)
    except ValueError:
        return [failure("zizmor", status, output, errors)]
    found = [Finding(each["ident"], workflow_of(each), each["desc"]) for each in findings]
    return found + failures("zizmor", status, output, errors)


def workflow_of(finding):
    """Returns the name of the file that a finding of zizmor is about."""
    key = finding["locations"][0]["symbolic"]["key"]
    return pathlib.Path(next(iter(key.values()))["verbatim_path"]).name


JUDGES = [
    Judge("@redocly/cli, recommended-strict", "npm:@redocly/cli", redocly),
    Judge("@stoplight/spectral-cli with the OWASP ruleset", "npm:@stoplight/spectral-owasp-ruleset", spectral),
    Judge("@asyncapi/parser", "npm:@asyncapi/parser", asyncapi),
    Judge("openapi-python-client", "pypi:openapi-python-client", python_client),
    Judge("@hey-api/openapi-ts", "npm:@hey-api/openapi-ts", hey_api),
    Judge("zizmor", "pypi:zizmor", zizmor),
    *(openapi_generator(generator) for generator in ("kotlin", "typescript-fetch", "go", "php")),
]
