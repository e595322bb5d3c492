//! Requests to receivers, as shown to admins: the request of a delivery, which is built again from the current data, or
//! a test request and its response.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::chats::message_content::truncate_chars;
use crate::domain::deliveries::delivery::{Attempt, Outcome};
use crate::domain::deliveries::server_clause::ServerClause;
use crate::wire::fields::values::Name;

const MAX_REQUEST_CHARS: usize = 65_536;
const MAX_RESPONSE_CHARS: usize = 2_000;

/// The body of POST `/admin/channels/{channel_id}/test`.
#[derive(Deserialize, JsonSchema)]
pub struct ChannelTestRequest {
    /// What is tested: each clause has a request of its own.
    #[schemars(extend("default" = "accepts"))]
    clause: Option<Name<ServerClause>>,
}

impl ChannelTestRequest {
    pub fn clause(&self) -> ServerClause {
        self.clause.map_or(ServerClause::Accepts, |Name(clause)| clause)
    }
}

/// A request to a receiver, or a message to a queue or an event bus.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SentRequest {
    pub method: SentMethod,
    /// The ARN of an event bus; empty if a program fetches the request. A bot's token and the query string of its
    /// provider's address are replaced with ***.
    pub url: String,
    /// All headers except traceparent and tracestate. The signatures in webhook-signature are shortened to their first
    /// characters. For a queue, the attributes of the message and the fields of a FIFO queue; for an event bus, the
    /// source and the type of the event.
    pub headers: Vec<SentHeader>,
    /// The first 65,536 characters.
    #[schemars(length(max = MAX_REQUEST_CHARS))]
    pub body: String,
    pub body_truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub enum SentMethod {
    #[serde(rename = "POST")]
    Post,
    /// A message to an SQS queue.
    SendMessage,
    /// An event on an EventBridge event bus.
    PutEvents,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SentHeader {
    /// In lower case, except for the fields of SQS and EventBridge.
    pub name: &'static str,
    pub value: String,
}

impl SentRequest {
    /// The URL, the headers and the body must not contain secrets.
    pub fn new(method: SentMethod, url: String, headers: Vec<(&'static str, String)>, body: &str) -> Self {
        let headers = headers.into_iter().map(|(name, value)| SentHeader { name, value }).collect();
        let (body, body_truncated) = truncated(body, MAX_REQUEST_CHARS);
        Self { method, url, headers, body, body_truncated }
    }
}

/// A test request and its response.
#[derive(Debug, Serialize, JsonSchema)]
// Go's compiler takes a file whose name ends with `test` for a test.
#[schemars(rename = "ReceiverTestResult")]
pub struct ReceiverTest {
    /// The HTTP status of the receiver's response, or of the response of AWS.
    pub status: Option<u16>,
    /// The duration in milliseconds.
    pub ms: u64,
    /// Why a delivery with this response would not count as delivered: there was no response, or its status or body is
    /// the reason. Null if it would count as delivered.
    pub error: Option<String>,
    /// Whether the response is what the tested clause expects.
    pub kept: bool,
    /// What the tested clause expects, in words.
    pub expected: &'static str,
    pub request: SentRequest,
    /// Null if there was no complete response, and for queues and event buses.
    pub response: Option<ReceivedResponse>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ReceivedResponse {
    /// The first 2,000 characters.
    #[schemars(length(max = MAX_RESPONSE_CHARS))]
    pub body: String,
    pub body_truncated: bool,
}

impl ReceiverTest {
    /// `response` is the body of the response, or `None` if there was no complete response.
    pub fn new(
        clause: ServerClause,
        request: SentRequest,
        (outcome, attempt): (&Outcome, &Attempt),
        response: Option<&[u8]>,
    ) -> Self {
        let response = response.map(|body| {
            let (body, body_truncated) = truncated(&String::from_utf8_lossy(body), MAX_RESPONSE_CHARS);
            ReceivedResponse { body, body_truncated }
        });
        let error = outcome.error().map(ToOwned::to_owned);
        let (kept, expected) = (clause.is_kept(outcome, attempt.status), clause.expected());
        Self { status: attempt.status, ms: attempt.duration_ms, error, kept, expected, request, response }
    }
}

fn truncated(text: &str, max_chars: usize) -> (String, bool) {
    let shown = truncate_chars(text, max_chars);
    let is_truncated = shown.len() < text.len();
    (shown, is_truncated)
}
