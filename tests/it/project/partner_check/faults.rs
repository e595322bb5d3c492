//! Servers of partners that are right except for one fault, each with the clauses that it breaks.

use std::time::Duration;

use check::Partner::{self, Bot, Gateway, Integrator, Webhook};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::support::test_receiver::{CannedResponse, ReceivedRequest};

pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A request to a server, and what the server knows.
pub struct Exchange<'a> {
    pub request: &'a ReceivedRequest,
    /// Null if the request's body is not JSON.
    pub body: &'a Value,
    pub earlier: &'a [ReceivedRequest],
}

/// Returns the wrong response to a request, or `None` if the server does nothing wrong with it.
pub type Fault = fn(&Exchange<'_>) -> Option<CannedResponse>;

impl Exchange<'_> {
    pub fn right_response(&self) -> CannedResponse {
        if !self.is_signed() {
            CannedResponse::Json(401, json!({}))
        } else if self.body.is_null() {
            CannedResponse::Json(400, json!({}))
        } else {
            CannedResponse::ok()
        }
    }

    /// Whether the server takes the request although it would have to refuse it.
    fn takes_if(&self, is_taken: bool) -> Option<CannedResponse> {
        only_if(is_taken && !self.body.is_null(), CannedResponse::ok())
    }

    pub fn is_signed(&self) -> bool {
        is_signed(self.request)
    }

    fn id(&self) -> Option<&str> {
        self.request.header("webhook-id")
    }

    fn signatures(&self) -> Vec<&str> {
        self.request.header("webhook-signature").unwrap_or_default().split(' ').collect()
    }

    /// Whether the signature is that of the body at the time of the header, whenever that was.
    fn is_signed_at_any_time(&self) -> bool {
        self.id().is_some() && self.request.is_signed_with(SECRET)
    }

    fn is_first_right(&self) -> bool {
        let headers = self.request.headers.clone().into_iter();
        let first = |(name, value): (String, String)| {
            let value = if name == "webhook-signature" { self.signatures()[0].to_owned() } else { value };
            (name, value)
        };
        is_signed(&ReceivedRequest { headers: headers.map(first).collect(), ..self.request.clone() })
    }

    fn is_signed_with_body(&self, body: &[u8]) -> bool {
        is_signed(&ReceivedRequest { body: body.to_vec(), ..self.request.clone() })
    }

    /// Whether this field of the body has this value.
    fn has(&self, pointer: &str, value: &str) -> bool {
        self.body.pointer(pointer).is_some_and(|it| it == value)
    }

    fn is_message(&self, kind: &str) -> bool {
        self.has("/message/type", kind)
    }
}

fn is_signed(request: &ReceivedRequest) -> bool {
    let headers: HeaderMap = request
        .headers
        .iter()
        .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap()))
        .collect();
    standardwebhooks::Webhook::new(SECRET).unwrap().verify(&request.body, &headers).is_ok()
}

fn only_if(is_wrong: bool, wrong: CannedResponse) -> Option<CannedResponse> {
    is_wrong.then_some(wrong)
}

fn status(status: u16) -> CannedResponse {
    CannedResponse::Json(status, json!({}))
}

fn slow() -> CannedResponse {
    CannedResponse::Delayed(Duration::from_millis(3_200), Box::new(CannedResponse::ok()))
}

fn long() -> CannedResponse {
    CannedResponse::LargeBody(70_000)
}

const UNSIGNED: &str = "refuses a request without a signature";
const WRONG: &str = "refuses a wrong signature";
const OTHER_BODY: &str = "refuses the signature of another body";
const OLD: &str = "refuses a request that was signed ten minutes ago";
const AFTER_OLD: &str = "accepts its signature after that of an old secret";
const BEFORE_OLD: &str = "accepts its signature before that of an old secret";
const AFTER_UNKNOWN: &str = "accepts its signature after one of an unknown scheme";
const AS_IT_ARRIVED: &str = "verifies the signature of the body as it arrived";
const CHUNKED: &str = "accepts chunked transfer encoding";
const SLOWLY: &str = "accepts a body that arrives slowly";
const UNKNOWN_FIELD: &str = "ignores unknown fields";
const LONG_TEXT: &str = "accepts a text of 10,000 characters";
const UNKNOWN_TYPE: &str = "survives a type that it does not know";
const REPEATED: &str = "accepts a repeated request with the same id";
const OLDER: &str = "accepts an older request after a newer one";
const MALFORMED: &str = "survives a body that is not JSON";
const LENGTH: &str = "responds with at most 64 KB";

#[rustfmt::skip]
pub const FAULTS: &[(Partner, &str, Fault, &[&str])] = &[
    // Signatures.
    (Integrator, "checks no signature", |it| it.takes_if(true), &[UNSIGNED, WRONG, OTHER_BODY, OLD]),
    (Gateway, "takes unsigned requests", |it| it.takes_if(it.id().is_none()), &[UNSIGNED]),
    (Bot, "does not compare the time", |it| it.takes_if(it.is_signed_at_any_time()), &[OLD]),
    (Webhook, "signs another body", |it| it.takes_if(it.id().is_some() && it.is_signed_with_body(b"{}")), &[OTHER_BODY]),
    (Gateway, "looks only for the header of a signature", |it| it.takes_if(it.id().is_some()), &[WRONG, OTHER_BODY, OLD]),
    (Integrator, "reads the first signature only", |it| {
        only_if(it.signatures().len() > 1 && !it.is_first_right(), status(401))
    }, &[AFTER_OLD, AFTER_UNKNOWN]),
    (Bot, "reads the last signature only", |it| {
        only_if(it.signatures().len() > 1 && it.is_first_right(), status(401))
    }, &[BEFORE_OLD]),
    (Webhook, "takes the header for one signature", |it| only_if(it.signatures().len() > 1, status(401)),
        &[AFTER_OLD, BEFORE_OLD, AFTER_UNKNOWN]),
    (Integrator, "fails at an unknown scheme", |it| {
        only_if(it.signatures().iter().any(|signature| signature.starts_with("v1a,")), status(500))
    }, &[AFTER_UNKNOWN]),
    (Bot, "prints the body again before it verifies it", |it| {
        only_if(!it.body.is_null() && !it.is_signed_with_body(it.body.to_string().as_bytes()), status(401))
    }, &[AS_IT_ARRIVED]),
    (Webhook, "decodes escaped letters before it verifies them", |it| {
        only_if(it.request.body.windows(2).any(|pair| pair == b"\\u"), status(401))
    }, &[AS_IT_ARRIVED]),
    (Integrator, "redirects unsigned requests", |it| {
        only_if(it.id().is_none(), CannedResponse::Redirect("/login".into()))
    }, &[UNSIGNED]),
    (Gateway, "fails at unsigned requests", |it| only_if(it.id().is_none(), status(500)), &[UNSIGNED]),
    (Integrator, "closes the connection on a wrong signature", |it| {
        only_if(it.id().is_some() && !it.is_signed_at_any_time(), CannedResponse::CloseConnection)
    }, &[WRONG, OTHER_BODY]),

    // Examples.
    (Integrator, "answers places with an error", |it| only_if(it.is_message("location"), CannedResponse::error(7, "?")),
        &["accepts integratorMessage, location"]),
    (Integrator, "knows no typing notices", |it| only_if(it.is_message("typein"), status(400)),
        &["accepts integratorMessage, typein"]),
    (Integrator, "expects a message id", |it| only_if(it.is_signed() && it.body.pointer("/message/type").is_some()
        && it.body.pointer("/message/id").is_none(), status(400)),
        &["accepts integratorMessage, typein", "accepts integratorMessage, typeout"]),
    (Integrator, "responds with 202 to files", |it| only_if(it.is_message("document"), status(202)),
        &["accepts integratorMessage, document"]),
    (Integrator, "says nothing about a picture", |it| only_if(it.is_message("photo"), status(200)),
        &["accepts integratorMessage, photo"]),
    (Integrator, "knows no stickers", |it| only_if(it.is_message("sticker"), CannedResponse::error(400, "type")),
        &["accepts integratorMessage, sticker"]),
    (Integrator, "takes ids of visitors for texts", |it| only_if(it.body["recipient"]["id"].is_number(), status(422)),
        &["accepts integratorMessage, number"]),
    (Integrator, "responds to Markdown with a text", |it| {
        only_if(it.is_message("markdown"), CannedResponse::Text(200, "text/plain", "ok".into()))
    }, &["accepts integratorMessage, markdown"]),
    (Integrator, "closes the connection at buttons", |it| only_if(it.is_message("buttons"), CannedResponse::CloseConnection),
        &["accepts integratorMessage, buttons"]),
    (Integrator, "sends its result as a list", |it| only_if(it.is_message("voice"), CannedResponse::Json(200, json!(["ok"]))),
        &["accepts integratorMessage, voice"]),
    (Integrator, "is slow with films", |it| only_if(it.is_message("video"), slow()),
        &["accepts integratorMessage, video"]),
    (Bot, "knows no closed chats", |it| only_if(it.has("/event", "CHAT_CLOSED"), status(405)),
        &["accepts botEvent, closed"]),
    (Bot, "responds with 204 when an agent joins", |it| only_if(it.has("/event", "AGENT_JOINED"), status(204)),
        &["accepts botEvent, joined"]),
    (Bot, "returns an error while it is on standby", |it| {
        let error = json!({"error": {"code": "invalid_request", "message": "?"}});
        only_if(it.has("/event", "STANDBY_MESSAGE"), CannedResponse::Json(200, error))
    }, &["accepts botEvent, standby"]),
    (Bot, "thinks before it responds", |it| only_if(it.has("/event", "CHAT_RETURNED"), slow()),
        &["accepts botEvent, returned"]),
    (Webhook, "reports a failure", |it| {
        only_if(it.has("/event_name", "chat_assigned"), CannedResponse::Json(200, json!({"result": "FAILURE"})))
    }, &["accepts chat_assigned, event"]),
    (Webhook, "knows no tests", |it| only_if(it.has("/event_name", "test"), status(404)), &["accepts test, event"]),
    (Webhook, "expects a chat in every event", |it| only_if(it.body["chat_id"].is_null() && it.has("/event_name", "offline_message"),
        status(500)), &["accepts offline_message, event"]),
    (Webhook, "redirects failed calls", |it| only_if(it.has("/call/status", "error"), CannedResponse::Redirect("/".into())),
        &["accepts call_event, error"]),
    (Webhook, "closes the connection at the chat log", |it| {
        only_if(it.has("/event_name", "chat_finished"), CannedResponse::CloseConnection)
    }, &["accepts chat_finished, event"]),
    (Gateway, "does not place callbacks", |it| {
        only_if(it.has("/event", "call") && it.earlier.is_empty(), status(501))
    }, &["accepts placeCall, callback"]),

    // Forms.
    (Integrator, "knows no chunked bodies", |it| {
        only_if(it.request.header("transfer-encoding").is_some(), status(411))
    }, &[CHUNKED]),
    (Gateway, "does not wait for a slow body", |it| only_if(it.request.took > Duration::from_millis(700), status(408)), &[SLOWLY]),
    (Integrator, "refuses unknown fields", |it| only_if(it.body.get("field_of_a_later_version").is_some(), status(422)),
        &[UNKNOWN_FIELD]),
    (Gateway, "fails at unknown fields", |it| only_if(it.body.get("field_of_a_later_version").is_some(), status(500)),
        &[UNKNOWN_FIELD]),
    (Bot, "refuses long texts", |it| only_if(it.request.body.len() > 15_000, status(413)), &[LONG_TEXT]),
    (Webhook, "fails at a type that it does not know", |it| only_if(it.has("/event_name", "type_of_a_later_version"), status(500)),
        &[UNKNOWN_TYPE]),
    (Bot, "does not respond to a type that it does not know", |it| {
        only_if(it.has("/event", "type_of_a_later_version"), CannedResponse::CloseConnection)
    }, &[UNKNOWN_TYPE]),
    (Integrator, "responds with a page to files", |it| only_if(it.is_message("document"), long()), &[LENGTH]),
    (Bot, "responds with a page to closed chats", |it| only_if(it.has("/event", "CHAT_CLOSED"), long()), &[LENGTH]),
    (Webhook, "responds with too much data", |it| only_if(it.has("/event_name", "chat_updated"), long()), &[LENGTH]),

    // Disturbances.
    (Gateway, "refuses a repeated request", |it| {
        only_if(it.is_signed() && it.earlier.iter().any(|earlier| earlier.header("webhook-id") == it.id()), status(409))
    }, &[REPEATED]),
    (Webhook, "refuses a repeated request that is signed anew", |it| {
        let is_repeated = |earlier: &ReceivedRequest| earlier.header("webhook-id") == it.id()
            && earlier.header("webhook-timestamp") != it.request.header("webhook-timestamp");
        only_if(it.is_signed() && it.earlier.iter().any(is_repeated), status(400))
    }, &[REPEATED]),
    (Bot, "starts again when an id is older than the one before", |it| {
        let ids: Vec<_> = it.earlier.iter().filter(|it| is_signed(it)).map(|it| it.header("webhook-id")).collect();
        only_if(it.is_signed() && it.id() < ids.last().copied().flatten() && ids.is_sorted(), status(409))
    }, &[OLDER]),
    (Integrator, "fails at a body that is not JSON", |it| only_if(it.body.is_null(), status(500)), &[MALFORMED]),
    (Gateway, "closes the connection at a body that is not JSON", |it| only_if(it.body.is_null(), CannedResponse::CloseConnection),
        &[MALFORMED]),
];
