#!/usr/bin/env python3
"""Runs the W3C's test harness for trace contexts against the service.

tests/judges/trace_context.py HARNESS [TEST ...]

HARNESS is the folder `test` of a copy of https://github.com/w3c/trace-context. The harness needs the package aiohttp,
and this program opentelemetry-proto. The local host needs the binaries of `cargo build --bins`.

The harness sends requests with trace headers and lists the URLs that the tested program must call with the resulting
context. For each URL, this program sends a visitor's message with the headers of the harness to a channel with a bot,
waits until the bot's provider receives the message, and passes the trace headers of that request to the URL unchanged.
The headers therefore go through the gateway, the function that stores the message, the queue, and the function that
delivers it.

Meanwhile, the functions export their spans to this program. It reads them with the protocol's own classes, and checks
that each request to the provider is a span below the task, which is a span below the visitor's request.
"""

import http.client
import json
import os
import pathlib
import queue
import subprocess
import sys
import urllib.parse
import uuid

import host
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

SPEC_LEVEL = "2"
EVENT_SECONDS = 5
# Headers that belong to the connection with the harness, or that http.client adds.
OWN_HEADERS = {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"}
TRACE_HEADERS = {"traceparent", "tracestate"}
SAMPLED = 1


def post(url, headers, body):
    """Sends a request whose headers can be repeated. Returns the status."""
    url = urllib.parse.urlsplit(url)
    body = json.dumps(body).encode()
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=EVENT_SECONDS)
    connection.putrequest("POST", url.path, skip_accept_encoding=True)
    for name, value in [("content-type", "application/json"), ("content-length", str(len(body))), *headers]:
        connection.putheader(name, value)
    connection.endheaders(body)
    try:
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


class Adapter:
    """The program under test, as the harness sees it, and the server of the bot's provider."""

    def __init__(self):
        # The trace headers of the events for the bot, by the text of the message.
        self.events = {}
        self.sampled_span_ids = []
        self.exports = []
        self.url = host.serve(self.handle)

    def handle(self, path, headers, body):
        if path == "/test":
            self.follow(headers, json.loads(body))
        elif path == "/v1/traces":
            self.exports.append(body)
        else:
            self.record(headers, json.loads(body))

    def open_channel(self):
        account = host.Account()
        account.receiver.url = self.url
        channel = account.add_channel()
        account.add_bot(channel["channel_id"])
        self.channel_url = urllib.parse.urljoin(host.ready()["base_url"], channel["endpoint"])

    def follow(self, headers, calls):
        """Carries out the calls of the harness."""
        headers = [(name, value) for name, value in headers if name.lower() not in OWN_HEADERS]
        for call in calls:
            text = str(uuid.uuid4())
            self.events[text] = queue.Queue()
            message = {"sender": {"id": text, "name": "Ada"}, "message": {"type": "text", "text": text}}
            status = post(self.channel_url, headers, message)
            if status != 200:
                raise RuntimeError(f"the channel responded with {status}")
            trace_headers = self.events[text].get(timeout=EVENT_SECONDS)
            traceparents = [value.split("-") for name, value in trace_headers if name.lower() == "traceparent"]
            self.sampled_span_ids += [span_id for _, _, span_id, flags in traceparents if int(flags, 16) & SAMPLED]
            post(call["url"], trace_headers, call["arguments"])

    def record(self, headers, event):
        text = event.get("message", {}).get("text")
        if event["event"] == "CLIENT_MESSAGE" and text in self.events:
            self.events[text].put([(name, value) for name, value in headers if name.lower() in TRACE_HEADERS])


def check_spans(adapter):
    """Prints how many spans were exported. Returns the ids of the requests to the provider that are in a sampled trace,
    but not the end of a chain of exported spans."""
    exported = [ExportTraceServiceRequest.FromString(export) for export in adapter.exports]
    scopes = [scope for export in exported for resource in export.resource_spans for scope in resource.scope_spans]
    spans = {span.span_id.hex(): span for scope in scopes for span in scope.spans}

    def is_chain(span_id):
        kinds, trace_ids = [], set()
        while span := spans.get(span_id):
            kinds.append(span.kind)
            trace_ids.add(span.trace_id)
            assert span.start_time_unix_nano <= span.end_time_unix_nano
            span_id = span.parent_span_id.hex()
        return kinds == [Span.SPAN_KIND_CLIENT, Span.SPAN_KIND_CONSUMER, Span.SPAN_KIND_SERVER] and len(trace_ids) == 1

    wrong = [span_id for span_id in adapter.sampled_span_ids if not is_chain(span_id)]
    print(f"{len(exported)} exports with {len(spans)} spans")
    print(f"{len(adapter.sampled_span_ids)} sampled requests to the provider")
    return wrong


def main():
    harness, *tests = sys.argv[1:]
    host.TARGET.mkdir(parents=True, exist_ok=True)
    adapter = Adapter()
    with host.running("--parameter", f"OtlpEndpoint={adapter.url}"):
        adapter.open_channel()
        environment = os.environ | {"SPEC_LEVEL": SPEC_LEVEL, "NO_PROXY": "*"}
        command = [sys.executable, "test.py", f"{adapter.url}/test", *tests]
        status = subprocess.run(command, cwd=pathlib.Path(harness), env=environment).returncode
    wrong = check_spans(adapter)
    print(f"sampled requests without a chain of spans: {len(wrong)}")
    return status or len(wrong)


if __name__ == "__main__":
    sys.exit(main())
