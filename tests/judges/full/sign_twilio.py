"""Reads requests from standard input and writes the signatures that Twilio's own validator computes for them."""

import collections
import json
import sys
import urllib.parse

from twilio.request_validator import RequestValidator


class Form(collections.defaultdict):
    """A form whose fields can be repeated. The validator looks for this method."""

    def getlist(self, name):
        return self[name]


def signature(request):
    form = Form(list)
    for name, value in urllib.parse.parse_qsl(request["body"], keep_blank_values=True):
        form[name].append(value)
    return RequestValidator(request["auth_token"]).compute_signature(request["url"], form)


print(json.dumps([signature(request) for request in json.load(sys.stdin)]))
