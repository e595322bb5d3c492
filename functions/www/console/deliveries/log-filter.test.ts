import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bot, Channel, DeliveryLogEntry, Webhook } from "../../api/types";
import {
  addressOf,
  attemptText,
  filterOf,
  filterProblem,
  INITIAL_FILTER,
  isReplayable,
  queryOf,
  receiverName,
  replayScope,
  resultText,
  sentName,
} from "./log-filter";

const NOW = 1_700_000_000;
const filter = (changes: object) => ({ ...INITIAL_FILTER, ...changes });
const ROW: DeliveryLogEntry = {
  chat_id: 7,
  seq: 3,
  id: "01",
  target: "webhook",
  type: "chat_accepted",
  channel_id: "c1",
  since: NOW,
  state: "failed",
  attempts: [],
};

test("filter becomes the query of a request", () => {
  assert.deepEqual(queryOf(INITIAL_FILTER, NOW), { state: "failed" });
  assert.deepEqual(queryOf(filter({ state: "delivered", target: "bot", channelId: "c1", chat: " #12 " }), NOW), {
    state: "delivered",
    target: "bot",
    channel_id: "c1",
    chat_id: 12,
  });
  assert.deepEqual(queryOf(filter({ period: "hour" }), NOW), { state: "failed", from: NOW - 3600 });
  const at = new Date(2026, 10, 22, 8, 30).getTime() / 1000;
  assert.deepEqual(queryOf(filter({ period: "range", from: "2026-11-22T08:30", to: "2026-11-22T08:31" }), NOW), {
    state: "failed",
    from: at,
    to: at + 119,
  });
  assert.deepEqual(queryOf(filter({ period: "range" }), NOW), { state: "failed" });
});

test("wrong chat number and reversed period are reported", () => {
  assert.equal(filterProblem(INITIAL_FILTER), undefined);
  for (const chat of ["x", "0", "1.5", "-1"]) assert.equal(filterProblem(filter({ chat }))?.field, "chat", chat);
  const range = { period: "range", from: "2026-11-22T08:31", to: "2026-11-22T08:30" };
  assert.equal(filterProblem(filter(range))?.field, "to");
  assert.equal(filterProblem(filter({ ...range, to: range.from })), undefined);
});

test("replay covers a chat, or the period of the filter", () => {
  assert.deepEqual(replayScope(filter({ chat: "12", target: "bot" }), NOW), { chat_id: 12 });
  assert.deepEqual(replayScope(INITIAL_FILTER, NOW), { from: 0, to: NOW });
  assert.deepEqual(replayScope(filter({ period: "day", target: "webhook", channelId: "c1" }), NOW), {
    from: NOW - 86_400,
    to: NOW,
    target: "webhook",
    channel_id: "c1",
  });
});

test("replay of calls, or of a wrong filter, is refused", () => {
  const range = { period: "range", from: "2026-11-22T08:31", to: "2026-11-22T08:30" };
  for (const wrong of [{ target: "call" }, { target: "call", chat: "12" }, { chat: "12a" }, range])
    assert.equal(replayScope(filter(wrong), NOW), undefined, JSON.stringify(wrong));
});

test("rows name what was sent, to whom, and the result", () => {
  assert.equal(sentName(ROW), "chat_accepted");
  assert.equal(sentName({ target: "bot", type: "text" }), "CLIENT_MESSAGE");
  assert.equal(sentName({ target: "bot", type: "chat_closed" }), "CHAT_CLOSED");
  assert.equal(sentName({ target: "bot", type: "chat_returned" }), "CHAT_RETURNED");
  assert.equal(sentName({ target: "channel", type: "photo" }), "Photo");
  const receivers = {
    channels: [{ channel_id: "c1", kind: "api", integrator_url: "https://app.example/chat/" } as Channel],
    webhooks: [
      { webhook_id: "w1", url: "https://crm.example/hooks", events: [] } as unknown as Webhook,
      { webhook_id: "w3", url: null, events: [] } as unknown as Webhook,
    ],
    bots: [{ name: "Parcel bot", channel_ids: ["c1"] } as unknown as Bot],
  };
  assert.equal(receiverName({ ...ROW, webhook_id: "w1" }, receivers), "crm.example/hooks");
  assert.equal(receiverName({ ...ROW, webhook_id: "w3" }, receivers), "Fetched by a program (w3)");
  assert.equal(receiverName({ ...ROW, webhook_id: "w2" }, receivers), "A deleted webhook");
  assert.equal(receiverName({ ...ROW, target: "channel" }, receivers), "app.example/chat");
  assert.equal(receiverName({ ...ROW, target: "bot" }, receivers), "Parcel bot");
  assert.equal(receiverName({ ...ROW, target: "call" }, receivers), "The telephony provider");
  // Until the receivers are loaded, it is not known whether they have been deleted.
  assert.equal(receiverName({ ...ROW, webhook_id: "w1" }, undefined), "A webhook");
  assert.equal(receiverName({ ...ROW, target: "channel" }, undefined), "A channel");

  const attempts = [{ at: 1, ms: 3000, error: "no response within 3 s" }];
  assert.equal(resultText({ ...ROW, attempts }), "no response within 3 s");
  assert.equal(resultText({ ...ROW, state: "delivered", attempts: [{ at: 1, ms: 84, status: 200 }] }), "200");
  assert.equal(resultText({ ...ROW, state: "pending" }), "Not sent yet");
  assert.equal(resultText({ ...ROW, error: { message: "FAILURE" }, attempts }), "FAILURE");
});

test("failed calls are not sent again", () => {
  assert.ok(isReplayable(ROW));
  assert.ok(!isReplayable({ ...ROW, target: "call" }));
  assert.ok(!isReplayable({ ...ROW, state: "delivered" }));
});

test("filter is kept in the page's address", () => {
  assert.equal(addressOf(INITIAL_FILTER), "");
  const chosen = filter({ state: "all", target: "bot", chat: "12", period: "range", from: "2026-11-20T08:00" });
  assert.equal(addressOf(chosen), "state=all&target=bot&chat=12&period=range&from=2026-11-20T08%3A00");
  assert.deepEqual(filterOf(addressOf(chosen)), chosen);
  assert.deepEqual(filterOf("state=lost&target=nobody&period=ever"), INITIAL_FILTER);
  assert.equal("state" in queryOf(chosen, NOW), false, "all states");
});

test("status of an attempt is said once", () => {
  assert.equal(attemptText({ status: 503, error: "HTTP 503" }), "HTTP 503");
  assert.equal(attemptText({ status: 200, error: "The CRM is down" }), "200 The CRM is down");
  assert.equal(attemptText({ status: 200 }), "200");
  assert.equal(attemptText({ error: "no response within 3 seconds" }), "no response within 3 seconds");
  assert.equal(attemptText({}), "No response");
});
