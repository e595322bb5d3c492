"""A bot provider's server (specification, part B): answers visitors and hands over to an agent.

    PORT=8002 SIGNING_SECRET=whsec_... EVENTS_URL=https://.../bot/webhooks/<provider_id>/<token> python bot.py
"""

import json
import os
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SIGNING_SECRET"])
received = set()  # the ids of requests; keep them in your database, because a request may come again


class Bot(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            event = webhook.verify(body, dict(self.headers))
        except (WebhookVerificationError, ValueError):
            return self.answer(401)
        self.answer(200)  # first: a bot has three seconds to take an event, and more to react to it
        if self.headers["webhook-id"] not in received:
            received.add(self.headers["webhook-id"])
            react(event)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


def react(event):
    if event["event"] == "AGENT_UNAVAILABLE":
        say(event, "Nobody is here right now. Please leave your e-mail address.")
    elif event["event"] == "CLIENT_MESSAGE" and "human" in event["message"]["text"].lower():
        send({"event": "INVITE_AGENT", "chat_id": event["chat_id"]})
    elif event["event"] == "CLIENT_MESSAGE":
        say(event, "We are open from 9 to 5. Write \"human\" to talk to an agent.")


def say(event, text):
    send({"event": "BOT_MESSAGE", "chat_id": event["chat_id"], "message": {"type": "TEXT", "text": text}})


def send(event):
    body, headers = json.dumps(event).encode(), {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(os.environ["EVENTS_URL"], body, headers), timeout=3).close()


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Bot).serve_forever()
