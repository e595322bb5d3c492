"""The official SDKs of CloudEvents. They parse the events of a webhook whose format is `cloudevents`."""

import functools
import json
import shutil

import host
from judge import FULL, FULL_PYTHON_PROGRAMS, HERE, Finding, Judge, ask

EVENTS = ("chat_accepted", "chat_finished")
SAMPLES = ("test", "call_event", "chat_assigned", "chat_updated", "offline_message", "chat_rated")


@functools.cache
def requests():
    """Returns pairs of requests: an event as CloudEvents, and what it must contain."""
    account = host.Account()
    wrapped, plain = (
        account.add_webhook(f"/{format}", format=format, events=EVENTS) for format in ("cloudevents", "json")
    )
    chat = account.open_chat(account.add_channel())
    account.call("POST", f"/agent/chats/{chat}/accept")
    account.call("POST", f"/agent/chats/{chat}/close")
    for webhook in (wrapped, plain):
        for sample in SAMPLES:
            account.call("POST", f"/admin/settings/webhooks/{webhook['webhook_id']}/test", {"event": sample})
    events = len(EVENTS) + len(SAMPLES)
    host.wait_for(f"{2 * events} requests", lambda: len(account.receiver.requests) == 2 * events)
    return list(zip(sent_to(account, "/cloudevents"), sent_to(account, "/json"), strict=True))


def sent_to(account, path):
    found = [request for request in account.receiver.requests if request["path"] == path]
    return sorted(found, key=lambda request: event_of(json.loads(request["body"]))["event_name"])


def event_of(body):
    return body.get("data", body)


def findings(parsed, wrapped, plain):
    event, attributes = json.loads(plain["body"]), dict(parsed["attributes"])
    seconds = attributes.pop("time") - int(wrapped["headers"]["webhook-timestamp"])
    expected = {
        "specversion": "1.0",
        "id": wrapped["headers"]["webhook-id"],
        "type": f"switchboard.{event['event_name']}",
        "source": f"urn:switchboard:channel:{event['widget_id']}" if event["widget_id"] else "urn:switchboard:test",
        "datacontenttype": "application/json",
    } | ({"subject": str(event["chat_id"])} if event.get("chat_id") else {})
    checks = {"attributes": attributes == expected, "time": abs(seconds) < 60, "data": is_same(parsed["data"], event)}
    return [Finding(rule, event["event_name"], json.dumps(parsed)) for rule, holds in checks.items() if not holds]


def is_same(data, event):
    """Samples of the same event differ in their times, which are those of the tests."""
    return data | {"timestamp": None} == event | {"timestamp": None}


def command(language):
    if language == "Python":
        return [FULL_PYTHON_PROGRAMS / "python", HERE / "full" / "parse_cloud_events.py"]
    # The program finds the packages beside it.
    shutil.copy(HERE / "full" / "parse_cloud_events.mjs", FULL / "node")
    return ["node", FULL / "node" / "parse_cloud_events.mjs"]


def sdk(language, registry):
    def read():
        parsed, failures = ask("cloudevents", *command(language), question=[wrapped for wrapped, _ in requests()])
        if failures:
            return failures
        pairs = zip(parsed, requests(), strict=True)
        return [finding for event, (wrapped, plain) in pairs for finding in findings(event, wrapped, plain)]

    return Judge(f"cloudevents for {language}", f"{registry}:cloudevents", read, is_full=True)


JUDGES = [sdk("Python", "pypi"), sdk("Node", "npm")]
