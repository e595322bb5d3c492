/* Google's evaluator, on the content security policies of the pages. */

import evaluator from "csp_evaluator/dist/evaluator.js";
import csp from "csp_evaluator/dist/csp.js";
import parser from "csp_evaluator/dist/parser.js";
import { finding, print, URLS } from "./pages.mjs";

// The local host has another port in each run.
const withoutPort = (value = "") => value.replace(/:\d+$/, "");
const found = [];
for (const [name, url] of Object.entries(URLS)) {
  const policy = (await fetch(url)).headers.get("content-security-policy");
  if (policy === null) found.push(finding("no policy", name));
  else
    for (const each of new evaluator.CspEvaluator(new parser.CspParser(policy).csp, csp.Version.CSP3).evaluate())
      found.push(
        finding(`type ${each.type}`, `${name}: ${each.directive} ${withoutPort(each.value)}`, each.description),
      );
}
print(found);
