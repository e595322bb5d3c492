"""An integrator's server (specification, A-3): receives what agents and bots write to your visitors.

    PORT=8001 SIGNING_SECRET=whsec_... python integrator.py
"""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SIGNING_SECRET"])
received = set()  # the ids of requests; keep them in your database, because a request may come again


class Integrator(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            event = webhook.verify(body, dict(self.headers))
        except (WebhookVerificationError, ValueError):
            return self.answer(401, {"error": {"code": 401, "message": "wrong signature"}})
        if self.headers["webhook-id"] not in received:
            received.add(self.headers["webhook-id"])
            self.show(event)
        self.answer(200, {"result": "ok"})

    def show(self, event):
        """Here you pass the message on to your visitor."""
        message, visitor = event["message"], event["recipient"]["id"]
        if message["type"] not in ("typein", "typeout"):
            what = message.get("text") or message.get("file") or message["type"]
            print(f"{event['sender'].get('name')} to {visitor}: {what}", flush=True)

    def answer(self, status, body):
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Integrator).serve_forever()
