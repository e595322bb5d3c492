/* Reads requests from standard input. Writes the attributes and the data that the SDK of CloudEvents finds in each. */

import { readFileSync } from "node:fs";
import { HTTP } from "cloudevents";

function parse({ headers, body }) {
  const event = HTTP.toEvent({ headers, body });
  event.validate();
  const { data, time, ...attributes } = event.toJSON();
  return { attributes: { ...attributes, time: Date.parse(time) / 1000 }, data };
}

console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(parse)));
