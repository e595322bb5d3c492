import assert from "node:assert/strict";
import { test } from "node:test";
import { SECTIONS, visibleSections } from "./sections";
import * as pageRoutes from "./state/page/page-routes";
import { hrefOf, parseRoute } from "./state/page/route";

const names = (isAdmin: boolean) => visibleSections(isAdmin).map(({ name }) => name);

test("only the inbox and the visitors are for agents who are not admins", () => {
  assert.deepEqual(names(false), ["inbox", "visitors"]);
  assert.equal(new Set(names(true)).size, SECTIONS.length);
});

test("routes of pages lead to a section", () => {
  const sections = names(true);
  const routes = Object.values(pageRoutes).map((route) => (typeof route === "function" ? route(7 as never) : route));
  const offered = SECTIONS.flatMap(({ furtherPages = [] }) => furtherPages.map(({ route }) => route));
  for (const href of [...routes, ...offered].map(hrefOf)) assert.equal(hrefOf(parseRoute(href, sections)), href);
});
