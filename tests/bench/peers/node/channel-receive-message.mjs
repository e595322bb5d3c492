/* The endpoint `channel-receive-message` for a visitor's text in an open chat, with the same requests to the tables as
   functions/channel/receive_message.rs. Any other message is an error. */

import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";

const { DIRECTORY_TABLE, CHATS_TABLE } = process.env;
const CACHE_TTL_MS = 10_000;
const RATE_WINDOW_MS = 10_000;
const RATE_SLOTS = 32;
const COUNTS_PER_WINDOW = 10_000;
const MAX_PREVIEW_CHARS = 80;
const client = new DynamoDBClient({});
const cache = new Map();

const sha256 = (text) => createHash("sha256").update(text).digest();

const get = async (table, pk, sk) => {
  const command = new GetItemCommand({ TableName: table, ConsistentRead: true, Key: { pk: { S: pk }, sk: { S: sk } } });
  return (await client.send(command)).Item;
};

const getCached = async (pk, sk) => {
  const key = `${pk} ${sk}`;
  const cached = cache.get(key);
  if (cached && Date.now() - cached.at < CACHE_TTL_MS) return cached.item;
  const item = await get(DIRECTORY_TABLE, pk, sk);
  cache.set(key, { at: Date.now(), item });
  return item;
};

const respond = (statusCode, body) => ({
  statusCode,
  headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" },
  body: JSON.stringify(body),
  isBase64Encoded: false,
});

const reject = (statusCode, code) => respond(statusCode, { error: { code, message: code } });

/** Counts the message in its rate window and assigns the next entry number. See
    shared/src/store/chats/visitors/visitor_message_rate.rs. */
const headerUpdate = (pk, visitor, sender, text, limit, now) => {
  const window = Math.floor(now / RATE_WINDOW_MS);
  const slot = `#rate_${window % RATE_SLOTS}`;
  const base = window * COUNTS_PER_WINDOW;
  const removed = ["#typing_started_at", "#typing_text"];
  for (let distance = 2; distance < RATE_SLOTS - 1; distance++)
    removed.push(`#rate_${(window + distance) % RATE_SLOTS}`);
  const update =
    "SET #seq = #seq + :count, #updated_at = :now, #last_message = :preview, #visitor_name = :name, " +
    `#has_numeric_id = :has_numeric_id, ${slot} = if_not_exists(${slot}, :no_messages) + :one ` +
    `REMOVE ${removed.join(", ")}`;
  const condition =
    "#state IN (:state_1, :state_2, :state_3) AND " +
    "(attribute_not_exists(#must_read_visitor) OR #must_read_visitor = :is_visitor_read) AND " +
    `(attribute_not_exists(${slot}) OR ${slot} BETWEEN :lowest AND :highest)`;
  const preview = { from: { S: "visitor" }, kind: { S: "text" }, text: { S: text.slice(0, MAX_PREVIEW_CHARS) } };
  return new UpdateItemCommand({
    TableName: CHATS_TABLE,
    Key: { pk: { S: pk }, sk: { S: "HEAD" } },
    UpdateExpression: update,
    ConditionExpression: condition,
    ExpressionAttributeNames: Object.fromEntries((update + condition).match(/#\w+/g).map((name) => [name, name.slice(1)])),
    ExpressionAttributeValues: {
      ":one": { N: "1" },
      ":now": { N: String(now) },
      ":preview": { M: { ...preview, at: { N: String(now) } } },
      ":name": { S: visitor.name?.S ?? "Anonymous" },
      ":count": { N: "1" },
      ":state_1": { S: "bot" },
      ":state_2": { S: "waiting" },
      ":state_3": { S: "active" },
      ":is_visitor_read": { BOOL: true },
      ":has_numeric_id": { BOOL: typeof sender.id === "number" },
      ":no_messages": { N: String(base) },
      ":lowest": { N: String(base) },
      ":highest": { N: String(base + limit - 1) },
    },
    ReturnValues: "ALL_NEW",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
};

export const handler = async (event) => {
  const { secret, channel_id: channelId } = event.pathParameters;
  const now = Date.now();
  const channel = await getCached(`CHANNEL#${channelId}`, "CHANNEL");
  const hash = sha256(secret);
  const isSecret = (stored) => timingSafeEqual(Buffer.from(stored.M.hash.S, "hex"), hash);
  if (!channel?.secrets.L.some(isSecret)) return reject(404, "not_found");
  if (!channel.enabled.BOOL) return reject(403, "channel_disabled");

  const { sender, message } = JSON.parse(event.body);
  const text = message.text.slice(0, 4096);
  const accountId = channel.account_id.S;
  const settings = await getCached(`ACCOUNT#${accountId}`, "SETTINGS");
  const limit = settings.settings.M.limits.M.visitor_messages.N;

  const visitorHash = sha256(String(sender.id)).toString("hex");
  const visitor = await get(CHATS_TABLE, `VISITOR#${channelId}#${visitorHash}`, "VISITOR");
  const chatId = visitor.open_chat;
  const pk = `CHAT#${accountId}#${chatId.N}`;
  const updated = await client.send(headerUpdate(pk, visitor, sender, text, Number(limit), now));

  const seq = updated.Attributes.seq.N;
  const id = randomUUID();
  await client.send(
    new PutItemCommand({
      TableName: CHATS_TABLE,
      Item: {
        pk: { S: pk },
        sk: { S: seq.padStart(10, "0") },
        account_id: { S: accountId },
        chat_id: chatId,
        seq: { N: seq },
        id: { S: id },
        from: { S: "visitor" },
        content: { M: { kind: { S: "text" }, text: { S: text } } },
        at: { N: String(now) },
      },
      ConditionExpression: "attribute_not_exists(pk)",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    }),
  );
  console.log(JSON.stringify({ level: "INFO", route: event.routeKey, message_id: id, message: "request answered" }));
  return respond(200, { result: "ok" });
};
