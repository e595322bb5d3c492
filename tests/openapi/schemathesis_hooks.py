"""What schemathesis cannot know: credentials, things that exist, and that nobody else may be called."""

import collections
import itertools
import json
import os
import pathlib
import threading

import schemathesis
from hypothesis import strategies

STAGE = json.loads(pathlib.Path(os.environ["OPENAPI_STAGE"]).read_text())
NOWHERE, KEPT, KNOWN, SECRETS, TOKENS = (STAGE[name] for name in ["nowhere", "kept", "known", "secrets", "tokens"])
LOCK = threading.Lock()
# Counts the requests of each operation.
TURNS = collections.defaultdict(itertools.count)
# Operations that take away or change what they name.
CHANGES = {"changeAgent", "deleteAgent", "changeChannel", "deleteChannel", "rotateChannel", "changeBot"}
CHANGES |= {"disconnectBot", "changeProvider", "eraseVisitor"}
# Operations that would end the session of every other one.
OWN_TOKEN = {"agentLogout"}
# Operations that need several things which belong together.
STEADY = {"channelMessage", "botEvent"}

schemathesis.openapi.format("uri", strategies.integers(0, 999).map(lambda number: f"{NOWHERE}{number}"))


def harmless(value):
    """The value with every address in it turned to a port of this machine on which nobody listens."""
    if isinstance(value, dict):
        return {name: harmless(field) for name, field in value.items()}
    if isinstance(value, list):
        return [harmless(item) for item in value]
    if isinstance(value, str) and "://" in value and not value.startswith(NOWHERE):
        return NOWHERE
    if isinstance(value, bytes) and b"://" in value:
        return NOWHERE.encode()
    return value


def authorize(case, name, security, turn):
    """Mostly the right token, sometimes another's or none."""
    schemes = [name for scheme in security for name in scheme if name in TOKENS]
    if name in OWN_TOKEN:
        case.headers["Authorization"] = "Bearer ended"
    elif schemes and turn % 10 != 8:
        scheme = "agent" if turn % 10 == 9 else schemes[0]
        case.headers["Authorization"] = f"Bearer {TOKENS[scheme]}"


def address(case, name, turn):
    """Path parameters that exist, three times out of four."""
    given = case.path_parameters or {}
    for parameter in given if turn % 4 != 3 else ():
        known, kept = KNOWN.get(parameter, []), KEPT.get(parameter, [])
        if name in STEADY:
            known = kept
        if name in CHANGES:
            known = [one for one in known if one not in kept]
        if known:
            given[parameter] = known[turn // 4 % len(known)]
    if "secret" in given:
        given["secret"] = SECRETS.get(str(given["channel_id"]), given["secret"])


def spare(case, name):
    """Nobody whom the run itself needs: their numbers may be drawn by chance."""
    given = case.path_parameters or {}
    for parameter, kept in KEPT.items() if name in CHANGES else ():
        # The service reads 01 and +1 as 1.
        if str(given.get(parameter)).lstrip("+0") in map(str, kept):
            given[parameter] = 999_999


@schemathesis.hook
def before_call(context, case, kwargs):
    raw = case.operation.definition.raw
    name = raw["operationId"]
    with LOCK:
        turn = next(TURNS[name])
        address(case, name, turn)
    spare(case, name)
    case.body = harmless(case.body)
    if name == "botEvent" and isinstance(case.body, dict) and turn % 2:
        # An event about a chat that may exist.
        case.body |= {"chat_id": KNOWN["chat_id"][turn % 20], "client_id": None}
    authorize(case, name, raw.get("security", []), turn)


@schemathesis.hook
def after_call(context, case, response):
    """What was made can be read, changed and deleted."""
    if response.status_code != 201:
        return
    made = response.json()
    with LOCK:
        for name in ["channel_id", "agent_id", "department_id", "bot_id", "webhook_id", "provider_id", "seq"]:
            if name in made and made[name] not in KNOWN[name]:
                KNOWN[name] = (KNOWN[name] + [made[name]])[-50:]
        if "endpoint" in made and "channel_id" in made:
            SECRETS[made["channel_id"]] = made["endpoint"].split("/")[-2]
