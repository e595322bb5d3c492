"""Runs schemathesis against the local host with valid and invalid requests.

Every response must be documented, and its status must not be 5xx.

    target/venv/bin/python tests/openapi/run_schemathesis.py [seconds]

Prints a result line in the format of the other suites. Each operation counts as one test. Exits with 1 if a test fails.
"""

import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import traceback
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "openapi.json"
ASSETS = [ROOT / "functions" / "www" / "dist" / page / "assets" for page in ("console", "widget")]
FOLDER = ROOT / "target" / "openapi"
READY = FOLDER / "ready.json"
# The phases of schemathesis. Each phase is a separate run.
PHASES = ["coverage", "fuzzing"]
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
]
# A fixed seed makes failures reproducible.
SEED = "20261121"
# A URL with a closed port of this machine. Requests register no other URL as a receiver.
CLOSED_PORT_URL = "http://127.0.0.1:9/"


def call(base, method, path, bearer=None, body=None):
    """Sends a request that must succeed. Returns the JSON body of the response."""
    headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {bearer}"} if bearer else {})
    data = None if body is None else json.dumps(body).encode()
    url = path if path.startswith("http") else base + path
    request = urllib.request.Request(url, data, headers, method=method)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as response:
        return json.load(response)


def start_host():
    """Starts the local host. Returns its process and the content of the ready file, which the host writes when it can
    serve requests."""
    READY.unlink(missing_ok=True)
    command = ["cargo", "run", "--quiet", "--", "--memory", "--port", "0", "--ready-file", str(READY)]
    with open(FOLDER / "host.log", "wb") as log:
        host = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
    deadline = time.monotonic() + 600
    while not READY.exists():
        if host.poll() is not None or time.monotonic() > deadline:
            host.kill()
            raise RuntimeError(f"the local host does not start, see {FOLDER}/host.log")
        time.sleep(0.1)
    return host, json.loads(READY.read_text())


def create_test_data(ready):
    """Creates an account with every kind of resource. Returns the tokens and ids that the requests use."""
    base, operator = ready["base_url"], ready["operator_key"]
    person = {"name": "Grace", "email": "admin@openapi.example", "password": "tulips in the spring rain"}
    account = {"name": "Tested", "admin": person}
    account_id = call(base, "POST", "/operator/accounts", operator, account)["account_id"]
    admin = call(base, "POST", "/agent/login", body=person)["token"]
    colleague = person | {"name": "Ann", "email": "agent@openapi.example"}
    agent_id = call(base, "POST", "/admin/agents", admin, colleague)["agent_id"]
    agent = call(base, "POST", "/agent/login", body=colleague)["token"]
    call(base, "POST", "/agent/login", body=colleague)
    # The run changes and deletes these agents. It rarely creates agents of its own, because most generated passwords are
    # refused as too easy to guess.
    spare = [person | {"name": "Spare", "email": f"spare-{number}@openapi.example"} for number in range(5)]
    spare_ids = [call(base, "POST", "/admin/agents", admin, agent)["agent_id"] for agent in spare]
    sessions = call(base, "GET", "/agent/sessions", agent)["sessions"]
    # A receiver that is part of the local host. It responds like an integrator and like a provider.
    receiver_url = f"{base}/_local/integrator"
    members = {"name": "Sales", "agent_ids": [agent_id]}
    department_id = call(base, "POST", "/admin/departments", admin, members)["department_id"]
    channels = []
    for name in ["protected", "with a bot", "to be changed"]:
        settings = {"name": name, "integrator_url": receiver_url}
        channels.append(call(base, "POST", "/admin/channels", admin, settings))
    widget_id = call(base, "POST", "/admin/channels", admin, {"kind": "widget", "name": "Widget"})["widget_id"]
    session = call(base, "POST", f"/widget/{widget_id}/session", body={"identify": True})
    provider = {"name": "Bots", "endpoint": receiver_url}
    provider_id = call(base, "POST", "/operator/providers", operator, provider)["provider_id"]
    bot = {"provider_id": provider_id, "token": "known-to-the-bot-provider", "channel_ids": [channels[1]["channel_id"]]}
    bot_id = call(base, "POST", "/admin/bots", admin, bot)["bot_id"]
    reply = {"shortcut": "hello", "text": "Hello {visitor}"}
    reply_id = call(base, "POST", "/agent/canned-replies", admin, reply)["id"]
    webhook_id = call(base, "POST", "/admin/settings/webhooks", admin, {"url": CLOSED_PORT_URL})["webhook_id"]
    for number in range(12):
        message = {"sender": {"id": number}, "message": {"type": "text", "text": "Hello"}}
        call(base, "POST", channels[number % 2]["endpoint"], body=message)
    for chat in [1, 3]:
        call(base, "POST", f"/agent/chats/{chat}/accept", agent)
        call(base, "POST", f"/agent/chats/{chat}/messages", agent, {"type": "text", "text": "Hello"})
    later = {"text": "Later", "send_at": int(time.time()) + 86_400}
    planned = [f"planned-{number}" for number in range(5)]
    for planned_id in planned:
        call(base, "PUT", f"/agent/chats/1/planned/{planned_id}", agent, later)
    secrets = {channel["channel_id"]: channel["endpoint"].split("/")[-2] for channel in channels}
    return {
        "tokens": {"admin": admin, "agent": agent, "operator": operator},
        "secrets": secrets,
        "visitor_token": session["visitor"]["token"],
        "protected_emails": [person["email"], colleague["email"]],
        # The run itself needs these resources, so requests do not change or delete them.
        "protected_ids": {
            "account_id": [account_id],
            "session_id": [session["id"] for session in sessions if session["current"]],
            "agent_id": [1, agent_id],
            "channel_id": [*list(secrets)[:2], widget_id],
            "bot_id": [bot_id],
            "provider_id": [provider_id],
            "token": ["known-to-the-bot-provider"],
            "number": list(range(1, 13)),
        },
        "known_ids": {
            "account_id": [account_id],
            "session_id": [session["id"] for session in sessions],
            "channel_id": [*secrets, widget_id],
            "agent_id": [1, agent_id, *spare_ids],
            "department_id": [department_id],
            "bot_id": [bot_id],
            "provider_id": [provider_id],
            "token": ["known-to-the-bot-provider"],
            "webhook_id": [webhook_id],
            "widget_id": [widget_id],
            "id": [reply_id],
            "chat_id": list(range(1, 41)),
            "external_id": [str(number) for number in range(12)],
            "number": list(range(1, 41)),
            "seq": [1, 2, 3],
            "planned_id": planned,
            "file": sorted(
                path.name for folder in ASSETS for path in folder.iterdir() if path.suffix not in (".br", ".gz")
            ),
        },
        "closed_port_url": CLOSED_PORT_URL,
    }


def report_path(phase):
    """Returns the path of the report that schemathesis writes for a phase."""
    return FOLDER / f"{phase}.ndjson"


def run_phases(base, test_data, seconds):
    """Runs the coverage phase completely. Then runs the fuzzing phase for the rest of `seconds`, but for at least a
    third of `seconds`. Returns whether both phases succeeded."""
    test_data_file = FOLDER / "test_data.json"
    test_data_file.write_text(json.dumps(test_data))
    environment = os.environ | {
        "SCHEMATHESIS_HOOKS": "schemathesis_hooks",
        "OPENAPI_TEST_DATA": str(test_data_file),
        "PYTHONPATH": str(pathlib.Path(__file__).parent),
        "NO_PROXY": "*",
    }
    command = [str(pathlib.Path(sys.executable).parent / "schemathesis"), "run", str(DOCUMENT), "--url", base]
    command += ["--checks", ",".join(CHECKS), "--mode", "all", "--seed", SEED]
    # Use one worker. hypothesis calls the compiler of CPython 3.11 for lambdas, and this compiler is not thread-safe.
    command += ["--workers", "1", "--request-timeout", "20", "--continue-on-failure"]
    command += ["--generation-database", "none", "--no-color", "--suppress-health-check", "all", "--warnings", "off"]

    def succeeds(phase, *limit):
        run = [*command, "--phases", phase, "--report-ndjson-path", str(report_path(phase)), *limit]
        return subprocess.run(run, cwd=FOLDER, env=environment, check=False).returncode == 0

    coverage, fuzzing = PHASES
    started_at = time.monotonic()
    coverage_succeeded = succeeds(coverage)
    remaining = max(seconds - (time.monotonic() - started_at), seconds / 3, 1)
    return succeeds(fuzzing, "--max-time", str(round(remaining))) and coverage_succeeded


def read_results():
    """Reads the reports. Returns the response statuses and the failed checks of every operation."""
    results = {}
    for line in (line for phase in PHASES for line in report_path(phase).read_text().splitlines()):
        scenario = json.loads(line).get("ScenarioFinished")
        if scenario and (recorder := scenario["recorder"]).get("cases"):
            statuses, failures = results.setdefault(recorder["label"], ([], []))
            interactions = recorder.get("interactions", {}).values()
            responses = [interaction["response"] for interaction in interactions if interaction.get("response")]
            statuses += [response["status_code"] for response in responses]
            checks = [check for checks in recorder.get("checks", {}).values() for check in checks]
            failures += [check["name"] for check in checks if check["status"] != "success"]
            failures += [scenario["status"]] if scenario["status"] not in ("success", "skip") else []
    return results


def print_verdict(results, phases_succeeded, seconds):
    """Prints the results. Returns whether all operations passed. An operation that responded to every request with 401,
    403 or 404 was not tested and counts as failed."""
    paths = json.loads(DOCUMENT.read_text())["paths"]
    methods = ["get", "put", "post", "patch", "delete"]
    operations = {f"{method.upper()} {path}" for path, item in paths.items() for method in methods if method in item}
    refused = {name for name in operations if {*results.get(name, ([], []))[0]} <= {401, 403, 404}}
    failed = refused | {name for name, (_, failures) in results.items() if failures}
    for name in sorted(refused):
        print(f"refused every request: {name}")
    statuses = collections.Counter(status for statuses, _ in results.values() for status in statuses)
    print(f"\n{statuses.total()} cases in {seconds} s, seed {SEED}, statuses:", dict(sorted(statuses.items())))
    # A run can fail even if no operation failed.
    failures = len(failed) or int(not phases_succeeded)
    result = "FAILED" if failures else "ok"
    print(f"test result: {result}. {len(operations - failed)} passed; {failures} failed; 0 ignored; operations of the API")
    return not failures


def check_registered_urls(base, admin):
    """Fails if a request registered a receiver on another machine."""
    channels = call(base, "GET", "/admin/channels", admin)["channels"]
    urls = [channel["integrator_url"] for channel in channels if channel["kind"] == "api"]
    urls += [webhook["url"] for webhook in call(base, "GET", "/admin/settings", admin)["webhooks"]]
    foreign = [url for url in urls if not url.startswith((CLOSED_PORT_URL, base))]
    if foreign:
        raise RuntimeError(f"URLs of other machines were registered: {foreign}")


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    FOLDER.mkdir(parents=True, exist_ok=True)
    for phase in PHASES:
        report_path(phase).unlink(missing_ok=True)
    host, ready = start_host()
    try:
        test_data = create_test_data(ready)
        started_at = time.monotonic()
        phases_succeeded = run_phases(ready["base_url"], test_data, seconds)
        check_registered_urls(ready["base_url"], test_data["tokens"]["admin"])
    finally:
        host.send_signal(signal.SIGINT)
        host.wait(30)
    return print_verdict(read_results(), phases_succeeded, round(time.monotonic() - started_at))


if __name__ == "__main__":
    try:
        passed = main()
    except Exception:
        traceback.print_exc()
        print("test result: FAILED. 0 passed; 1 failed; 0 ignored; the run itself")
        passed = False
    sys.exit(not passed)
