import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEntry } from "../../api/types";
import { actionText, auditQuery, fieldText, INITIAL_AUDIT_FILTER, resourceName, resourceRoute } from "./audit-model";

const ENTRY: AuditEntry = {
  id: "1-a",
  timestamp: 1_700_000_000,
  agent: { id: 1, name: "Marta" },
  source_address: "192.0.2.1",
  action: "changed",
  kind: "channel",
  resource_id: "c1",
  resource_name: "Shop",
  fields: ["name"],
};

test("query contains only what is chosen", () => {
  assert.deepEqual(auditQuery(INITIAL_AUDIT_FILTER, 100_000), {});
  assert.deepEqual(auditQuery({ kind: "bot", agent: "2", period: "day" }, 100_000), {
    kind: "bot",
    agent_id: 2,
    from: 13_600,
  });
});

test("changes are described, and lead to what was changed", () => {
  assert.equal(actionText(ENTRY), "Channel changed");
  assert.equal(actionText({ kind: "webhook", action: "rotated" }), "Webhook secret replaced");
  assert.deepEqual(resourceRoute(ENTRY), { section: "channels", id: undefined, path: "c1" });
  assert.equal(resourceRoute({ ...ENTRY, action: "deleted" }), undefined);
  assert.equal(resourceRoute({ ...ENTRY, kind: "canned_reply" }), undefined);
  assert.deepEqual(resourceRoute({ ...ENTRY, kind: "telephony" }), { section: "telephony", id: undefined });
  assert.deepEqual(resourceRoute({ ...ENTRY, kind: "department", resource_id: "3" }), {
    section: "team",
    id: undefined,
    path: "departments/3",
  });
  assert.equal(actionText({ kind: "visitor", action: "merged" }), "Visitor merged");
  const refused = { ...ENTRY, kind: "session", action: "sign_in_refused", resource_id: "1" } as const;
  assert.equal(actionText(refused), "Sign-in refused");
  assert.deepEqual(resourceRoute(refused), { section: "team", id: undefined, path: "1" });
  assert.equal(
    resourceName({ ...ENTRY, kind: "chats", action: "exported", resource_id: "", resource_name: null }, undefined),
    "Closed chats",
  );
  assert.equal(resourceName(ENTRY, undefined), "Shop");
  assert.equal(
    resourceName({ ...ENTRY, kind: "settings", resource_name: null, resource_id: "" }, undefined),
    "Settings of the account",
  );
});

test("webhooks and fields are shown in words, not as ids", () => {
  const webhook: AuditEntry = { ...ENTRY, kind: "webhook", resource_name: null, resource_id: "wh1" };
  assert.equal(resourceName(webhook, new Map([["wh1", "crm.example/hook"]])), "crm.example/hook");
  assert.equal(resourceName(webhook, new Map()), "A deleted webhook");
  assert.equal(resourceName(webhook, undefined), "wh1");
  assert.equal(fieldText("limits.bot_requests"), "limits: bot requests");
  assert.equal(fieldText("safe_urls"), "allowed domains");
});
