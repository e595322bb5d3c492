import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import {
  catalogueLanguages,
  catalogueProblems,
  findBareTexts,
  findKeys,
  readCatalogue,
  sourceFiles,
} from "./extract.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const files = sourceFiles(ROOT);
const keys = findKeys(files);

test("the console has no English text outside t, tIn, plural and rich", () => {
  assert.deepEqual(findBareTexts(files), []);
});

for (const language of catalogueLanguages(ROOT))
  test(`${language} has each text of the console with its places`, () => {
    assert.deepEqual(catalogueProblems(language, readCatalogue(ROOT, language), keys), []);
  });

const parse = (text) => [ts.createSourceFile("a.tsx", text, ts.ScriptTarget.Latest, true)];

test("keys are found in templates, plurals and contexts", () => {
  const found = findKeys(
    parse(
      't`To ${a} of ${b()}`; rich`See ${(<a />)}.`; plural(n, "{count} cat", "{count} cats"); tIn("noun", "Reply")',
    ),
  );
  assert.deepEqual(
    [...found],
    [
      ["To {0} of {1}", undefined],
      ["See {0}.", undefined],
      ["{count} cats", { one: "{count} cat", other: "{count} cats" }],
      ["Reply (noun)", undefined],
    ],
  );
  assert.throws(() => findKeys(parse("plural(n, one, other)")), /not a literal text/);
});

test("bare texts are found in elements and attributes", () => {
  const found = findBareTexts(
    parse('<p title="Old">Hello {"world"} {t`ok`} 12 <b class="x">{a ? "Yes" : `No`}</b></p>'),
  );
  assert.deepEqual(
    found.map((line) => line.replace(/^a\.tsx:\d+: /, "")),
    ["Old", "Hello", "world", "Yes", "No"],
  );
});

test("faulty catalogue is reported", () => {
  const known = new Map([
    ["Send", undefined],
    ["To {0}", undefined],
    ["{count} cats", { one: "{count} cat", other: "{count} cats" }],
  ]);
  const problems = catalogueProblems(
    "pl",
    { "To {0}": "Do", "{count} cats": { one: "kot", few: "{count} koty", other: "{count} kota" }, Old: "Stare" },
    known,
  );
  assert.deepEqual(problems, [
    'lacks "Send"',
    'has other placeholders than "To {0}": "Do"',
    'lacks the form "many" of "{count} cats"',
    'has other placeholders than "{count} cats": "kot"',
    'has "Old" without need',
  ]);
});
