"""A bot provider's server (specification, part B): replies to visitors and invites an agent on request.

    PORT=8002 SIGNING_SECRET=whsec_... EVENTS_URL=https://.../bot/webhooks/<provider_id>/<token> python bot.py
"""

import json
import os
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SIGNING_SECRET"])
# The service may repeat a request. In production, store the ids of processed requests in your database.
processed_ids = set()


class Bot(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            event = webhook.verify(body, dict(self.headers))
        except (WebhookVerificationError, ValueError):
            return self.respond(401)
        self.respond(200)  # respond first: the bot must accept an event within three seconds
        if self.headers["webhook-id"] not in processed_ids:
            processed_ids.add(self.headers["webhook-id"])
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
    body, headers = json.dumps(event).encode(), {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(os.environ["EVENTS_URL"], body, headers), timeout=3).close()


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Bot).serve_forever()
