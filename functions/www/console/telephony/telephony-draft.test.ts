import assert from "node:assert/strict";
import { test } from "node:test";
import type { Telephony } from "../../api/types";
import {
  balanceText,
  changesOf,
  createSigningSecret,
  DEFAULT_API_URL,
  draftOf,
  draftProblems,
  type TelephonyDraft,
} from "./telephony-draft";

const STORED: Telephony["telephony"] = {
  provider: "http",
  url: "https://gateway.example/calls",
  number: "+31201234567",
  channel_id: null,
  record: false,
  ring_seconds: 30,
  max_minutes: 120,
  countries: ["NL"],
  callbacks_per_number: 5,
  callbacks_per_day: 200,
  locked: false,
};

test("stored settings have no changes", () => {
  assert.equal(changesOf(STORED, draftOf(STORED)), undefined);
  assert.equal(changesOf(null, draftOf(null)), undefined);
});

test("only what differs is stored", () => {
  const draft = { ...draftOf(STORED), record: true, channel_id: "c1", ring_seconds: "45" };
  assert.deepEqual(changesOf(STORED, draft), { record: true, channel_id: "c1", ring_seconds: 45 });
  const withChannel = { ...STORED, channel_id: "c1" };
  assert.deepEqual(changesOf(withChannel, { ...draftOf(withChannel), channel_id: "" }), { channel_id: null });
});

test("another provider gets its own credentials, not those of the first one", () => {
  const draft = { ...draftOf(STORED), provider: "twilio" as const, account_sid: "AC1", auth_token: " t " };
  assert.deepEqual(changesOf(STORED, draft), { provider: "twilio", account_sid: "AC1", auth_token: "t" });
});

test("first settings contain all fields", () => {
  const draft = { ...draftOf(null), url: "https://g.example", signing_secret: "whsec_x", number: "+31201234567" };
  assert.deepEqual(changesOf(null, draft), {
    provider: "http",
    url: "https://g.example",
    signing_secret: "whsec_x",
    number: "+31201234567",
    ring_seconds: 30,
    max_minutes: 120,
    callbacks_per_number: 5,
    callbacks_per_day: 200,
  });
});

test("missing credentials and wrong numbers are reported", () => {
  const fields = (stored: Telephony["telephony"], changes: object) =>
    Object.keys(draftProblems(stored, { ...draftOf(stored), ...changes })).sort();
  assert.deepEqual(fields(STORED, {}), []);
  assert.deepEqual(fields(null, {}), ["number", "signing_secret", "url"]);
  assert.deepEqual(fields(STORED, { provider: "twilio" }), ["account_sid", "auth_token"]);
  assert.deepEqual(fields(STORED, { ring_seconds: "121", max_minutes: "many" }), ["max_minutes", "ring_seconds"]);
});

test("country codes are typed with commas or spaces", () => {
  const changes = (countries: string) => changesOf(STORED, { ...draftOf(STORED), countries });
  assert.deepEqual(changes("nl, be DE"), { countries: ["NL", "BE", "DE"] });
  assert.equal(changes(" nl "), undefined);
  assert.deepEqual(changes(""), { countries: [] });
  const draft = { ...draftOf(STORED), countries: "NL, Belgium" };
  assert.deepEqual(Object.keys(draftProblems(STORED, draft)), ["countries"]);
});

test("created secret has 32 bytes", () => {
  const secret = createSigningSecret();
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.notEqual(secret, createSigningSecret());
});

test("balance is shown in words", () => {
  assert.match(balanceText(-2), /^No minutes/);
  assert.equal(balanceText(1), "One minute is left.");
  assert.equal(balanceText(1200), "1,200 minutes are left.");
});

const { url: _, ...COMMON } = STORED;
const TWILIO = { ...COMMON, provider: "twilio" as const, account_sid: "AC1", api_url: "https://eu.example/" };

test("emptied API address restores the default", () => {
  assert.deepEqual(changesOf(TWILIO, { ...draftOf(TWILIO), api_url: " " }), { api_url: null });
});

test("another account or API needs its token", () => {
  const isMissing = (changes: Partial<TelephonyDraft>, stored = TWILIO) =>
    "auth_token" in draftProblems(stored, { ...draftOf(stored), ...changes });
  assert.ok(!isMissing({ number: "+31201234568" }));
  assert.ok(!isMissing({ account_sid: " AC1 ", api_url: "https://eu.example" }), "as the service stores them");
  assert.ok(isMissing({ account_sid: "AC2" }));
  assert.ok(isMissing({ api_url: "https://us.example/" }));
  assert.ok(isMissing({ api_url: "" }));
  assert.ok(!isMissing({ account_sid: "AC2", auth_token: "t" }));
  assert.ok(!isMissing({ api_url: "" }, { ...TWILIO, api_url: DEFAULT_API_URL }), "empty is the default");
});
