//! The request of the OpenTelemetry protocol that exports spans
//! (`opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest`), with the fields that the service uses. The
//! tags are those of the published `.proto` files.

use prost::Message;

use crate::domain::trace_context::TraceContext;

/// What kind of work a span stands for. The values are those of `opentelemetry.proto.trace.v1.Span.SpanKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// The handling of a request.
    Server = 2,
    /// A request to a receiver.
    Client = 3,
    /// The handling of a task from a queue.
    Consumer = 5,
}

/// A value of an attribute. It never contains text of a chat, a secret or an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    Text(String),
    Number(u64),
}

impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u64> for AttributeValue {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

pub type Attribute = (&'static str, AttributeValue);

/// A span that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedSpan {
    pub context: TraceContext,
    /// The context of the span that caused this one. `None` for the first span of a trace.
    pub parent: Option<TraceContext>,
    pub kind: SpanKind,
    pub name: String,
    /// Unix time in nanoseconds.
    pub started_at_ns: u64,
    pub ended_at_ns: u64,
    pub has_failed: bool,
    pub attributes: Vec<Attribute>,
}

/// Returns the encoded request. `resource` describes the process.
pub fn encode_request(resource: &[Attribute], spans: &[FinishedSpan]) -> Vec<u8> {
    let scope_spans = vec![ScopeSpans { spans: spans.iter().map(Span::from).collect() }];
    let resource = Some(Resource { attributes: resource.iter().map(KeyValue::from).collect() });
    ExportRequest { resource_spans: vec![ResourceSpans { resource, scope_spans }] }.encode_to_vec()
}

#[derive(Clone, PartialEq, Message)]
struct ExportRequest {
    #[prost(message, repeated, tag = "1")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeSpans {
    #[prost(message, repeated, tag = "2")]
    spans: Vec<Span>,
}

#[derive(Clone, PartialEq, Message)]
struct Span {
    #[prost(bytes = "vec", tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    span_id: Vec<u8>,
    #[prost(string, tag = "3")]
    trace_state: String,
    #[prost(bytes = "vec", tag = "4")]
    parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(int32, tag = "6")]
    kind: i32,
    #[prost(fixed64, tag = "7")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "8")]
    end_time_unix_nano: u64,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<KeyValue>,
    #[prost(message, optional, tag = "15")]
    status: Option<Status>,
    #[prost(fixed32, tag = "16")]
    flags: u32,
}

#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(int32, tag = "3")]
    code: i32,
}

const STATUS_ERROR: i32 = 2;

#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(oneof = "Value", tags = "1, 3")]
    value: Option<Value>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Value {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(int64, tag = "3")]
    Number(i64),
}

impl From<&FinishedSpan> for Span {
    fn from(span: &FinishedSpan) -> Self {
        Self {
            trace_id: span.context.trace_id().to_vec(),
            span_id: span.context.span_id().to_vec(),
            trace_state: span.context.tracestate().unwrap_or_default().to_owned(),
            parent_span_id: span.parent.as_ref().map(|parent| parent.span_id().to_vec()).unwrap_or_default(),
            name: span.name.clone(),
            kind: span.kind as i32,
            start_time_unix_nano: span.started_at_ns,
            end_time_unix_nano: span.ended_at_ns,
            attributes: span.attributes.iter().map(KeyValue::from).collect(),
            status: span.has_failed.then_some(Status { code: STATUS_ERROR }),
            flags: span.context.flags().into(),
        }
    }
}

impl From<&Attribute> for KeyValue {
    fn from((name, value): &Attribute) -> Self {
        let value = match value {
            AttributeValue::Text(text) => Value::Text(text.clone()),
            AttributeValue::Number(number) => Value::Number(i64::try_from(*number).unwrap_or(i64::MAX)),
        };
        Self { key: (*name).to_owned(), value: Some(AnyValue { value: Some(value) }) }
    }
}
