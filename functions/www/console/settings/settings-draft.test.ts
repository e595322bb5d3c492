import assert from "node:assert/strict";
import { test } from "node:test";
import type { AccountSettings } from "../../api/types";
import {
  changesOf,
  draftOf,
  draftProblems,
  idleCloseText,
  minutesText,
  offsetText,
  retentionText,
  type SettingsDraft,
} from "./settings-draft";
import { timeZoneNames } from "../../ui/time-zones";

const STORED: AccountSettings = {
  webhook_url: null,
  webhooks: [],
  safe_urls: ["shop.example"],
  rules: [],
  callback: { enabled: false, days: [1, 2, 3, 4, 5], from: "09:00", to: "18:00", utc_offset: 0 },
  limits: { visitor_messages: 30, bot_requests: 300, channel_chats: 300 },
  idle_close: 1440,
  retention_days: null,
  time_zone: "UTC",
  business_hours: null,
  files: { enabled: true, max_size_bytes: 20 * 1024 ** 2, types: ["image/png"], link_days: 30 },
  assignment: null,
  answer_times: null,
  email: null,
  email_domain: null,
  allows_http_receivers: true,
  aws_external_id: "a1",
};
const DRAFT = draftOf(STORED);
const changed = (changes: Partial<SettingsDraft>) => changesOf(STORED, { ...DRAFT, ...changes });

test("only changed settings are sent", () => {
  assert.equal(changed({}), undefined);
  assert.equal(changed({ safe_urls: "https://shop.example/help\n" }), undefined);
  assert.deepEqual(changed({ safe_urls: "" }), { safe_urls: [] });
  assert.deepEqual(changed({ limits: { ...DRAFT.limits, bot_requests: "50" } }), { limits: { bot_requests: 50 } });
  assert.deepEqual(changed({ idle_close: undefined, retention_days: "30" }), { idle_close: null, retention_days: 30 });
  assert.deepEqual(changed({ files: { enabled: false, megabytes: "5", link_days: "30" } }), {
    files: { enabled: false, max_size_bytes: 5 * 1024 ** 2 },
  });
  const tag = { name: "VIP", color: "red" as const };
  assert.deepEqual(changed({ tags: [tag] }), { tags: [tag] });
  assert.deepEqual(changed({ time_zone: "Europe/Berlin" }), { time_zone: "Europe/Berlin" });
  assert.deepEqual(changed({ callback: { ...DRAFT.callback, enabled: true, days: [6] } }), {
    callback: { enabled: true, days: [6] },
  });
});

test("a stored assignment is not a change, whatever the order of its fields", () => {
  const answer_times = { next_answer_seconds: 90, first_answer_seconds: null };
  const assignment = { mode: "least_busy" as const, capacity: 6, offer_seconds: 120 };
  const stored = { ...STORED, assignment, answer_times };
  assert.equal(changesOf(stored, draftOf(stored)), undefined);
});

test("texts that are not whole numbers are reported at their fields", () => {
  assert.deepEqual(draftProblems(DRAFT), {});
  const limits = { ...DRAFT.limits, visitor_messages: "many" };
  const problems = draftProblems({ ...DRAFT, limits, idle_close: "0", retention_days: "" });
  assert.deepEqual(problems, {
    "limits.visitor_messages": "Enter a whole number.",
    idle_close: "Enter 1 or more.",
    retention_days: "Enter a whole number.",
  });
});

test("each tag needs a name", () => {
  const problems = draftProblems({ ...DRAFT, tags: [{ name: " ", color: "red" }] });
  assert.deepEqual(problems, { tags: "Enter a name for each tag." });
});

test("callback hours need a day, and may end on the next one", () => {
  const callback = { ...DRAFT.callback, days: [], from: "18:00", to: "09:00" };
  assert.deepEqual(draftProblems({ ...DRAFT, callback }), {});
  const problems = draftProblems({ ...DRAFT, callback: { ...callback, enabled: true } });
  assert.deepEqual(Object.keys(problems), ["callback.days"]);
});

test("time zones contain UTC and the stored one", () => {
  const names = timeZoneNames("Europe/Kiev");
  for (const name of ["UTC", "Europe/Berlin", "Europe/Kiev"]) assert.ok(names.includes(name), name);
  assert.equal(names.filter((name) => name === "UTC").length, 1);
  assert.deepEqual(names, [...names].sort());
});

test("times are written in words", () => {
  assert.equal(minutesText(1440), "one day");
  assert.equal(minutesText(180), "3 hours");
  assert.equal(minutesText(90), "90 minutes");
  assert.match(idleCloseText("1440"), /after one day without a message/);
  assert.match(idleCloseText(undefined), /stay open/);
  assert.equal(idleCloseText("x"), "");
  assert.match(retentionText("365"), /365 days after they were written/);
  assert.match(retentionText(undefined), /are kept until/);
  assert.equal(offsetText(330), "UTC+05:30");
  assert.equal(offsetText(-480), "UTC−08:00");
});

test("stored retention is either one of the choices or typed", () => {
  const isTyped = (retention_days: number | null) => draftOf({ ...STORED, retention_days }).hasOwnRetention;
  assert.deepEqual([null, 30, 45, 1095].map(isTyped), [false, false, true, false]);
});
