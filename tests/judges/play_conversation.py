"""The first conversation, with the client of openapi-python-client: a visitor writes, an agent accepts the chat, answers
and closes it."""

import inspect
import json
import os
import typing
import uuid

from switchboard_client import AuthenticatedClient, Client
from switchboard_client.api.agents import (
    accept_chat,
    agent_chats,
    agent_login,
    agent_message,
    agent_messages,
    close_chat,
)
from switchboard_client.api.channel_api import channel_message

with open(os.environ["READY_FILE"]) as file:
    host = json.load(file)
demo = host["demo"]


def call(operation, *arguments, status=200, body=None, **options):
    """Calls an operation. Returns the body of its response as an object of the generated class."""
    if body is not None:
        options["body"] = body_of(operation, body)
    response = operation.sync_detailed(*arguments, **options)
    assert response.status_code == status, f"{operation.__name__}: {response.status_code} {response.content}"
    return response.parsed


def body_of(operation, value):
    """Creates an object of the first generated class that keeps all fields of the value."""
    kind = inspect.signature(operation.sync_detailed).parameters["body"].annotation
    for alternative in typing.get_args(kind) or [kind]:
        if not hasattr(alternative, "from_dict"):
            continue
        try:
            body = alternative.from_dict(value)
        except (KeyError, TypeError, ValueError):
            continue
        if body.to_dict() == value:
            return body
    raise AssertionError(f"no generated class of {operation.__name__} holds {value}")


visitor = Client(base_url=host["base_url"])
secret, channel_id = demo["channel_url"].split("/")[-2:]
question = f"Do you deliver on Sundays? {uuid.uuid4()}"
message = {"sender": {"id": f"visitor-{uuid.uuid4()}", "name": "Ada"}, "message": {"type": "text", "text": question}}
assert call(channel_message, secret, channel_id, client=visitor, body=message).result == "ok"

credentials = {"email": demo["agent_email"], "password": demo["agent_password"]}
token = call(agent_login, client=visitor, body=credentials).token
agent = AuthenticatedClient(base_url=host["base_url"], token=token)
chats = call(agent_chats, client=agent).chats
chat = next(chat for chat in chats if chat.last_message.text == question)
assert chat.state == "waiting", chat
assert call(accept_chat, chat.chat_id, client=agent).state == "active"
answer = {"type": "text", "text": "We do."}
stored = call(agent_message, chat.chat_id, client=agent, status=201, body=answer)
entries = call(agent_messages, chat.chat_id, client=agent).messages
assert [entry.text for entry in entries if entry.text] == [question, "We do."], entries
assert stored.seq in [entry.seq for entry in entries]
assert call(close_chat, chat.chat_id, client=agent).state == "closed"
