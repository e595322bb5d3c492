import assert from "node:assert/strict";
import { test } from "node:test";
import type { WidgetChannel } from "../../api/types";
import { withEdits } from "../admin/form-changes";
import { parseSites } from "../admin/parse-sites";
import {
  changesOf,
  completeColor,
  completeLauncher,
  draftOf,
  draftProblems,
  withField,
  type WidgetDraft,
} from "./widget-draft";

const STORED: WidgetChannel = {
  channel_id: "w1",
  kind: "widget",
  widget_id: "w1",
  name: "Shop",
  enabled: true,
  snippet: "",
  agent_ids: [],
  department_ids: [],
  business_hours: null,
  bot_id: null,
  created_at: 1_700_000_000,
  widget: {
    color: "#00464a",
    color2: null,
    theme: "system",
    position: "right",
    launcher: { hidden: false, offset_x: 20, offset_y: 20, z_index: 2_147_483_000 },
    title: "Acme",
    greeting: null,
    avatar: null,
    language: "auto",
    texts: { send: "Go" },
    allowed_sites: ["shop.example"],
    contacts_form: { when: "never", fields: ["name", "email", "phone"], required: ["email"], custom_fields: [] },
    rating: true,
    sound: true,
    typing_preview: true,
    reply_time: null,
    moved_from: null,
  },
};

const changed = (changes: Partial<WidgetDraft>, settings: Partial<WidgetDraft["settings"]> = {}) => {
  const draft = draftOf(STORED);
  return changesOf(STORED, { ...draft, ...changes, settings: { ...draft.settings, ...settings } });
};

test("unchanged draft needs no request", () => {
  assert.equal(changed({}), undefined);
  assert.equal(changed({ name: " Shop ", sites: "https://shop.example/cart\n" }, { greeting: "  " }), undefined);
});

test("only changed settings are sent", () => {
  assert.deepEqual(changed({ name: "Store" }), { name: "Store" });
  assert.deepEqual(changed({ enabled: false }), { enabled: false });
  assert.deepEqual(changed({ audience: { agent_ids: [7], department_ids: [] } }), { agent_ids: [7] });
  assert.deepEqual(changed({ sites: "" }), { widget: { allowed_sites: [] } });
  assert.deepEqual(changed({}, { greeting: " Hi ", position: "left" }), {
    widget: { greeting: "Hi", position: "left" },
  });
  assert.deepEqual(changed({}, { texts: { send: " " } }), { widget: { texts: {} } });
});

test("edits and what another admin has stored are preserved", () => {
  const before = draftOf(STORED);
  const after = { ...before, settings: { ...before.settings, title: "Acme shop", texts: {} } };
  const audience = { agent_ids: [], department_ids: [3] };
  const stored = { ...before, name: "Store", audience, settings: { ...before.settings, greeting: "Hi" } };
  const edited = withEdits(stored, before, after, ["audience", "settings"]);
  assert.deepEqual(edited, { ...stored, settings: { ...stored.settings, title: "Acme shop", texts: {} } });
  const withAgent = { ...before, audience: { agent_ids: [7], department_ids: [] } };
  const both = withEdits(stored, before, withAgent, ["audience", "settings"]).audience;
  assert.deepEqual(both, { agent_ids: [7], department_ids: [3] });
});

test("sites may be typed as addresses of pages", () => {
  assert.deepEqual(
    parseSites("https://shop.example/a?b, *.acme.example;localhost:8080\n\nshop.example  http://[::1]:3000/"),
    ["shop.example", "*.acme.example", "localhost", "[::1]"],
  );
  assert.deepEqual(parseSites(" \n"), []);
  assert.deepEqual(parseSites("a.*.example"), ["a.*.example"], "the service refuses it with its own words");
});

test("a field that is not asked for is not required", () => {
  const form = STORED.widget.contacts_form;
  assert.deepEqual(withField(form, "fields", "email", false), { ...form, fields: ["name", "phone"], required: [] });
  assert.deepEqual(withField(form, "required", "name", true).required, ["name", "email"]);
  const without = { ...form, fields: [], required: [] };
  assert.deepEqual(withField(without, "fields", "phone", true).fields, ["phone"]);
});

test("empty name, title and form are reported at their fields", () => {
  const draft = draftOf(STORED);
  assert.deepEqual(draftProblems(draft), {});
  const contacts_form = { ...draft.settings.contacts_form, when: "after_first_message" as const };
  const settings = { ...draft.settings, title: " ", contacts_form: { ...contacts_form, fields: [], required: [] } };
  assert.deepEqual(Object.keys(draftProblems({ ...draft, name: "", settings })), [
    "name",
    "widget.title",
    "widget.contacts_form.fields",
  ]);
});

test("preview keeps the stored colour until a new one is complete", () => {
  assert.equal(completeColor("#12", "#00464a"), "#00464a");
  assert.equal(completeColor("#ABCDEF", "#00464a"), "#ABCDEF");
  assert.equal(completeColor<string | null>("", null), "");
  assert.equal(completeColor<string | null>(null, "#ffffff"), null);
});

test("numbers of the launcher must be in their ranges", () => {
  const draft = draftOf(STORED);
  const { launcher } = draft.settings;
  const problemsWith = (changes: Partial<typeof launcher>) =>
    Object.keys(draftProblems({ ...draft, settings: { ...draft.settings, launcher: { ...launcher, ...changes } } }));
  assert.deepEqual(problemsWith({ offset_x: 400, offset_y: 0, z_index: 1 }), []);
  assert.deepEqual(problemsWith({ offset_x: 401, offset_y: NaN, z_index: 0 }), [
    "widget.launcher.offset_x",
    "widget.launcher.offset_y",
    "widget.launcher.z_index",
  ]);
  const typed = { ...launcher, hidden: true, offset_x: 401, offset_y: 80, z_index: NaN };
  assert.deepEqual(completeLauncher(typed, launcher), { ...launcher, hidden: true, offset_y: 80 });
});
