"""An integrator's server (specification, A-3): receives the messages of agents and bots to your visitors.

    PORT=8001 SIGNING_SECRET=whsec_... python integrator.py
"""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SIGNING_SECRET"])
# The service may repeat a request. In production, store the ids of processed requests in your database.
processed_ids = set()


class Integrator(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            event = webhook.verify(body, dict(self.headers))
        except (WebhookVerificationError, ValueError):
            return self.respond(401, {"error": {"code": 401, "message": "wrong signature"}})
        if self.headers["webhook-id"] not in processed_ids:
            processed_ids.add(self.headers["webhook-id"])
            self.forward_to_visitor(event)
        self.respond(200, {"result": "ok"})

    def forward_to_visitor(self, event):
        """Replace this function: forward the message to the visitor."""
        message, visitor = event["message"], event["recipient"]["id"]
        if message["type"] not in ("typein", "typeout"):
            text = message.get("text") or message.get("file") or message["type"]
            print(f"{event['sender'].get('name')} to {visitor}: {text}", flush=True)

    def respond(self, status, body):
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Integrator).serve_forever()
