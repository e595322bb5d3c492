/* A bounded load for k6: visitors write, and pages are opened. Every response must have the status 200. k6 ends with
   the status 99 if it does not finish all iterations in time. */

import { check, sleep } from "k6";
import http from "k6/http";

const iterations = 200;
const visitors = { executor: "shared-iterations", vus: 10, iterations, maxDuration: "60s" };
export const options = { scenarios: { visitors }, thresholds: { iterations: [`count==${iterations}`] } };

export default function () {
  const sender = { id: `${__VU}-${Math.floor(__ITER / 10)}` };
  const body = JSON.stringify({ sender, message: { type: "text", text: `message ${__ITER}` } });
  const responses = {
    message: http.post(__ENV.CHANNEL_URL, body),
    status: http.get(`${__ENV.CHANNEL_URL}/status`),
    console: http.get(`${__ENV.BASE_URL}/console/`),
    reference: http.get(`${__ENV.BASE_URL}/reference`),
  };
  for (const [name, response] of Object.entries(responses)) check(response, { [name]: ({ status }) => status === 200 });
  sleep(0.1);
}
