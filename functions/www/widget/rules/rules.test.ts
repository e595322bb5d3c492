import assert from "node:assert/strict";
import { test } from "node:test";
import { holds, plainText, RuleEngine, type RuleCommand, type RuleContext } from "./rules";

const NOW = 1_000_000_000;
const context = (fields: Partial<RuleContext> = {}): RuleContext => ({
  now: NOW,
  isOnline: true,
  url: "https://shop.example/Shoes?size=42",
  pageOpenedAt: NOW - 10_000,
  siteOpenedAt: NOW - 60_000,
  ...fields,
});
const condition = (name: string, comparator: string, value: unknown) => ({ condition: name, comparator, value });

test("online condition compares the mode", () => {
  assert.equal(holds({ condition: "online", value: true }, context()), true);
  assert.equal(holds({ condition: "online", value: false }, context()), false);
  assert.equal(holds({ condition: "online", value: false }, context({ isOnline: false })), true);
});

test("time conditions compare seconds, also as strings", () => {
  assert.equal(holds(condition("time_on_page", "greater", 9), context()), true);
  assert.equal(holds(condition("time_on_page", "greater", 10), context()), false);
  assert.equal(holds(condition("time_on_page", "greater_equal", "10"), context()), true);
  assert.equal(holds(condition("time_on_site", "greater", "59"), context()), true);
  assert.equal(holds(condition("time_on_page", "less", 20), context()), false);
  assert.equal(holds(condition("time_on_page", "greater", "soon"), context()), false);
});

test("events that never happened", () => {
  assert.equal(holds(condition("time_after_close", "greater", 60), context()), true);
  assert.equal(holds(condition("time_after_invitation", "greater", 60), context()), true);
  assert.equal(holds(condition("time_after_first_message", "greater", 0), context()), false);
  assert.equal(holds(condition("time_after_close", "less", 60), context()), false);
});

test("events that happened", () => {
  const recent = context({ closedAt: NOW - 5000, invitedAt: NOW - 5000, firstMessageAt: NOW - 5000 });
  for (const name of ["time_after_close", "time_after_invitation", "time_after_first_message"]) {
    assert.equal(holds(condition(name, "greater", 6), recent), false);
    assert.equal(holds(condition(name, "greater_equal", 5), recent), true);
  }
});

test("page address contains or does not contain a part", () => {
  assert.equal(holds(condition("page_url", "contain", "/shoes"), context()), true);
  assert.equal(holds(condition("page_url", "contain", "/hats"), context()), false);
  assert.equal(holds(condition("page_url", "not_contain", "/hats"), context()), true);
  assert.equal(holds(condition("page_url", "equal", "/hats"), context()), false);
});

test("unknown condition makes a rule false", () => {
  assert.equal(holds(condition("moon_phase", "greater", 1), context()), false);
});

const rule = (fields: object = {}) => ({
  name: "Help",
  enabled: true,
  type: "all",
  conditions: [condition("time_on_page", "greater", 5), { condition: "online", value: true }],
  commands: [{ command: "proactive", params: { message: "Hello" } }],
  ...fields,
});

function engineWith(rules: unknown) {
  const executed: RuleCommand[] = [];
  const engine = new RuleEngine((command) => executed.push(command));
  engine.setRules(rules);
  return { engine, executed };
}

test("rule fires once when all its conditions hold", () => {
  const { engine, executed } = engineWith([rule()]);
  engine.evaluate(context({ pageOpenedAt: NOW - 5000 }));
  engine.evaluate(context({ isOnline: false }));
  assert.deepEqual(executed, []);
  engine.evaluate(context());
  engine.evaluate(context());
  assert.deepEqual(executed, [{ command: "proactive", params: { message: "Hello" } }]);
  assert.equal(engine.isWaiting, false);
  assert.equal(engine.usesMode, false);
});

test("waiting rule with the condition online uses the mode", () => {
  assert.equal(engineWith([rule()]).engine.usesMode, true);
  assert.equal(engineWith([rule({ conditions: [] })]).engine.usesMode, false);
  assert.equal(engineWith([rule({ enabled: false })]).engine.usesMode, false);
});

test("disabled rules, other types and wrong structures are skipped", () => {
  const { engine, executed } = engineWith([rule({ enabled: false }), rule({ type: "any" }), null, 7, "x"]);
  engine.evaluate(context());
  assert.deepEqual(executed, []);
  engine.setRules({ not: "a list" });
  assert.equal(engine.isWaiting, false);
});

test("new rules replace the old ones, and none switches all off", () => {
  const { engine, executed } = engineWith([rule()]);
  engine.setRules([]);
  engine.evaluate(context());
  assert.deepEqual(executed, []);
});

test("HTML in the texts of exported rules becomes text", () => {
  const table = [
    ["Hello", "Hello"],
    ["a < b & c > d", "a < b & c > d"],
    ['<span style="color: red">We are<br>\n<b>away</b></span>', "We are\naway"],
    ["<p>One</p><p>Two</p>", "One\nTwo"],
    ["Tom &amp; Jerry&nbsp;&#8211; &#x1F600; &unknown; &lt;b&gt;", "Tom & Jerry\u00a0– 😀 &unknown; <b>"],
    ["<script>alert(1)</script>Hi", "Hi"],
  ] as const;
  for (const [html, text] of table) assert.equal(plainText(html), text);
  const commands = [{ command: "open_offline", params: { title: "We<br>sleep", once_aday: true } }];
  const { engine, executed } = engineWith([rule({ commands })]);
  engine.evaluate(context());
  assert.deepEqual(executed, [{ command: "open_offline", params: { title: "We\nsleep", once_aday: true } }]);
});
