"""Reads requests from standard input. Writes for each one why a library's verifier rejects it, or null, and writes the
signatures of others."""

import datetime
import importlib
import json
import sys

import standardwebhooks.webhooks


def clock_at(now):
    """Returns a class whose `now` is this number of seconds since 1970."""

    class Clock(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(now, tz)

    return Clock


def rejection(module, case):
    # The library of svix calls that of Standard Webhooks.
    standardwebhooks.webhooks.datetime = clock_at(case["now"])
    try:
        module.Webhook(case["secret"]).verify(case["body"], case["headers"])
    except module.WebhookVerificationError as error:
        return str(error) or "rejected"
    return None


def signature(module, case):
    time = datetime.datetime.fromtimestamp(case["timestamp"], datetime.timezone.utc)
    return module.Webhook(case["secret"]).sign(case["id"], time, case["body"])


question = json.load(sys.stdin)
modules = {"standardwebhooks": "standardwebhooks.webhooks", "svix": "svix.webhooks"}
module = importlib.import_module(modules[question["library"]])
rejections = [rejection(module, case) for case in question["received"]]
signatures = [signature(module, case) for case in question["to_sign"]]
print(json.dumps({"rejections": rejections, "signatures": signatures}))
