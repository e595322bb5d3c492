"""The endpoint `channel-message` for a visitor's text in an open chat, with the same requests to the tables as
functions/channel/receive_message.rs. Any other message is an error."""

import hashlib
import hmac
import json
import os
import time
import uuid

import boto3

DIRECTORY_TABLE = os.environ["DIRECTORY_TABLE"]
CHATS_TABLE = os.environ["CHATS_TABLE"]
CACHE_TTL_SECONDS = 10
RATE_WINDOW_MS = 10_000
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
    pk = f"CHAT#{account_id}#{visitor['open_chat']['N']}"
    header = get(CHATS_TABLE, pk, "HEAD")

    is_new_window = now - int(header["rate_started_at"]["N"]) >= RATE_WINDOW_MS
    if not is_new_window and int(header["rate_count"]["N"]) >= int(limit):
        return reject(429, "rate_limited")
    seq = advance_header(pk, header, visitor, sender, text, limit, now, is_new_window)
    message_id = str(uuid.uuid4())
    client.put_item(
        TableName=CHATS_TABLE,
        Item={
            "pk": {"S": pk},
            "sk": {"S": seq.zfill(10)},
            "account_id": {"S": account_id},
            "chat_id": header["chat_id"],
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


def advance_header(
    pk: str, header: dict, visitor: dict, sender: dict, text: str, limit: str, now: int, is_new_window: bool
) -> str:
    """Assigns the next entry number and returns it."""
    update = (
        "SET #seq = #seq + :count, #updated_at = :now, #last_message = :preview, #visitor_name = :name, "
        "#has_numeric_id = :has_numeric_id, "
    )
    condition = "#state = :state AND #rate_started_at = :window"
    preview = {"from": {"S": "visitor"}, "kind": {"S": "text"}, "text": {"S": text[:MAX_PREVIEW_CHARS]}}
    values = {
        ":one": {"N": "1"},
        ":now": {"N": str(now)},
        ":preview": {"M": {**preview, "at": {"N": str(now)}}},
        ":name": visitor.get("name", {"S": "Anonymous"}),
        ":count": {"N": "1"},
        ":state": header["state"],
        ":window": header["rate_started_at"],
        ":has_numeric_id": {"BOOL": isinstance(sender["id"], int)},
    }
    if is_new_window:
        update += "#rate_started_at = :new_window, #rate_count = :one"
        values[":new_window"] = {"N": str(now)}
    else:
        update += "#rate_count = #rate_count + :one"
        condition += " AND #rate_count < :limit"
        values[":limit"] = {"N": limit}
    names = "seq updated_at last_message visitor_name has_numeric_id rate_count state rate_started_at"
    names += " typing_started_at typing_text"
    updated = client.update_item(
        TableName=CHATS_TABLE,
        Key={"pk": {"S": pk}, "sk": {"S": "HEAD"}},
        UpdateExpression=f"{update} REMOVE #typing_started_at, #typing_text",
        ConditionExpression=condition,
        ExpressionAttributeNames={f"#{name}": name for name in names.split()},
        ExpressionAttributeValues=values,
        ReturnValues="ALL_NEW",
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
    )
    return updated["Attributes"]["seq"]["N"]
