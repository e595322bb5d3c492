"""Schemathesis hooks. They set credentials and existing ids in the requests, and replace all URLs with the URL of a
closed local port.
"""

import collections
import itertools
import json
import os
import pathlib
import threading

import schemathesis
from hypothesis import strategies

TEST_DATA = json.loads(pathlib.Path(os.environ["OPENAPI_TEST_DATA"]).read_text())
CLOSED_PORT_URL, PROTECTED_IDS, KNOWN_IDS, SECRETS, TOKENS = (
    TEST_DATA[name] for name in ["closed_port_url", "protected_ids", "known_ids", "secrets", "tokens"]
)
LOCK = threading.Lock()
VISITOR_TOKEN, PROTECTED_EMAILS = TEST_DATA["visitor_token"], TEST_DATA["protected_emails"]
# The number of requests to each operation.
REQUEST_COUNTERS = collections.defaultdict(itertools.count)
# Operations that change or delete the resource in their path.
MODIFYING = {"changeAgent", "deleteAgent", "changeChannel", "deleteChannel", "rotateChannel", "changeBot"}
MODIFYING |= {"disconnectBot", "changeProvider", "deleteProvider", "eraseVisitor"}
MODIFYING |= {"suspendAccount", "deleteAccount", "endSession"}
# Operations that get only an invalid token, because they would end the session that all other requests use.
INVALID_TOKEN_ONLY = {"agentLogout"}
# Operations whose path parameters belong together, so that the parameters cannot be chosen independently.
FIXED_IDS = {"channelMessage", "botEvent"}

schemathesis.openapi.format("uri", strategies.integers(0, 999).map(lambda number: f"{CLOSED_PORT_URL}{number}"))


def without_foreign_urls(value):
    """Replaces every URL in a value with the URL of a closed port of this machine."""
    if isinstance(value, dict):
        return {name: without_foreign_urls(field) for name, field in value.items()}
    if isinstance(value, list):
        return [without_foreign_urls(item) for item in value]
    if isinstance(value, str) and "://" in value and not value.startswith(CLOSED_PORT_URL):
        return CLOSED_PORT_URL
    if isinstance(value, bytes) and b"://" in value:
        return CLOSED_PORT_URL.encode()
    return value


def authorize(case, name, security, count):
    """Of ten requests, eight get the right token, one gets an agent's token, and one gets no token."""
    schemes = [name for scheme in security for name in scheme if name in TOKENS]
    if name in INVALID_TOKEN_ONLY:
        case.headers["Authorization"] = "Bearer ended"
    elif schemes and count % 10 != 8:
        scheme = "agent" if count % 10 == 9 else schemes[0]
        case.headers["Authorization"] = f"Bearer {TOKENS[scheme]}"


def use_existing_ids(case, name, count):
    """Replaces the path parameters with existing ids in three of four requests."""
    parameters = case.path_parameters or {}
    for parameter in parameters if count % 4 != 3 else ():
        known, protected = KNOWN_IDS.get(parameter, []), PROTECTED_IDS.get(parameter, [])
        if name in FIXED_IDS:
            # Leave out the widget: the path of channelMessage contains a secret, and a widget has none.
            known = [id for id in protected if parameter != "channel_id" or id in SECRETS]
        if name in MODIFYING:
            known = [id for id in known if id not in protected]
        if known:
            parameters[parameter] = known[count // 4 % len(known)]
    if "secret" in parameters:
        parameters["secret"] = SECRETS.get(str(parameters["channel_id"]), parameters["secret"])


def protect_required_ids(case, name):
    """Replaces the ids that the run itself needs, because schemathesis may generate them by chance."""
    parameters = case.path_parameters or {}
    for parameter, protected in PROTECTED_IDS.items() if name in MODIFYING else ():
        # The service reads 01 and +1 as 1.
        if str(parameters.get(parameter)).lstrip("+0") in map(str, protected):
            parameters[parameter] = 999_999


def protect_passwords(case, name):
    """Replaces the e-mail addresses of the agents whose tokens the run uses, because a new password would end their
    sessions. hypothesis may generate these addresses, because it also uses constants of the source code."""
    email = case.body.get("email") if name == "addAdmin" and isinstance(case.body, dict) else None
    if str(email).strip().lower() in PROTECTED_EMAILS:
        case.body["email"] = "third@openapi.example"


@schemathesis.hook
def before_call(context, case, kwargs):
    raw = case.operation.definition.raw
    name = raw["operationId"]
    with LOCK:
        count = next(REQUEST_COUNTERS[name])
        use_existing_ids(case, name, count)
    protect_required_ids(case, name)
    protect_passwords(case, name)
    case.body = without_foreign_urls(case.body)
    if name == "botEvent" and isinstance(case.body, dict) and count % 2:
        # Send an event for a chat that may exist.
        case.body |= {"chat_id": KNOWN_IDS["chat_id"][count % 20], "client_id": None}
    if case.operation.path.startswith("/widget/") and isinstance(case.body, dict) and "token" in case.body and count % 4:
        case.body["token"] = VISITOR_TOKEN
    authorize(case, name, raw.get("security", []), count)


@schemathesis.hook
def after_call(context, case, response):
    """Adds the ids of created resources, so that later requests read, change and delete them."""
    if response.status_code != 201:
        return
    created = response.json()
    with LOCK:
        for name in ["account_id", "channel_id", "agent_id", "department_id", "bot_id", "webhook_id", "provider_id", "seq"]:
            if name in created and created[name] not in KNOWN_IDS[name]:
                KNOWN_IDS[name] = (KNOWN_IDS[name] + [created[name]])[-50:]
        # The id of a canned reply is the only path parameter whose name is just "id".
        if "shortcut" in created:
            KNOWN_IDS["id"] = (KNOWN_IDS["id"] + [created["id"]])[-50:]
        if "endpoint" in created and "channel_id" in created:
            SECRETS[created["channel_id"]] = created["endpoint"].split("/")[-2]
