"""A bot provider's server (part B of docs/specification.md): replies to visitors and invites an agent on request.

    PORT=8002 SIGNING_SECRET=whsec_... EVENTS_URL=https://.../bot/webhooks/<provider_id>/<token> python bot.py
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SIGNING_SECRET"])
# The service may repeat a request. In production, store the ids of accepted requests in your database.
accepted_ids = set()


class Bot(BaseHTTPRequestHandler):
    timeout = 10  # seconds until a client that sends nothing is disconnected

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if len(body) < length:
            return  # the client has disconnected during its upload
        try:
            event = webhook.verify(body, dict(self.headers))
        except (WebhookVerificationError, ValueError):
            return self.respond(401)
        self.respond(200)  # respond first: the bot must accept an event within three seconds
        if self.headers["webhook-id"] not in accepted_ids:
            accepted_ids.add(self.headers["webhook-id"])
            handle_event(event)

    def respond(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


def handle_event(event):
    if event["event"] == "AGENT_UNAVAILABLE":
        send_text(event, "Nobody is here right now. Please leave your e-mail address.")
    elif event["event"] == "CLIENT_MESSAGE" and "human" in event["message"]["text"].lower():
        send_event({"event": "INVITE_AGENT", "chat_id": event["chat_id"]})
    elif event["event"] == "CLIENT_MESSAGE":
        send_text(event, "We are open from 9 to 5. Write \"human\" to talk to an agent.")


def send_text(event, text):
    send_event({"event": "BOT_MESSAGE", "chat_id": event["chat_id"], "message": {"type": "TEXT", "text": text}})


def send_event(event):
    """Sends an event, three times if the service is busy. A rejected event is only reported: the chat of a test event
    does not exist (400), and an answer may come after the chat was handed over to an agent (403)."""
    body = json.dumps(event).encode()
    headers = {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())}
    for attempt in range(3):
        try:
            request = urllib.request.Request(os.environ["EVENTS_URL"], body, headers)
            return urllib.request.urlopen(request, timeout=3).close()
        except urllib.error.HTTPError as error:
            reason = f"HTTP {error.code} {error.read(2000).decode(errors='replace')}"
            if error.code != 429 and error.code < 500:
                break
        except OSError as error:
            reason = str(error)
        time.sleep(2**attempt)
    print(f"{event['event']} was not accepted: {reason}", file=sys.stderr, flush=True)


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Bot).serve_forever()
