"""The endpoint `channel-receive-message` for a visitor's text in an open chat, with the same requests to the tables as
functions/channel/receive_message.rs. Any other message is an error."""

import hashlib
import hmac
import json
import os
import re
import time
import uuid

import boto3

DIRECTORY_TABLE = os.environ["DIRECTORY_TABLE"]
CHATS_TABLE = os.environ["CHATS_TABLE"]
CACHE_TTL_SECONDS = 10
RATE_WINDOW_MS = 10_000
RATE_SLOTS = 32
COUNTS_PER_WINDOW = 10_000
MAX_PREVIEW_CHARS = 80

client = boto3.client("dynamodb")
cache: dict[tuple[str, str], tuple[float, dict]] = {}


def get(table: str, pk: str, sk: str) -> dict | None:
    key = {"pk": {"S": pk}, "sk": {"S": sk}}
    return client.get_item(TableName=table, ConsistentRead=True, Key=key).get("Item")


def get_cached(pk: str, sk: str) -> dict | None:
    cached = cache.get((pk, sk))
    if cached and time.monotonic() - cached[0] < CACHE_TTL_SECONDS:
        return cached[1]
    item = get(DIRECTORY_TABLE, pk, sk)
    cache[pk, sk] = (time.monotonic(), item)
    return item


def respond(status: int, body: dict) -> dict:
    headers = {"content-type": "application/json; charset=utf-8", "cache-control": "no-store"}
    return {"statusCode": status, "headers": headers, "body": json.dumps(body), "isBase64Encoded": False}


def reject(status: int, code: str) -> dict:
    return respond(status, {"error": {"code": code, "message": code}})


def handler(event: dict) -> dict:
    parameters = event["pathParameters"]
    channel_id = parameters["channel_id"]
    now = time.time_ns() // 1_000_000
    channel = get_cached(f"CHANNEL#{channel_id}", "CHANNEL")
    secret = hashlib.sha256(parameters["secret"].encode()).hexdigest()
    if not channel or not any(hmac.compare_digest(it["M"]["hash"]["S"], secret) for it in channel["secrets"]["L"]):
        return reject(404, "not_found")
    if not channel["enabled"]["BOOL"]:
        return reject(403, "channel_disabled")

    body = json.loads(event["body"])
    sender, text = body["sender"], body["message"]["text"][:4096]
    account_id = channel["account_id"]["S"]
    settings = get_cached(f"ACCOUNT#{account_id}", "SETTINGS")
    limit = settings["settings"]["M"]["limits"]["M"]["visitor_messages"]["N"]

    visitor_hash = hashlib.sha256(str(sender["id"]).encode()).hexdigest()
    visitor = get(CHATS_TABLE, f"VISITOR#{channel_id}#{visitor_hash}", "VISITOR")
    chat_id = visitor["open_chat"]
    pk = f"CHAT#{account_id}#{chat_id['N']}"
    seq = advance_header(pk, visitor, sender, text, int(limit), now)
    message_id = str(uuid.uuid4())
    client.put_item(
        TableName=CHATS_TABLE,
        Item={
            "pk": {"S": pk},
            "sk": {"S": seq.zfill(10)},
            "account_id": {"S": account_id},
            "chat_id": chat_id,
            "seq": {"N": seq},
            "id": {"S": message_id},
            "from": {"S": "visitor"},
            "content": {"M": {"kind": {"S": "text"}, "text": {"S": text}}},
            "at": {"N": str(now)},
        },
        ConditionExpression="attribute_not_exists(pk)",
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
    )
    line = {"level": "INFO", "route": event["routeKey"], "message_id": message_id, "message": "request answered"}
    print(json.dumps(line))
    return respond(200, {"result": "ok"})


def advance_header(pk: str, visitor: dict, sender: dict, text: str, limit: int, now: int) -> str:
    """Counts the message in its window, assigns the next entry number and returns it. See
    shared/src/store/chats/visitors/visitor_message_rate.rs."""
    window = now // RATE_WINDOW_MS
    slot = f"#rate_{window % RATE_SLOTS}"
    base = window * COUNTS_PER_WINDOW
    other_slots = [f"#rate_{(window + distance) % RATE_SLOTS}" for distance in range(2, RATE_SLOTS - 1)]
    update = (
        "SET #seq = #seq + :count, #updated_at = :now, #last_message = :preview, #visitor_name = :name, "
        f"#has_numeric_id = :has_numeric_id, {slot} = if_not_exists({slot}, :no_messages) + :one "
        f"REMOVE {', '.join(['#typing_started_at', '#typing_text', *other_slots])}"
    )
    condition = (
        "#state IN (:state_1, :state_2, :state_3) AND "
        "(attribute_not_exists(#must_read_visitor) OR #must_read_visitor = :is_visitor_read) AND "
        f"(attribute_not_exists({slot}) OR {slot} BETWEEN :lowest AND :highest)"
    )
    preview = {"from": {"S": "visitor"}, "kind": {"S": "text"}, "text": {"S": text[:MAX_PREVIEW_CHARS]}}
    values = {
        ":one": {"N": "1"},
        ":now": {"N": str(now)},
        ":preview": {"M": {**preview, "at": {"N": str(now)}}},
        ":name": visitor.get("name", {"S": "Anonymous"}),
        ":count": {"N": "1"},
        ":state_1": {"S": "bot"},
        ":state_2": {"S": "waiting"},
        ":state_3": {"S": "active"},
        ":is_visitor_read": {"BOOL": True},
        ":has_numeric_id": {"BOOL": isinstance(sender["id"], int)},
        ":no_messages": {"N": str(base)},
        ":lowest": {"N": str(base)},
        ":highest": {"N": str(base + limit - 1)},
    }
    updated = client.update_item(
        TableName=CHATS_TABLE,
        Key={"pk": {"S": pk}, "sk": {"S": "HEAD"}},
        UpdateExpression=update,
        ConditionExpression=condition,
        ExpressionAttributeNames={name: name[1:] for name in re.findall(r"#\w+", update + condition)},
        ExpressionAttributeValues=values,
        ReturnValues="ALL_NEW",
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
    )
    return updated["Attributes"]["seq"]["N"]
