"""Reads requests from standard input. Writes the attributes and the data that the SDK of CloudEvents finds in each."""

import json
import sys

from cloudevents.core.bindings.http import HTTPMessage, from_http_event


def parse(request):
    event = from_http_event(HTTPMessage(request["headers"], request["body"].encode()))
    attributes = event.get_attributes() | {"time": event.get_time().timestamp()}
    return {"attributes": attributes, "data": event.get_data()}


print(json.dumps([parse(request) for request in json.load(sys.stdin)]))
