import assert from "node:assert/strict";
import { test } from "node:test";
import { englishLocale } from "./time";
import { compareNames } from "./words";

test("names are in natural order", () => {
  const names = ["Agent 10", "Agent 2", "agent 1", "Zoë", "Émile"].map((name) => ({ name }));
  assert.deepEqual(
    names.sort(compareNames).map(({ name }) => name),
    ["agent 1", "Agent 2", "Agent 10", "Émile", "Zoë"],
  );
});

test("dates are English, in the format of the browser's country", () => {
  const noon = Date.UTC(2026, 10, 20, 14, 5);
  const format = (language: string) =>
    new Intl.DateTimeFormat(englishLocale(language), {
      day: "numeric",
      month: "short",
      hour: "2-digit",
      minute: "2-digit",
      timeZone: "UTC",
    }).format(noon);
  assert.match(format("en-US"), /Nov 20.*02:05.PM/);
  assert.match(format("de"), /20 Nov.*14:05/);
  assert.match(format("ar-EG"), /^Nov 20/);
  for (const odd of ["en-US@posix", "", "C"]) assert.match(format(odd), /Nov/);
});
