"""Sends a visitor's messages to a channel (A-2 in docs/specification.md): one message for each line of the input.

    CHANNEL_URL=https://.../channel/<secret>/<channel_id> python sender.py u-1 "Ada Lovelace"

The answers arrive at integrator.py. Keep CHANNEL_URL on your server: anyone who has it can write as any visitor.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

MAX_ATTEMPTS = 6


def send(visitor, message):
    """Sends a message, and repeats it until the service has accepted or rejected it."""
    body = json.dumps({"sender": visitor, "message": message}).encode()
    # All attempts have the same key, so the service stores the message only once, even if a response was lost.
    headers = {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())}
    for attempt in range(MAX_ATTEMPTS):
        status, retry_after, reason = post(body, headers)
        if status == 200:
            return
        if status is not None and status != 429 and status < 500:
            break  # a 4xx is final: the same request would be rejected again
        time.sleep(min(retry_after or 2**attempt, 30))
    raise RuntimeError(f"not sent: {reason}")


def post(body, headers):
    """Returns the status (None without a response), the seconds to wait before the next attempt, and the reason."""
    try:
        with urllib.request.urlopen(urllib.request.Request(os.environ["CHANNEL_URL"], body, headers), timeout=10) as ok:
            return ok.status, None, ""
    except urllib.error.HTTPError as error:
        reason = f"HTTP {error.code} {error.read(2000).decode(errors='replace')}"
        return error.code, int(error.headers.get("Retry-After") or 0), reason
    except OSError as error:
        return None, None, str(error)


visitor = {"id": sys.argv[1], **({"name": sys.argv[2]} if len(sys.argv) > 2 else {})}
for line in sys.stdin:
    if line.strip():
        try:
            send(visitor, {"type": "text", "text": line.strip()})
            print(f"sent: {line.strip()}", flush=True)
        except RuntimeError as error:
            print(error, file=sys.stderr, flush=True)
