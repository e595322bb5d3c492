"""Sends the local host what its OpenAPI document allows and what it does not: no 5xx and nothing undocumented.

    target/venv/bin/python tests/openapi/run.py [seconds]

Ends with a line in the words of the other suites, in which an operation is a test; not 0 when something was found.
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
ASSETS = ROOT / "functions" / "www" / "dist" / "console" / "assets"
FOLDER = ROOT / "target" / "openapi"
READY = FOLDER / "ready.json"
# Schemathesis's kinds of cases, each in a run of its own.
PHASES = ["coverage", "fuzzing"]
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
]
# The same choices in every run, so that what is found is found again.
SEED = "20261121"
# A port of this machine on which nobody listens: the only address that the service is ever told to call.
NOWHERE = "http://127.0.0.1:9/"


def call(base, method, path, bearer=None, body=None):
    """One request that has to succeed."""
    headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {bearer}"} if bearer else {})
    data = None if body is None else json.dumps(body).encode()
    address = path if path.startswith("http") else base + path
    request = urllib.request.Request(address, data, headers, method=method)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
        return json.load(answer)


def start_host():
    """The local host, once it serves, and what it says about itself."""
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


def prepare(ready):
    """An account with everything that an address can name: what the requests are made of."""
    base, operator = ready["base_url"], ready["operator_key"]
    person = {"name": "Grace", "email": "admin@openapi.example", "password": "correct horse"}
    account = {"name": "Tested", "admin": person}
    account_id = call(base, "POST", "/operator/accounts", operator, account)["account_id"]
    admin = call(base, "POST", "/agent/login", body=person)["token"]
    colleague = person | {"name": "Ann", "email": "agent@openapi.example"}
    agent_id = call(base, "POST", "/admin/agents", admin, colleague)["agent_id"]
    agent = call(base, "POST", "/agent/login", body=colleague)["token"]
    # The local host's own page: it answers as an integrator and as a provider should.
    answers = f"{base}/_local/integrator"
    members = {"name": "Sales", "agent_ids": [agent_id]}
    department_id = call(base, "POST", "/admin/departments", admin, members)["department_id"]
    channels = []
    for name in ["kept", "with a bot", "to be changed"]:
        settings = {"name": name, "integrator_url": answers}
        channels.append(call(base, "POST", "/admin/channels", admin, settings))
    provider = {"name": "Bots", "endpoint": answers}
    provider_id = call(base, "POST", "/operator/providers", operator, provider)["provider_id"]
    bot = {"provider_id": provider_id, "token": "known", "channel_ids": [channels[1]["channel_id"]]}
    bot_id = call(base, "POST", "/admin/bots", admin, bot)["bot_id"]
    webhook_id = call(base, "POST", "/admin/settings/webhooks", admin, {"url": NOWHERE})["webhook_id"]
    for number in range(12):
        message = {"sender": {"id": number}, "message": {"type": "text", "text": "Hello"}}
        call(base, "POST", channels[number % 2]["endpoint"], body=message)
    for chat in [1, 3]:
        call(base, "POST", f"/agent/chats/{chat}/accept", agent)
        call(base, "POST", f"/agent/chats/{chat}/messages", agent, {"type": "text", "text": "Hello"})
    secrets = {channel["channel_id"]: channel["endpoint"].split("/")[-2] for channel in channels}
    return {
        "tokens": {"admin": admin, "agent": agent, "operator": operator},
        "secrets": secrets,
        # What the run itself needs; it is not changed or deleted.
        "kept": {
            "agent_id": [1, agent_id],
            "channel_id": list(secrets)[:2],
            "bot_id": [bot_id],
            "provider_id": [provider_id],
            "token": ["known"],
            "number": list(range(1, 13)),
        },
        "known": {
            "account_id": [account_id],
            "channel_id": list(secrets),
            "agent_id": [1, agent_id],
            "department_id": [department_id],
            "bot_id": [bot_id],
            "provider_id": [provider_id],
            "token": ["known"],
            "webhook_id": [webhook_id],
            "chat_id": list(range(1, 41)),
            "number": list(range(1, 41)),
            "seq": [1, 2, 3],
            "file": sorted(path.name for path in ASSETS.iterdir() if path.suffix not in (".br", ".gz")),
        },
        "nowhere": NOWHERE,
    }


def report(phase):
    """Where a run of schemathesis writes what it did."""
    return FOLDER / f"{phase}.ndjson"


def attack(base, stage, seconds):
    """Runs schemathesis: all of its coverage, however slow the machine, then fuzzing for what is left of the time, a
    third of it at least. Returns whether both ended well."""
    stage_file = FOLDER / "stage.json"
    stage_file.write_text(json.dumps(stage))
    environment = os.environ | {
        "SCHEMATHESIS_HOOKS": "hooks",
        "OPENAPI_STAGE": str(stage_file),
        "PYTHONPATH": str(pathlib.Path(__file__).parent),
        "NO_PROXY": "*",
    }
    command = [str(pathlib.Path(sys.executable).parent / "schemathesis"), "run", str(DOCUMENT), "--url", base]
    command += ["--checks", ",".join(CHECKS), "--mode", "all", "--seed", SEED]
    # One worker: CPython 3.11's compiler, which hypothesis asks for lambdas' sources, is not safe with two.
    command += ["--workers", "1", "--request-timeout", "20", "--continue-on-failure"]
    command += ["--generation-database", "none", "--no-color", "--suppress-health-check", "all", "--warnings", "off"]

    def ends_well(phase, *limit):
        run = [*command, "--phases", phase, "--report-ndjson-path", str(report(phase)), *limit]
        return subprocess.run(run, cwd=FOLDER, env=environment, check=False).returncode == 0

    coverage, fuzzing = PHASES
    began = time.monotonic()
    covered = ends_well(coverage)
    left = max(seconds - (time.monotonic() - began), seconds / 3, 1)
    return ends_well(fuzzing, "--max-time", str(round(left))) and covered


def answers():
    """The statuses and the failed checks of every operation, from the reports."""
    found = {}
    for line in (line for phase in PHASES for line in report(phase).read_text().splitlines()):
        scenario = json.loads(line).get("ScenarioFinished")
        if scenario and (recorder := scenario["recorder"]).get("cases"):
            statuses, failures = found.setdefault(recorder["label"], ([], []))
            answered = [one["response"] for one in recorder.get("interactions", {}).values() if one.get("response")]
            statuses += [response["status_code"] for response in answered]
            checks = [check for checks in recorder.get("checks", {}).values() for check in checks]
            failures += [check["name"] for check in checks if check["status"] != "success"]
            failures += [scenario["status"]] if scenario["status"] not in ("success", "skip") else []
    return found


def verdict(found, ended_well, seconds):
    """Says what came of it, and whether it is good. An operation that let nobody in was not tested."""
    paths = json.loads(DOCUMENT.read_text())["paths"]
    methods = ["get", "put", "post", "patch", "delete"]
    operations = {f"{method.upper()} {path}" for path, item in paths.items() for method in methods if method in item}
    closed = {name for name in operations if {*found.get(name, ([], []))[0]} <= {401, 403, 404}}
    failed = closed | {name for name, (_, failures) in found.items() if failures}
    for name in sorted(closed):
        print(f"let nobody in: {name}")
    statuses = collections.Counter(status for statuses, _ in found.values() for status in statuses)
    print(f"\n{statuses.total()} cases in {seconds} s, seed {SEED}, answers:", dict(sorted(statuses.items())))
    # Something that belongs to no operation went wrong.
    broken = len(failed) or int(not ended_well)
    result = "FAILED" if broken else "ok"
    print(f"test result: {result}. {len(operations - failed)} passed; {broken} failed; 0 ignored; operations of the API")
    return not broken


def check_addresses(base, admin):
    """The service was told to call nobody but this machine."""
    told = [channel["integrator_url"] for channel in call(base, "GET", "/admin/channels", admin)["channels"]]
    told += [webhook["url"] for webhook in call(base, "GET", "/admin/settings", admin)["webhooks"]]
    strangers = [address for address in told if not address.startswith((NOWHERE, base))]
    if strangers:
        raise RuntimeError(f"addresses of strangers were registered: {strangers}")


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    FOLDER.mkdir(parents=True, exist_ok=True)
    for phase in PHASES:
        report(phase).unlink(missing_ok=True)
    host, ready = start_host()
    try:
        stage = prepare(ready)
        began = time.monotonic()
        ended_well = attack(ready["base_url"], stage, seconds)
        check_addresses(ready["base_url"], stage["tokens"]["admin"])
    finally:
        host.send_signal(signal.SIGINT)
        host.wait(30)
    return verdict(answers(), ended_well, round(time.monotonic() - began))


if __name__ == "__main__":
    try:
        is_good = main()
    except Exception:
        traceback.print_exc()
        print("test result: FAILED. 0 passed; 1 failed; 0 ignored; the run itself")
        is_good = False
    sys.exit(not is_good)
