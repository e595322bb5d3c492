import{a as d,b as y,c as v}from"/console/assets/chunk-QMCJXVSP.js";import{a as u}from"/console/assets/chunk-UH7NGVHT.js";import{a as _,b as T,c as w}from"/console/assets/chunk-ARH44YIK.js";import{m as h}from"/console/assets/chunk-IOSJXWAZ.js";import{b}from"/console/assets/chunk-Q4UOK4GW.js";import{g as m}from"/console/assets/chunk-BORYWQPA.js";import{b as p,e as a,n as e,q as f,u as g}from"/console/assets/chunk-WX3KCQ2Z.js";var $=`<?php
// An integrator's server (specification, A-3): receives the messages of agents and bots to your visitors.
//
//     SIGNING_SECRET=whsec_... php -S 127.0.0.1:8001 integrator.php

/** Returns whether the request has a valid signature that is at most five minutes old (www.standardwebhooks.com). */
function is_signed(string $body): bool
{
    [$id, $time] = [$_SERVER['HTTP_WEBHOOK_ID'] ?? '', $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? ''];
    if (abs(time() - (int) $time) > 300) {
        return false;
    }
    $key = base64_decode(substr(getenv('SIGNING_SECRET'), strlen('whsec_')));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.$body", $key, true));
    $signatures = explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '');
    return (bool) array_filter($signatures, fn ($signature) => hash_equals($expected, $signature));
}

/**
 * Replace this function: forward the message to the visitor. The service may repeat a request. In
 * production, store the webhook-id of processed requests in your database.
 */
function forward_to_visitor(array $event): void
{
    $message = $event['message'];
    if (in_array($message['type'], ['typein', 'typeout'])) {
        return;
    }
    $text = $message['text'] ?? $message['file'] ?? $message['type'];
    file_put_contents('php://stdout', "{$event['sender']['name']} to {$event['recipient']['id']}: $text\\n");
}

function respond(int $status, array $body): void
{
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode($body);
}

$body = file_get_contents('php://input');
if (!is_signed($body)) {
    respond(401, ['error' => ['code' => 401, 'message' => 'wrong signature']]);
} else {
    forward_to_visitor(json_decode($body, true));
    respond(200, ['result' => 'ok']);
}
`;var S=`// An integrator's server (specification, A-3): receives the messages of agents and bots to your visitors.
//
//     PORT=8001 SIGNING_SECRET=whsec_... node integrator.js

import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.SIGNING_SECRET);
// The service may repeat a request. In production, store the ids of processed requests in your database.
const processedIds = new Set();

// Replace this function: forward the message to the visitor.
function forwardToVisitor({ sender, recipient, message }) {
    if (message.type === "typein" || message.type === "typeout") return;
    console.log(\`\${sender.name} to \${recipient.id}: \${message.text ?? message.file ?? message.type}\`);
}

function verifyRequest(body, headers) {
    try {
        return webhook.verify(body, headers);
    } catch {
        return null;
    }
}

async function handle(request, response) {
    const respond = (status, body) => {
        response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    };
    const event = verifyRequest(await text(request), request.headers);
    if (!event) return respond(401, { error: { code: 401, message: "wrong signature" } });
    const id = request.headers["webhook-id"];
    if (!processedIds.has(id)) {
        processedIds.add(id);
        forwardToVisitor(event);
    }
    respond(200, { result: "ok" });
}

createServer(handle).listen(process.env.PORT, "127.0.0.1");
`;var R=`"""An integrator's server (specification, A-3): receives the messages of agents and bots to your visitors.

    PORT=8001 SIGNING_SECRET=whsec_... python integrator.py
"""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SIGNING_SECRET"])
# The service may repeat a request. In production, store the ids of processed requests in your database.
processed_ids = set()


class Integrator(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            event = webhook.verify(body, dict(self.headers))
        except (WebhookVerificationError, ValueError):
            return self.respond(401, {"error": {"code": 401, "message": "wrong signature"}})
        if self.headers["webhook-id"] not in processed_ids:
            processed_ids.add(self.headers["webhook-id"])
            self.forward_to_visitor(event)
        self.respond(200, {"result": "ok"})

    def forward_to_visitor(self, event):
        """Replace this function: forward the message to the visitor."""
        message, visitor = event["message"], event["recipient"]["id"]
        if message["type"] not in ("typein", "typeout"):
            text = message.get("text") or message.get("file") or message["type"]
            print(f"{event['sender'].get('name')} to {visitor}: {text}", flush=True)

    def respond(self, status, body):
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Integrator).serve_forever()
`;function q({endpoint:t}){return e(p,{children:[e(u,{label:"Address to which your front end sends messages",name:"the address",text:t}),e(u,{label:"A message from a terminal",name:"the command",text:T(t)}),e(G,{endpoint:t})]})}function G({endpoint:t}){let{sync:o}=g(),[s,r]=a(!1),[n,i]=a(),c=_(t,location.origin);if(c===void 0)return null;let x=async()=>{if(s)return;r(!0);let l=await w(c);i(l),r(!1),l.isSuccess&&o.reconnectNow()};return e("div",{class:"test-message",children:[e("div",{children:e("button",{type:"button",class:"btn line","aria-disabled":s,onClick:()=>{x()},children:[e(f,{name:"send-horizontal"}),s?"Sending…":"Send a test message"]})}),e("div",{role:"status",children:n!==void 0&&e(N,{result:n})})]})}function N({result:t}){let{isSuccess:o,status:s,ms:r,request:n,responseBody:i}=t;return e("div",{class:"exchange",children:[e("p",{class:o?"test-result good":"test-result bad",children:[s===void 0?"The service did not respond.":`Status ${s} after ${h(r)}.`,o&&" The chat is in the inbox."]}),e(d,{label:"Request",text:v(n)}),i!==""&&e(d,{label:"Response",text:y(i)})]})}var P=[{value:"python",label:"Python"},{value:"node",label:"Node"},{value:"php",label:"PHP"}],E={python:R,node:S,php:$};function A(){let[t,o]=a(!1),[s,r]=a("python");return e("details",{class:"signature-code",onToggle:n=>o(n.currentTarget.open),children:[e("summary",{children:"Code that verifies the signature"}),t&&e("div",{class:"field",children:[e("div",{class:"signature-bar",children:[e(m,{name:"language",label:"Language",hidesLabel:!0,value:s,options:P,onChange:r}),e(b,{text:E[s],label:"Copy the code",caption:"Copy"})]}),e(d,{label:"Code",text:E[s]})]})]})}function Y({endpoint:t,signingSecret:o}){return e(p,{children:[e("p",{class:"quiet-text",children:"The address and the secret are shown only now. Keep the address secret: anyone who has it can write as a visitor."}),e(q,{endpoint:t}),e(u,{label:"Secret that signs the requests to your server",name:"the secret",text:o}),e(A,{})]})}export{q as a,A as b,Y as c};
