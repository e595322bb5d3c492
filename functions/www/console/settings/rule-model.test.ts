import assert from "node:assert/strict";
import { test } from "node:test";
import { RuleEngine, type RuleCommand } from "../../widget/rules/rules";
import {
  COMMANDS,
  CONDITIONS,
  formatRules,
  newCommand,
  newCondition,
  newRule,
  parseRules,
  ruleErrorText,
  ruleProblems,
  ruleIndex,
} from "./rule-model";

const problemOf = (value: unknown) => {
  const parsed = parseRules(typeof value === "string" ? value : JSON.stringify(value));
  return "problem" in parsed ? parsed.problem : undefined;
};
const RULE = newRule("Help");

test("exported rules can be imported, even with unknown parts", () => {
  const rules = [RULE, { ...RULE, note: 1, conditions: [{ condition: "moon", value: "full" }], commands: [] }];
  assert.deepEqual(parseRules(formatRules(rules)), { rules });
});

test("JSON that is not a list of rules is refused with the reason", () => {
  assert.match(problemOf("[{") ?? "", /not JSON/);
  assert.match(problemOf({}) ?? "", /must be a list/);
  const table: [unknown, RegExp][] = [
    ["x", /Rule 2 must be an object/],
    [{ ...RULE, name: 7 }, /Rule 2 needs a name/],
    [{ ...RULE, enabled: "yes" }, /needs enabled/],
    [{ ...RULE, type: "any" }, /needs the type "all"/],
    [{ ...RULE, conditions: undefined }, /needs the list conditions/],
    [{ ...RULE, commands: [{}] }, /needs a command in each/],
  ];
  for (const [rule, expected] of table) assert.match(problemOf([RULE, rule]) ?? "", expected);
});

test("the widget executes a rule as the form creates it", () => {
  const executed: RuleCommand[] = [];
  const engine = new RuleEngine((command) => executed.push(command));
  const command = { ...newCommand("proactive"), params: { message: "Hello" } };
  engine.setRules([{ ...RULE, commands: [command] }]);
  const context = { isOnline: true, url: "https://shop.example/", pageOpenedAt: 0, siteOpenedAt: 0 };
  engine.evaluate({ ...context, now: 30_000 });
  assert.deepEqual(executed, []);
  engine.evaluate({ ...context, now: 31_000 });
  assert.deepEqual(executed, [command]);
});

test("new conditions and commands have the fields of their kind", () => {
  assert.deepEqual(newCondition("page_url"), { condition: "page_url", comparator: "contain", value: "" });
  assert.deepEqual(newCondition("online"), { condition: "online", value: true });
  assert.deepEqual(newCommand("show_callform").params, { title: "", once_aday: false });
  assert.deepEqual(newCommand("open_offline"), { command: "open_offline", params: { title: "", message: "" } });
  assert.equal(
    new Set([...CONDITIONS, ...COMMANDS].map(({ label }) => label)).size,
    CONDITIONS.length + COMMANDS.length,
  );
});

test("errors of the service count rules from one", () => {
  assert.equal(ruleErrorText("rules[0].name must be a string"), "Rule 1, name must be a string");
  assert.equal(
    ruleErrorText("rules[1].commands[0].params.message must be a string"),
    "Rule 2, command 1, params.message must be a string",
  );
  assert.equal(ruleErrorText("rules must be a list"), "rules must be a list");
  assert.deepEqual(["rules[12].name", "rules", undefined].map(ruleIndex), [12, undefined, undefined]);
});

test("invitation without a text is reported at its rule", () => {
  const rule = newRule("Help");
  const greeting = { command: "proactive", params: { message: "Hello" } };
  const rules = [
    { ...rule, commands: [greeting] },
    { ...rule, commands: [greeting, newCommand("system_message")] },
    { ...rule, commands: [newCommand("show_callform"), { command: "sing" }] },
  ];
  assert.deepEqual(ruleProblems(rules), { 1: "Enter the text of command 2." });
});
