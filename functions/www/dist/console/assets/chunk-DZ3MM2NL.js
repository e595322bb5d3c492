import{a as b,b as T,c as S}from"/console/assets/chunk-TVPFELCB.js";import{a as h,b as $,c as _}from"/console/assets/chunk-W7KRQF33.js";import{a as c}from"/console/assets/chunk-ZLCVL47V.js";import{m as v}from"/console/assets/chunk-OHEI4EBY.js";import{F as f,I as e,K as g,N as y,Sa as w,a as u,c as d,l as t}from"/console/assets/chunk-WTY6DKZO.js";var E=`<?php
// An integrator's server (A-3 in docs/specification.md): receives the messages of agents and bots to your visitors.
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

/** Replace this function: forward the message to the visitor. */
function forward_to_visitor(array $event): void
{
    $message = $event['message'];
    if (in_array($message['type'], ['typein', 'typeout'])) {
        return;
    }
    $text = $message['text'] ?? $message['file'] ?? $message['type'];
    file_put_contents('php://stdout', "{$event['sender']['name']} to {$event['recipient']['id']}: $text\\n");
}

/** Forwards a message, unless it was forwarded before. In production, store the ids in your database. */
function forward_once(array $event, string $id): void
{
    $marker = sys_get_temp_dir() . '/forwarded-' . hash('sha256', $id);
    if (file_exists($marker)) {
        return;
    }
    forward_to_visitor($event);
    // Only now: an id that is stored before the message was forwarded loses the message if forwarding fails.
    touch($marker);
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
    exit;
}
$event = json_decode($body, true);
if (!is_array($event)) {
    respond(400, ['error' => ['code' => 400, 'message' => 'the body is not JSON']]);
    exit;
}
try {
    forward_once($event, $_SERVER['HTTP_WEBHOOK_ID']);
    respond(200, ['result' => 'ok']);
} catch (Throwable $error) {
    // Any status but 200 makes the service send the message again, three times in all. Without this, PHP may show the
    // error with status 200.
    error_log((string) $error);
    respond(500, ['error' => ['code' => 500, 'message' => 'the message was not forwarded']]);
}
`;var R=`// An integrator's server (A-3 in docs/specification.md): receives the messages of agents and bots to your visitors.
//
//     PORT=8001 SIGNING_SECRET=whsec_... node integrator.js

import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.SIGNING_SECRET);
// The service repeats a request that failed. In production, store the ids of forwarded messages in your database.
const forwardedIds = new Set();

// Replace this function: forward the message to the visitor.
async function forwardToVisitor({ sender, recipient, message }) {
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

function respond(response, status, body) {
    const json = JSON.stringify(body);
    response.writeHead(status, { "Content-Type": "application/json" }).end(json);
}

async function handle(request, response) {
    const event = verifyRequest(await text(request), request.headers);
    if (!event) return respond(response, 401, { error: { code: 401, message: "wrong signature" } });
    const id = request.headers["webhook-id"];
    if (!forwardedIds.has(id)) {
        await forwardToVisitor(event);
        // Only now: an id that is stored before the message was forwarded loses the message if forwarding fails.
        forwardedIds.add(id);
    }
    respond(response, 200, { result: "ok" });
}

createServer((request, response) => {
    handle(request, response).catch((error) => {
        console.error(error);
        // Any status but 200 makes the service send the message again, three times in all. If the client has
        // disconnected during its upload, nobody reads the response.
        respond(response, 500, { error: { code: 500, message: "the message was not forwarded" } });
    });
}).listen(process.env.PORT, "127.0.0.1");
`;var x=`"""An integrator's server (A-3 in docs/specification.md): receives the messages of agents and bots to your visitors.

    PORT=8001 SIGNING_SECRET=whsec_... python integrator.py
"""

import json
import os
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SIGNING_SECRET"])
# The service repeats a request that failed. In production, store the ids of forwarded messages in your database.
forwarded_ids = set()


class Integrator(BaseHTTPRequestHandler):
    timeout = 10  # seconds until a client that sends nothing is disconnected

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if len(body) < length:
            return  # the client has disconnected during its upload
        try:
            event = webhook.verify(body, dict(self.headers))
        except (WebhookVerificationError, ValueError):
            return self.respond(401, {"error": {"code": 401, "message": "wrong signature"}})
        try:
            self.forward_once(event, self.headers["webhook-id"])
        except Exception:
            # Any status but 200 makes the service send the message again, three times in all.
            traceback.print_exc()
            return self.respond(500, {"error": {"code": 500, "message": "the message was not forwarded"}})
        self.respond(200, {"result": "ok"})

    def forward_once(self, event, message_id):
        if message_id in forwarded_ids:
            return
        self.forward_to_visitor(event)
        # Only now: an id that is stored before the message was forwarded loses the message if forwarding fails.
        forwarded_ids.add(message_id)

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
`;var A=`<?php
// Sends a visitor's messages to a channel (A-2 in docs/specification.md): one message for each line of the input.
//
//     CHANNEL_URL=https://.../channel/<secret>/<channel_id> php sender.php u-1 "Ada Lovelace"
//
// The answers arrive at integrator.php. Keep CHANNEL_URL on your server: anyone who has it can write as any visitor.

const MAX_ATTEMPTS = 6;

/** Sends a message, and repeats it until the service has accepted or rejected it. */
function send(array $sender, array $message): void
{
    // All attempts have the same key, so the service stores the message only once, even if a response was lost.
    $header = ['Content-Type: application/json', 'Idempotency-Key: ' . bin2hex(random_bytes(16))];
    $content = json_encode(['sender' => $sender, 'message' => $message]);
    for ($attempt = 0; $attempt < MAX_ATTEMPTS; $attempt++) {
        [$status, $retry_after, $response] = post($header, $content);
        if ($status === 200) {
            return;
        }
        if ($status !== 0 && $status !== 429 && $status < 500) {
            break; // a 4xx is final: the same request would be rejected again
        }
        sleep(min($retry_after ?: 2 ** $attempt, 30));
    }
    throw new RuntimeException("not sent: HTTP $status $response");
}

/** Returns the status (0 without a response), the seconds to wait before the next attempt, and the response. */
function post(array $header, string $content): array
{
    $http = ['method' => 'POST', 'header' => $header, 'content' => $content, 'timeout' => 10, 'ignore_errors' => true];
    $http_response_header = [];
    $response = @file_get_contents(getenv('CHANNEL_URL'), false, stream_context_create(['http' => $http]));
    $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
    $retry_after = preg_filter('/^retry-after: *(\\d+)$/i', '$1', $http_response_header);
    return [$status, (int) (reset($retry_after) ?: 0), (string) $response];
}

$sender = ['id' => $argv[1]] + (isset($argv[2]) ? ['name' => $argv[2]] : []);
while (($line = fgets(STDIN)) !== false) {
    if (trim($line) === '') {
        continue;
    }
    try {
        send($sender, ['type' => 'text', 'text' => trim($line)]);
        echo 'sent: ', trim($line), "\\n";
    } catch (RuntimeException $error) {
        fwrite(STDERR, $error->getMessage() . "\\n");
    }
}
`;var N=`// Sends a visitor's messages to a channel (A-2 in docs/specification.md): one message for each line of the input.
//
//     CHANNEL_URL=https://.../channel/<secret>/<channel_id> node sender.js u-1 "Ada Lovelace"
//
// The answers arrive at integrator.js. Keep CHANNEL_URL on your server: anyone who has it can write as any visitor.

import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

const MAX_ATTEMPTS = 6;

// Sends a message, and repeats it until the service has accepted or rejected it.
async function send(sender, message) {
    const body = JSON.stringify({ sender, message });
    // All attempts have the same key, so the service stores the message only once, even if a response was lost.
    const headers = { "Content-Type": "application/json", "Idempotency-Key": randomUUID() };
    let reason;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        let seconds = 2 ** attempt;
        try {
            const signal = AbortSignal.timeout(10_000);
            const response = await fetch(process.env.CHANNEL_URL, { method: "POST", headers, body, signal });
            if (response.ok) return;
            reason = \`HTTP \${response.status} \${await response.text()}\`;
            if (response.status !== 429 && response.status < 500) break; // the same request would be rejected again
            seconds = Number(response.headers.get("Retry-After")) || seconds;
        } catch (error) {
            reason = error.message; // no response
        }
        await setTimeout(Math.min(seconds, 30) * 1000);
    }
    throw new Error(\`not sent: \${reason}\`);
}

const [id, name] = process.argv.slice(2);
for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === "") continue;
    try {
        await send({ id, name }, { type: "text", text: line.trim() });
        console.log(\`sent: \${line.trim()}\`);
    } catch (error) {
        console.error(error.message);
    }
}
`;var k=`"""Sends a visitor's messages to a channel (A-2 in docs/specification.md): one message for each line of the input.

    CHANNEL_URL=https://.../channel/<secret>/<channel_id> python sender.py u-1 "Ada Lovelace"

The answers arrive at integrator.py. Keep CHANNEL_URL on your server: anyone who has it can write as any visitor.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

MAX_ATTEMPTS = 6


def send(visitor, message):
    """Sends a message, and repeats it until the service has accepted or rejected it."""
    body = json.dumps({"sender": visitor, "message": message}).encode()
    # All attempts have the same key, so the service stores the message only once, even if a response was lost.
    headers = {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())}
    for attempt in range(MAX_ATTEMPTS):
        status, retry_after, reason = post(body, headers)
        if status == 200:
            return
        if status is not None and status != 429 and status < 500:
            break  # a 4xx is final: the same request would be rejected again
        time.sleep(min(retry_after or 2**attempt, 30))
    raise RuntimeError(f"not sent: {reason}")


def post(body, headers):
    """Returns the status (None without a response), the seconds to wait before the next attempt, and the reason."""
    try:
        with urllib.request.urlopen(urllib.request.Request(os.environ["CHANNEL_URL"], body, headers), timeout=10) as ok:
            return ok.status, None, ""
    except urllib.error.HTTPError as error:
        reason = f"HTTP {error.code} {error.read(2000).decode(errors='replace')}"
        return error.code, int(error.headers.get("Retry-After") or 0), reason
    except OSError as error:
        return None, None, str(error)


visitor = {"id": sys.argv[1], **({"name": sys.argv[2]} if len(sys.argv) > 2 else {})}
for line in sys.stdin:
    if line.strip():
        try:
            send(visitor, {"type": "text", "text": line.strip()})
            print(f"sent: {line.strip()}", flush=True)
        except RuntimeError as error:
            print(error, file=sys.stderr, flush=True)
`;function j({endpoint:s}){return e(u,{children:[e(c,{label:t`Address to which your server sends visitors' messages`,name:t`the address`,text:s}),e(c,{label:t`A message from a terminal`,name:t`the command`,text:T(s)}),e(M,{endpoint:s})]})}function M({endpoint:s}){let{sync:o}=y(),[r,a]=d(!1),[i,n]=d(),p=b(s,location.origin);if(p===void 0)return null;let m=async()=>{if(r)return;a(!0);let l=await S(p);n(l),a(!1),l.isSuccess&&o.reconnectNow()};return e("div",{class:"test-message",children:[e("div",{children:e("button",{type:"button",class:"btn line","aria-disabled":r,onClick:()=>{m()},children:[e(g,{name:"send-horizontal"}),r?t`Sending…`:t`Send a test message`]})}),e("div",{role:"status",children:i!==void 0&&e(G,{result:i})})]})}function G({result:s}){let{isSuccess:o,status:r,ms:a,request:i,responseBody:n}=s;return e("div",{class:"exchange",children:[e("p",{class:o?"test-result good":"test-result bad",children:[r===void 0?t`The service did not respond.`:t`Status ${r} after ${f(a)}.`,o&&` ${t`The chat is in the inbox.`}`]}),e(h,{label:t`Request`,text:_(i)}),n!==""&&e(h,{label:t`Response`,text:$(n)})]})}var U=[{value:"python",label:"Python"},{value:"node",label:"Node"},{value:"php",label:"PHP"}],B={python:x,node:R,php:E},W={python:k,node:N,php:A},K=()=>e(C,{summary:t`Code that verifies the signature`,name:"integrator",programs:B}),V=()=>e(C,{summary:t`Code that sends messages`,name:"sender",programs:W});function C({summary:s,name:o,programs:r}){let[a,i]=d(!1),[n,p]=d("python");return e("details",{class:"signature-code",onToggle:m=>i(m.currentTarget.open),children:[e("summary",{children:s}),a&&e("div",{class:"field",children:[e("div",{class:"signature-bar",children:[e(v,{name:`${o}-language`,label:t`Language`,hidesLabel:!0,value:n,options:U,onChange:p}),e(w,{text:r[n],label:t`Copy the code`,caption:t`Copy`})]}),e(h,{label:t`Code`,text:r[n]})]})]})}function fe({endpoint:s,signingSecret:o}){return e(u,{children:[e("p",{class:"quiet-text",children:t`The address and the secret are shown only now. Keep the address on your server, never in an app or a page: anyone who has it can write as any visitor.`}),e(j,{endpoint:s}),e(V,{}),e(c,{label:t`Secret that signs the requests to your server`,name:t`the secret`,text:o}),e(K,{})]})}export{j as a,K as b,fe as c};
