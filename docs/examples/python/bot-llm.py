"""A bot that answers with a language model behind any OpenAI-compatible endpoint (POST {MODEL_URL}/chat/completions).
It answers turns of a visitor while the model still writes, hands the chat over with a summary, and suggests on standby.

    PORT=8002 SIGNING_SECRET=whsec_... EVENTS_URL=https://.../bot/webhooks/<provider_id>/<token> \
        MODEL_URL=https://api.example.com/v1 MODEL_KEY=... MODEL=... python bot-llm.py
"""

import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SIGNING_SECRET"])
INSTRUCTIONS = """You answer visitors of a shop that is open from 9 to 5. Call invite_agent if you do not know, or if the
visitor wants a person. Its summary is for the agent, its text for the visitor."""
UNAVAILABLE = "No agent is available. Say so, and ask the visitor for an e-mail address."
REASONS = ["requested", "unknown_answer", "sensitive", "complaint", "sales", "out_of_scope", "error", "other"]
TEXT = {"type": "string"}
PARAMETERS = {"type": "object", "properties": {"reason": {"enum": REASONS}, "summary": TEXT, "text": TEXT}}
INVITE = {"name": "invite_agent", "description": "Hand the chat over to a human", "parameters": PARAMETERS}
CHUNK_SECONDS = float(os.environ.get("CHUNK_SECONDS", "0.5"))
TOOLS = [{"type": "function", "function": INVITE}]

# In production, store these in your database.
accepted_ids, chats = set(), {}  # chats: chat_id to Chat
lock = threading.Lock()  # protects both, and every field of a chat


class Chat:
    def __init__(self, history=(), has_agent=False):
        self.history, self.has_agent = list(history), has_agent
        self.seq, self.version, self.answered, self.running = 0, 0, 0, False

    def add(self, role, content):
        self.history.append({"role": role, "content": content})
        self.version += role != "assistant"

    def add_messages(self, event):
        """Adds the messages that the chat does not have yet: one can arrive in two events, or in an event and a 409."""
        for message in event.get("messages", [event["message"]] if "message" in event else []):
            if message.get("seq", self.seq + 1) > self.seq:
                role = "assistant" if message.get("from") == "agent" else "user"
                self.add(role, message.get("text") or message.get("file") or f"({message['type']})")
                self.seq = max(self.seq, message.get("seq", 0) if role == "user" else 0)
        self.seq = max(self.seq, event.get("up_to_seq", 0))


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
        self.respond(200)  # respond first: the model takes longer than three seconds
        threading.Thread(target=handle_event, args=(event, self.headers["webhook-id"])).start()

    def respond(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


def handle_event(event, event_id):
    chat_id = event["chat_id"]
    with lock:
        if event_id in accepted_ids:
            return
        accepted_ids.add(event_id)
        if event["event"] == "CHAT_CLOSED":
            chats.pop(chat_id, None)
            return
        chat = chats.setdefault(chat_id, Chat())
        if event["event"] == "AGENT_JOINED":  # what is being written for the old chat is not sent
            chats[chat_id] = Chat(chat.history, has_agent=True)
            return
        chat.has_agent = chat.has_agent and event["event"] != "CHAT_RETURNED"
        if event["event"] == "AGENT_UNAVAILABLE":
            chat.add("system", UNAVAILABLE)
        elif event["event"] in ("CLIENT_MESSAGE", "CHAT_RETURNED", "STANDBY_MESSAGE"):
            chat.add_messages(event)
        if chat.running:
            return  # the thread that answers this chat sees the new version
        chat.running = True
    answer(chat_id, chat)


def answer(chat_id, chat):
    """Answers until the visitor has written nothing since the answer was begun. One chat has one answer at a time."""
    while True:
        with lock:
            if chat.answered == chat.version or chats.get(chat_id) is not chat:
                chat.running = False
                return
            chat.answered, history = chat.version, list(chat.history)
            target = {"chat_id": chat_id, "reply_to_seq": chat.seq or None}
        reply = think(history, None if chat.has_agent else target)
        if chat.has_agent:  # an agent decides what is sent
            reply = {"event": "DRAFT", "text": reply["message"]["text"]} if "message" in reply else None
        with lock:
            if chat.answered < chat.version or chats.get(chat_id) is not chat or reply is None:
                continue  # stale, or nothing to suggest
        status, body = send_event({**reply, **target})
        with lock:
            if status == 409 and body.get("error", {}).get("code") == "superseded":
                chat.add_messages(body)
                chat.answered = -1
            elif status == 200 and reply["event"] != "DRAFT":
                chat.add("assistant", reply["message"]["text"] if "message" in reply else reply["text"])
        if status == 409 and not body.get("messages"):
            time.sleep(1)  # the newer message is just being stored


def show(text, target, shown_at):
    """Shows the visitor the beginning of an answer. Returns the time, or None if the rest is not wanted."""
    if not text or time.monotonic() - shown_at < CHUNK_SECONDS:
        return shown_at
    status, body = send_event({"event": "MESSAGE_CHUNK", "text": text, **target}, attempts=1)
    return None if status == 409 or body.get("stopped") else time.monotonic()


def think(history, target):
    """Returns the event that answers the visitor. If the model fails, this is a hand-over, too."""
    try:
        content, tool = ask_model(history, [] if history[-1]["role"] == "system" else TOOLS, target)
        if tool is not None:
            return invite(**json.loads(tool))
        return {"event": "BOT_MESSAGE", "message": {"type": "TEXT", "text": content}}
    except (OSError, ValueError, TypeError, LookupError) as error:
        print(f"the model failed: {error}", file=sys.stderr, flush=True)
        return invite(reason="error")


def invite(reason="other", summary=None, text=None):
    event = {"event": "INVITE_AGENT", "reason": reason if reason in REASONS else "other"}
    return {**event, "text": text or "I am getting a colleague.", **({"summary": summary[:4000]} if summary else {})}


def ask_model(history, tools, target=None):
    """Reads the answer of the model as server-sent events. Returns its text and the arguments of invite_agent."""
    messages = [{"role": "system", "content": INSTRUCTIONS}, *history]
    body = {"model": os.environ["MODEL"], "stream": True, "messages": messages, **({"tools": tools} if tools else {})}
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ['MODEL_KEY']}"}
    url = os.environ["MODEL_URL"] + "/chat/completions"
    content, tool, shown_at = "", None, time.monotonic()
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=60) as lines:
        for line in (line for line in lines if line.startswith(b"data:")):
            if line[5:].strip() == b"[DONE]":
                if not content and tool is None:
                    raise ValueError("an empty answer")
                return content, tool
            delta = (json.loads(line[5:]).get("choices") or [{}])[0].get("delta", {})
            content += delta.get("content") or ""
            shown_at = show(content, target, shown_at) if target else shown_at
            if shown_at is None:
                return content, tool
            for call in delta.get("tool_calls") or []:
                tool = (tool or "") + call.get("function", {}).get("arguments", "")
    raise ValueError("the answer is incomplete")


def send_event(event, attempts=3):
    """Sends an event, three times if the service is busy, always with the same key. Returns the last response."""
    body = json.dumps(event).encode()
    headers = {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())}
    status, response = 0, {}
    for attempt in range(attempts):
        try:
            request = urllib.request.Request(os.environ["EVENTS_URL"], body, headers)
            with urllib.request.urlopen(request, timeout=3) as accepted:
                return 200, json.load(accepted)
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
            response = json.loads(text) if text.startswith(b"{") else {}
            if status != 429 and status < 500:
                break
        except OSError:
            status = 0  # no response
        time.sleep(2**attempt)
    print(f"{event['event']} was not accepted: HTTP {status} {response.get('error')}", file=sys.stderr, flush=True)
    return status, response


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Bot).serve_forever()
