"""An integrator's server (A-3 in docs/specification.md): receives the messages of agents and bots to your visitors.

    PORT=8001 SIGNING_SECRET=whsec_... python integrator.py
"""

import json
import os
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SIGNING_SECRET"])
# The service repeats a request that failed. In production, store the ids of forwarded messages in your database.
forwarded_ids = set()


class Integrator(BaseHTTPRequestHandler):
    timeout = 10  # seconds until a client that sends nothing is disconnected

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if len(body) < length:
            return  # the client has disconnected during its upload
        try:
            event = webhook.verify(body, dict(self.headers))
        except (WebhookVerificationError, ValueError):
            return self.respond(401, {"error": {"code": 401, "message": "wrong signature"}})
        try:
            self.forward_once(event, self.headers["webhook-id"])
        except Exception:
            # Any status but 200 makes the service send the message again, three times in all.
            traceback.print_exc()
            return self.respond(500, {"error": {"code": 500, "message": "the message was not forwarded"}})
        self.respond(200, {"result": "ok"})

    def forward_once(self, event, message_id):
        if message_id in forwarded_ids:
            return
        self.forward_to_visitor(event)
        # Only now: an id that is stored before the message was forwarded loses the message if forwarding fails.
        forwarded_ids.add(message_id)

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
