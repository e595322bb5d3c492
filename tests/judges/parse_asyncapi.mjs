// Prints the diagnostics of the AsyncAPI document whose path is the argument, as JSON.

import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";

const { diagnostics } = await new Parser().parse(readFileSync(process.argv[2], "utf8"));
console.log(JSON.stringify(diagnostics));
