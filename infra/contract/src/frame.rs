//! The parts of the documents that do not depend on operations or types.

use serde_json::{Value, json};

/// Returns the OpenAPI document without its operations and schemas.
pub fn openapi() -> Value {
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": "Switchboard",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Customer-chat integration: every endpoint, and every request that the service sends to a customer's \
                server.",
            "description": "Request bodies are parsed as JSON whatever their content type. Unknown fields are ignored, null \
                counts as absent, and a body may have at most 131072 bytes, except for a visitor's message on a \
                channel, which may have 1048576. All errors have the same body, which names the invalid field. 429 \
                and 503 have the header Retry-After. An unknown path returns 404, and a method that a path does not \
                support returns 405 with Allow. Only the gateway's own errors have a different body, which contains \
                just a `message`: for a request that is too large for the gateway (413, 431), for too many requests \
                from all callers together (429), and for a function that failed (500) or took too long (503).",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{
            "url": "/",
            "description": "The server from which this document was fetched: production, or a local host.",
            "x-internal": false,
        }],
        "tags": [
            { "name": "Channel API", "description": "An integrator's front end (specification, part A)." },
            { "name": "Bot API", "description": "Bot providers (specification, part B)." },
            {
                "name": "Webhooks",
                "description": "Requests that the service sends (specification, A-3, B-2 and part C). Each request is attempted \
                    up to three times, three seconds apart, until a response ends the delivery. At most 64 KB of a \
                    response are read.",
            },
            {
                "name": "Widget",
                "description": "The widget in a visitor's browser (specification, part D): its scripts, and the endpoints that \
                    it calls. The browser sends the body as text/plain to avoid a preflight request; the service \
                    does not check the content type. Every response has CORS headers for the sites on which the \
                    widget may be embedded.",
            },
            {
                "name": "Telephony",
                "description": "Telephony providers, which report calls (docs/telephony.md). A plain HTTP gateway sends JSON \
                    with the headers of Standard Webhooks; Twilio sends forms with the header X-Twilio-Signature.",
            },
            { "name": "Agents", "description": "Agents, who answer visitors." },
            { "name": "Admins", "description": "Agents whose role is admin." },
            { "name": "Operator", "description": "The operator, who runs the service." },
            { "name": "Document", "description": "This document." },
            { "name": "Console", "description": "The agents' console." },
            { "name": "Files", "description": "Uploaded files." },
        ],
        "components": {
            "securitySchemes": {
                "agent": { "type": "http", "scheme": "bearer", "description": "The token from an agent's login." },
                "admin": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token from the login of an agent whose role is admin. The token of any other agent gets \
                        403.",
                },
                "operator": { "type": "http", "scheme": "bearer", "description": "The operator's key." },
                "provider": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Authorization",
                    "description": "The secret with which the provider was registered, alone or after Bearer. Required only if \
                        the provider was registered with one.",
                },
                "signature": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "webhook-signature",
                    "description": "The signature of a request that the service sends (Standard Webhooks).",
                },
            },
            "parameters": {
                "IdempotencyKey": {
                    "name": "Idempotency-Key",
                    "in": "header",
                    "description": "Any text, compared as bytes. A repeated request with the same key and the same body \
                        (compared as a JSON value) returns the first response and stores nothing; with another body \
                        it is rejected. Keys are separate for each visitor of a channel, each agent in a chat and \
                        each bot, and an agent's keys for messages, for notes and for calls are separate. Keys are \
                        kept for a day.",
                    "schema": { "type": "string", "maxLength": 255 },
                },
                "WebhookIdHeader": {
                    "name": "webhook-id",
                    "in": "header",
                    "required": true,
                    "description": "The message id defined by Standard Webhooks. It is the same for all attempts.",
                    "schema": { "type": "string" },
                },
                "WebhookTimestampHeader": {
                    "name": "webhook-timestamp",
                    "in": "header",
                    "required": true,
                    "description": "The time of the attempt in Unix seconds.",
                    "schema": { "type": "string", "pattern": "^[0-9]+$" },
                },
                "WebhookSignatureHeader": {
                    "name": "webhook-signature",
                    "in": "header",
                    "required": true,
                    "description": "HMAC-SHA256 of id, timestamp and body with the signing secret. After a rotation, the header \
                        contains one signature for each valid secret, separated by spaces. Requests to a webhook with `ed25519_signature` \
                        also have a signature `v1a` (Ed25519) for each valid key.",
                    "schema": { "type": "string", "pattern": "^v1,[^ ]+( v1,[^ ]+)*( v1a,[^ ]+)*$" },
                },
                "TraceparentHeader": {
                    "name": "traceparent",
                    "in": "header",
                    "required": true,
                    "description": "The trace of the request that caused this one (W3C Trace Context). Each attempt has a \
                        span id of its own. If that request had a tracestate, this one has it, too.",
                    "schema": { "type": "string", "pattern": "^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$" },
                },
            },
        },
    })
}

/// Returns the AsyncAPI document without its channels.
pub fn asyncapi() -> Value {
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "Switchboard",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The frames of the sockets, and the requests that the service sends to customers' servers. \
                            The HTTP API is described in openapi.json.",
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "defaultContentType": "application/json",
        "servers": {
            "sockets": {
                "host": "example.execute-api.eu-central-1.amazonaws.com",
                "protocol": "wss",
                "description": "The WebSocket API. Its URL is in the response to a request for a ticket.",
            },
            "customer": {
                "host": "customer.example",
                "protocol": "https",
                "description": "A customer's server. Requests are signed (Standard Webhooks).",
            },
        },
    })
}
