"""The official libraries of Standard Webhooks, which verify requests of the service and sign reports to it, and a library
that verifies Ed25519 signatures, which they do not know."""

import concurrent.futures
import dataclasses
import functools
import json
import shutil
import time

import host
from judge import FULL, FULL_PYTHON_PROGRAMS, HERE, Finding, Judge, ask

WRONG_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
WRONG_PUBLIC_KEY = "whpk_bcF3mxQ1+2h4roB7/B8oyxqId+WPrVGz8AVnP9nRSaQ="
CACHE_SECONDS = 10
GATEWAY_SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"


@dataclasses.dataclass(frozen=True)
class Case:
    place: str
    is_valid: bool
    request: dict
    secret: str
    minutes_later: int = 0

    def question(self):
        headers, body = self.request["headers"], self.request["body"]
        now = int(headers["webhook-timestamp"]) + 60 * self.minutes_later
        return {"secret": self.secret, "headers": headers, "body": body, "now": now}


@functools.cache
def cases():
    """Records requests of every kind that is signed, and derives changed ones from them."""
    with concurrent.futures.ThreadPoolExecutor() as threads:
        senders = (Channel, Bot, AccountWebhook, WebhookWithKeyPair)
        found = list(threads.map(lambda sender: rotated(sender(host.Account())), senders))
    return [case for cases in found for case in cases] + changed("call order", order(), GATEWAY_SECRET)


@functools.cache
def ed25519_cases():
    """Returns the cases that a library decides that verifies signatures, and does not look at their time."""
    return [case for case in rotated(PublicKeyHolder(host.Account())) if case.minutes_later == 0]


def changed(name, request, secret, wrong_secret=WRONG_SECRET):
    """Returns a valid request, and the changes that a verifier must notice."""

    def other(**headers):
        return request | {"headers": request["headers"] | {name.replace("_", "-"): to for name, to in headers.items()}}

    timestamp = int(request["headers"]["webhook-timestamp"])
    return [
        Case(name, True, request, secret),
        Case(f"{name}, changed body", False, request | {"body": request["body"] + " "}, secret),
        Case(f"{name}, changed id", False, other(webhook_id="msg_1"), secret),
        Case(f"{name}, changed time", False, other(webhook_timestamp=str(timestamp + 1)), secret),
        Case(f"{name}, wrong secret", False, request, wrong_secret),
        Case(f"{name}, four minutes later", True, request, secret, minutes_later=4),
        Case(f"{name}, six minutes later", False, request, secret, minutes_later=6),
    ]


def rotated(sender):
    """Rotates the secret of a sender twice. The second rotation revokes the old secrets."""
    name, first, wrong = sender.name, sender.secret, sender.wrong_secret
    found = changed(name, sender.request(secrets=1), first, wrong)
    second = sender.rotate(keep_old_seconds=3600)
    during = sender.request(secrets=2)
    for secret, age in ((first, "old"), (second, "new")):
        found += changed(f"{name} during a rotation, {age} secret", during, secret, wrong)
    third = sender.rotate(keep_old_seconds=0)
    after = sender.request(secrets=1)
    return [
        *found,
        *changed(f"{name} after a rotation", after, third, wrong),
        Case(f"{name} after a rotation, old secret", False, after, second),
        Case(f"{name} after a rotation, oldest secret", False, after, first),
    ]


class Sender:
    """Something that signs its requests. A function may use its secrets for ten seconds after they have changed."""

    wrong_secret = WRONG_SECRET
    signatures_per_secret = 1
    # When no function uses a revoked secret any more. The number of signatures would not show that one does.
    revoked_at = 0

    def __init__(self, account):
        self.account = account
        self.channel = account.add_channel()
        self.set_up()

    def request(self, secrets):
        """Returns a request that is signed with this number of secrets."""
        path, signatures = f"/{self.path}", secrets * self.signatures_per_secret

        def sent():
            if time.monotonic() < self.revoked_at:
                return None
            count = len(self.account.receiver.requests)
            self.send()
            request = self.account.receiver.wait_for(path, after=count)
            return request if len(request["headers"]["webhook-signature"].split()) == signatures else None

        return host.wait_for(f"{signatures} signatures", sent)

    def rotate(self, keep_old_seconds):
        rotation = self.account.call("POST", self.rotation_path, {"keep_old_seconds": keep_old_seconds})
        if keep_old_seconds == 0:
            self.revoked_at = time.monotonic() + CACHE_SECONDS
        return self.secret_of(rotation)

    def secret_of(self, shown):
        return shown["signing_secret"]


class Channel(Sender):
    name, path = "channel", "channel"

    def set_up(self):
        self.secret = self.channel["signing_secret"]
        self.rotation_path = f"/admin/channels/{self.channel['channel_id']}/signing-secret/rotate"
        self.chat = self.account.open_chat(self.channel)
        self.account.call("POST", f"/agent/chats/{self.chat}/accept")

    def send(self):
        text = {"type": "text", "text": "Größe: 4 \u2028 \"x\" <b> 🎉"}
        self.account.call("POST", f"/agent/chats/{self.chat}/messages", text)


class Bot(Sender):
    name, path = "bot", "bot"

    def set_up(self):
        bot = self.account.add_bot(self.channel["channel_id"])
        self.secret = bot["signing_secret"]
        self.rotation_path = f"/admin/bots/{bot['bot_id']}/rotate"

    def send(self):
        self.account.open_chat(self.channel)


class AccountWebhook(Sender):
    name, path = "webhook", "webhook"

    options = {}

    def set_up(self):
        webhook = self.account.add_webhook(**self.options)
        self.secret = self.secret_of(webhook)
        self.rotation_path = f"/admin/settings/webhooks/{webhook['webhook_id']}/rotate"

    def send(self):
        chat = self.account.open_chat(self.channel)
        self.account.call("POST", f"/agent/chats/{chat}/accept")


class WebhookWithKeyPair(AccountWebhook):
    """Its requests also have signatures that the official libraries must ignore."""

    name = "webhook with a key pair"
    options = {"ed25519_signature": True}
    signatures_per_secret = 2


class PublicKeyHolder(WebhookWithKeyPair):
    """The same webhook for a receiver that only knows its public keys."""

    wrong_secret = WRONG_PUBLIC_KEY

    def secret_of(self, webhook):
        return webhook["public_keys"][-1]["public_key"]


@functools.cache
def order():
    """Returns the order of a call that an HTTP gateway gets."""
    account = host.Account()
    settings = {"provider": "http", "url": f"{account.receiver.url}/gateway", "signing_secret": GATEWAY_SECRET}
    account.set_telephony(**settings)
    account.start_call()
    return account.receiver.wait_for("/gateway")


@dataclasses.dataclass(frozen=True)
class Report:
    """A report of the gateway about the call."""

    place: str
    is_valid: bool = True
    secret: str = GATEWAY_SECRET
    minutes_old: int = 0
    # What follows the signed body.
    addition: str = ""

    def to_sign(self):
        timestamp = int(time.time()) - 60 * self.minutes_old
        body = json.dumps({"call_id": json.loads(order()["body"])["call_id"], "status": "ringing"})
        return {"secret": self.secret, "id": "report", "timestamp": timestamp, "body": body}

    def findings(self, signed, signature):
        headers = {"webhook-id": signed["id"], "webhook-timestamp": str(signed["timestamp"])}
        body = (signed["body"] + self.addition).encode()
        url = json.loads(order()["body"])["report_url"]
        status, _, answer = host.send("POST", url, body, headers | {"webhook-signature": signature})
        expected = 200 if self.is_valid else 401
        return [] if status == expected else [Finding(f"status {status}", self.place, answer.decode())]


REPORTS = [
    Report("report"),
    Report("report, four minutes old", minutes_old=4),
    Report("report, six minutes old", False, minutes_old=6),
    Report("report, from the future", False, minutes_old=-6),
    Report("report, wrong secret", False, secret=WRONG_SECRET),
    Report("report, changed body", False, addition=" "),
]


def command(language):
    if language == "Python":
        return [FULL_PYTHON_PROGRAMS / "python", HERE / "full" / "verify.py"]
    # The program finds the packages beside it.
    shutil.copy(HERE / "full" / "verify.mjs", FULL / "node")
    return ["node", FULL / "node" / "verify.mjs"]


def library(language, registry, name):
    def read():
        received, to_sign = [case.question() for case in cases()], [report.to_sign() for report in REPORTS]
        question = {"library": name, "received": received, "to_sign": to_sign}
        answer, failures = ask(name, *command(language), question=question)
        if failures:
            return failures
        found = wrong_verdicts(cases(), answer["rejections"])
        for report, signed, signature in zip(REPORTS, to_sign, answer["signatures"], strict=True):
            found += report.findings(signed, signature)
        return found

    return Judge(f"{name} for {language}", f"{registry}:{name}", read, is_full=True)


def wrong_verdicts(cases, rejections):
    return [
        Finding("rejected" if case.is_valid else "accepted", case.place, rejection or "")
        for case, rejection in zip(cases, rejections, strict=True)
        if (rejection is None) != case.is_valid
    ]


def read_ed25519():
    question = [case.question() for case in ed25519_cases()]
    command = FULL_PYTHON_PROGRAMS / "python", HERE / "full" / "verify_ed25519.py"
    rejections, failures = ask("cryptography", *command, question=question)
    return failures or wrong_verdicts(ed25519_cases(), rejections)


JUDGES = [
    library(language, registry, name)
    for language, registry in (("Python", "pypi"), ("Node", "npm"))
    for name in ("standardwebhooks", "svix")
] + [Judge("cryptography", "pypi:cryptography", read_ed25519, is_full=True)]
