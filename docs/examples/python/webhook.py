"""A webhook receiver (part C of docs/specification.md): returns customer data for the agent who accepts a chat.

    PORT=8003 SIGNING_SECRET=whsec_... python webhook.py
"""

import json
import os
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SIGNING_SECRET"])


class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # seconds until a client that sends nothing is disconnected

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if len(body) < length:
            return  # the client has disconnected during its upload
        try:
            event = webhook.verify(body, dict(self.headers))
        except (WebhookVerificationError, ValueError):
            return self.respond(401, {"result": "FAILURE"})
        print(event["event_name"], event.get("chat_id"), flush=True)
        try:
            data = customer_data(event)
        except Exception:
            # Any status but 2xx makes the service send the event again, three times in all.
            traceback.print_exc()
            return self.respond(500, {"result": "FAILURE"})
        self.respond(200, {"result": "OK", **data})

    def respond(self, status, body):
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def customer_data(event):
    """Replace this function: look up the visitor. If an event is repeated, return the same response again."""
    if event["event_name"] != "chat_accepted":
        return {}
    number = event["visitor"]["number"]
    return {"custom_data": [{"title": "Customer", "content": f"No. {number}, 3 orders", "link": "https://crm.example"}]}


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
