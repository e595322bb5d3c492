"""A webhook receiver (specification, part C): shows the agent who accepts a chat what you know of the visitor.

    PORT=8003 SIGNING_SECRET=whsec_... python webhook.py
"""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SIGNING_SECRET"])


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            event = webhook.verify(body, dict(self.headers))
        except (WebhookVerificationError, ValueError):
            return self.answer(401, {"result": "FAILURE"})
        print(event["event_name"], event.get("chat_id"), flush=True)
        self.answer(200, {"result": "OK", **about(event)})

    def answer(self, status, body):
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def about(event):
    """Here you look the visitor up. A repeated event gets the same answer again."""
    if event["event_name"] != "chat_accepted":
        return {}
    number = event["visitor"]["number"]
    return {"custom_data": [{"title": "Customer", "content": f"No. {number}, 3 orders", "link": "https://crm.example"}]}


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
