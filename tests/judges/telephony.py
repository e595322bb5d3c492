"""Twilio's validator of requests. It signs calls and reports to the service. What the service sends to Twilio is not
signed: it has a password."""

import dataclasses
import re
import urllib.parse
import xml.etree.ElementTree as xml

import host
from judge import FULL_PYTHON_PROGRAMS, HERE, Finding, Judge, ask

AUTH_TOKEN = "0123456789abcdef0123456789abcdef"
ACCOUNT_SID = "AC0123456789abcdef0123456789abcdef"
# The fields of a real call, which has empty ones, and texts that a form must encode.
INCOMING = [
    ("AccountSid", ACCOUNT_SID),
    ("ApiVersion", "2010-04-01"),
    ("CallSid", "CA1"),
    ("CallStatus", "ringing"),
    ("CallerCity", ""),
    ("CallerName", "Zoë O'Brien & Söhne 🎉 100% +1"),
    ("CallerZip", " "),
    ("Direction", "inbound"),
    ("From", "+31633333333"),
    ("StirVerstat", "TN-Validation-Passed-A"),
    ("To", "+31201234567"),
]


@dataclasses.dataclass(frozen=True)
class Case:
    place: str
    is_valid: bool
    url: str
    fields: list
    # What is signed instead of this token, URL and these fields.
    auth_token: str = AUTH_TOKEN
    signed_url: str = ""
    signed_fields: list = ()

    def to_sign(self):
        body = urllib.parse.urlencode(self.signed_fields or self.fields)
        return {"auth_token": self.auth_token, "url": self.signed_url or self.url, "body": body}

    def send(self, signature):
        headers = {"content-type": "application/x-www-form-urlencoded", "x-twilio-signature": signature}
        return host.send("POST", self.url, urllib.parse.urlencode(self.fields).encode(), headers)


def exchange(cases):
    """Sends signed requests. Returns the bodies of the responses and the findings."""
    command = [FULL_PYTHON_PROGRAMS / "python", HERE / "full" / "sign_twilio.py"]
    signatures, failures = ask("twilio", *command, question=[case.to_sign() for case in cases])
    if failures:
        return [], failures
    bodies, found = [], []
    for case, signature in zip(cases, signatures, strict=True):
        status, _, body = case.send(signature)
        if status != (200 if case.is_valid else 401):
            found.append(Finding(f"status {status}", case.place, body.decode()))
        bodies.append(body.decode())
    return bodies, found


def incoming_cases(url):
    hidden = [*(dict(INCOMING) | {"CallSid": "CA9", "From": "anonymous"}).items()]
    without_port = re.sub(r":\d+", "", url)
    return [
        Case("incoming call", True, url, INCOMING),
        Case("incoming call, other order of the fields", True, url, INCOMING[::-1]),
        Case("incoming call, hidden number", True, url, hidden),
        Case("incoming call, repeated field", True, url, [*INCOMING, ("Digits", "2"), ("Digits", "1")]),
        Case("incoming call, equal repeated fields", True, url, [*INCOMING, ("Digits", "1"), ("Digits", "1")]),
        Case("incoming call, URL without its port", True, url, INCOMING, signed_url=without_port),
        Case("incoming call, wrong token", False, url, INCOMING, auth_token="f" * 32),
        Case("incoming call, changed URL", False, url, INCOMING, signed_url=url + "?"),
        Case("incoming call, changed host", False, url, INCOMING, signed_url=url.replace("127.0.0.1", "a.example")),
        Case("incoming call, changed field", False, url, hidden, signed_fields=INCOMING),
        Case("incoming call, added field", False, url, [*INCOMING, ("Digits", "1")], signed_fields=INCOMING),
        Case("incoming call, removed field", False, url, INCOMING[1:], signed_fields=INCOMING),
    ]


def report_cases(name, twiml, status_url):
    """Reports about a call, at the URLs that Twilio gets from the service."""
    dial = xml.fromstring(twiml).find("Dial")
    connected = [("CallSid", "CA2"), ("ParentCallSid", "CA1"), ("CallStatus", "in-progress")]
    end = [("CallSid", "CA1"), ("DialCallStatus", "completed"), ("RecordingUrl", "https://api.example/RE1")]
    return [
        Case(f"{name}, agent", True, status_url, [("CallSid", "CA1"), ("CallStatus", "in-progress")]),
        Case(f"{name}, connected", True, dial.find("Number").get("statusCallback"), connected),
        Case(f"{name}, end", True, dial.get("action"), end),
        Case(f"{name}, signature of another report", False, dial.get("action"), end, signed_fields=connected),
    ]


def twilio():
    account = host.Account()
    fields = {"provider": "twilio", "account_sid": ACCOUNT_SID, "auth_token": AUTH_TOKEN}
    widget = account.add_channel(kind="widget", integrator_url=None)
    api_url = f"{account.receiver.url}/twilio"
    incoming_url = account.set_telephony(**fields, api_url=api_url, channel_id=widget["channel_id"])
    account.start_call()
    order = dict(urllib.parse.parse_qsl(account.receiver.wait_for("/twilio")["body"]))
    bodies, found = exchange(incoming_cases(incoming_url))
    status_url = order["StatusCallback"]
    _, more = exchange(report_cases("order", order["Twiml"], status_url))
    if not found:
        more += exchange(report_cases("incoming call", bodies[0], status_url))[1]
    return found + more


JUDGES = [Judge("twilio", "pypi:twilio", twilio, is_full=True)]
