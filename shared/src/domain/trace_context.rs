//! The trace context that connects the work of several services for one request (W3C Trace Context, level 2,
//! <https://www.w3.org/TR/trace-context-2/>). A *trace* is everything that follows from one request, and a *span* is one
//! step of it. Callers and receivers pass the context in the headers `traceparent` and `tracestate`.

use std::fmt::Write;

pub type TraceId = [u8; 16];
pub type SpanId = [u8; 8];

/// The caller has recorded the trace.
const SAMPLED: u8 = 0b01;
/// The last seven bytes of the trace id are random.
const RANDOM: u8 = 0b10;

/// The length of a `traceparent` of version 00. Later versions may append fields.
const TRACEPARENT_CHARS: usize = 55;
const MAX_STATE_MEMBERS: usize = 32;
const MAX_STATE_KEY_CHARS: usize = 256;
const MAX_STATE_VALUE_CHARS: usize = 256;
/// The maximum length of the `tracestate` that is sent on. This is the least that the recommendation asks for.
const MAX_STATE_CHARS: usize = 512;
/// Members that are longer are the first to be removed from a `tracestate` that is too long.
const MAX_KEPT_MEMBER_CHARS: usize = 128;

/// The position of a span in its trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    trace_id: TraceId,
    span_id: SpanId,
    flags: u8,
    /// What tracing systems add for themselves, as a valid value of `tracestate`. Empty if there is nothing.
    state: String,
}

impl TraceContext {
    /// Creates the context of the first span of a trace. The trace id must be random.
    pub fn new(trace_id: TraceId, span_id: SpanId, is_sampled: bool) -> Self {
        let flags = if is_sampled { RANDOM | SAMPLED } else { RANDOM };
        Self { trace_id, span_id, flags, state: String::new() }
    }

    /// Parses the headers of a request. An invalid `tracestate` is dropped. Returns `None` if `traceparent` is invalid.
    pub fn parse(traceparent: &str, tracestate: &str) -> Option<Self> {
        let (trace_id, span_id, flags) = parse_traceparent(traceparent.trim_matches([' ', '\t']))?;
        let state = parse_state(tracestate).map(shorten_state).unwrap_or_default();
        Some(Self { trace_id, span_id, flags, state })
    }

    /// Parses the id that X-Ray gives to an invocation, such as
    /// `Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1`. `span_id` is used if there is no
    /// parent.
    pub fn parse_xray(header: &str, span_id: SpanId) -> Option<Self> {
        let field = |name| header.split(';').find_map(|field| field.trim().strip_prefix(name)?.strip_prefix('='));
        let mut root = field("Root")?.split('-');
        let (version, seconds, random) = (root.next()?, root.next()?, root.next()?);
        let is_valid = version == "1" && seconds.len() == 8 && root.next().is_none();
        let trace_id = parse_id(&format!("{seconds}{random}")).filter(|_| is_valid)?;
        let parent = field("Parent").and_then(parse_id).unwrap_or(span_id);
        Some(Self::new(trace_id, parent, field("Sampled") == Some("1")))
    }

    /// Returns the context of another span of the same trace.
    pub fn with_span(&self, span_id: SpanId) -> Self {
        Self { span_id, ..self.clone() }
    }

    pub fn with_sampling(self, is_sampled: bool) -> Self {
        let flags = if is_sampled { self.flags | SAMPLED } else { self.flags & !SAMPLED };
        Self { flags, ..self }
    }

    pub fn trace_id(&self) -> TraceId {
        self.trace_id
    }

    pub fn span_id(&self) -> SpanId {
        self.span_id
    }

    pub fn flags(&self) -> u8 {
        self.flags
    }

    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Returns the trace id in lower-case hexadecimal, as logs and tracing systems show it.
    pub fn trace_id_hex(&self) -> String {
        hex(&self.trace_id)
    }

    pub fn traceparent(&self) -> String {
        format!("00-{}-{}-{:02x}", hex(&self.trace_id), hex(&self.span_id), self.flags)
    }

    /// Returns the value of `tracestate`, or `None` if the header is not sent.
    pub fn tracestate(&self) -> Option<&str> {
        Some(&*self.state).filter(|state| !state.is_empty())
    }
}

/// Returns the trace id, the span id and the known flags. A later version is read like version 00, and what it appends
/// is ignored.
fn parse_traceparent(text: &str) -> Option<(TraceId, SpanId, u8)> {
    let (fields, rest) = text.split_at_checked(TRACEPARENT_CHARS)?;
    let mut fields = fields.split('-');
    let [version] = parse_hex(fields.next()?)?;
    let (trace_id, span_id) = (parse_id(fields.next()?)?, parse_id(fields.next()?)?);
    let [flags] = parse_hex(fields.next()?)?;
    let is_complete = match version {
        0 => rest.is_empty(),
        0xff => false,
        _ => rest.is_empty() || rest.starts_with('-'),
    };
    (is_complete && fields.next().is_none()).then_some((trace_id, span_id, flags & (SAMPLED | RANDOM)))
}

/// Parses an id, which must not be zero.
fn parse_id<const N: usize>(text: &str) -> Option<[u8; N]> {
    parse_hex(text).filter(|id| *id != [0; N])
}

/// Parses lower-case hexadecimal digits of exactly `N` bytes.
fn parse_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != 2 * N || !text.bytes().all(is_digit) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the members of a `tracestate`, or `None` if one of them is invalid or there are too many.
fn parse_state(state: &str) -> Option<Vec<&str>> {
    let members: Vec<_> = state.split(',').map(|member| member.trim_matches([' ', '\t'])).collect();
    let members: Vec<_> = members.into_iter().filter(|member| !member.is_empty()).collect();
    let is_valid = members.len() <= MAX_STATE_MEMBERS && members.iter().all(|member| is_state_member(member));
    is_valid.then_some(members)
}

fn is_state_member(member: &str) -> bool {
    let Some((key, value)) = member.split_once('=') else { return false };
    let is_first = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9');
    let is_in_key = |byte: u8| is_first(byte) || matches!(byte, b'_' | b'-' | b'*' | b'/' | b'@');
    let is_in_value = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b',' | b'=');
    key.len() <= MAX_STATE_KEY_CHARS
        && key.bytes().next().is_some_and(is_first)
        && key.bytes().all(is_in_key)
        && (1..=MAX_STATE_VALUE_CHARS).contains(&value.len())
        && value.bytes().all(is_in_value)
}

/// Joins the members. If the result were too long, leaves out the long members, and then members from the end.
fn shorten_state(mut members: Vec<&str>) -> String {
    let length = |members: &[&str]| members.iter().map(|member| member.len() + 1).sum::<usize>().saturating_sub(1);
    if length(&members) > MAX_STATE_CHARS {
        members.retain(|member| member.len() <= MAX_KEPT_MEMBER_CHARS);
    }
    while length(&members) > MAX_STATE_CHARS {
        members.pop();
    }
    members.join(",")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn state_of(tracestate: &str) -> String {
        TraceContext::parse(PARENT, tracestate).unwrap().state
    }

    #[test]
    fn valid_traceparent_is_continued() {
        let table = [
            (PARENT, 1),
            (" \t00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\t ", 1),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", 0),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff", 3),
            ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", 1),
            ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-is-new", 1),
        ];
        for (traceparent, flags) in table {
            let context = TraceContext::parse(traceparent, "").unwrap();
            let sent = context.with_span([0xab; 8]).traceparent();
            assert_eq!(sent, format!("00-0af7651916cd43dd8448eb211c80319c-abababababababab-{flags:02x}"));
        }
    }

    #[test]
    fn invalid_traceparent_is_not_continued() {
        let table = [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-00",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333-01x",
            "00-0af7651916cd43dd8448eb211c80319-cb7ad6b7169203331-01",
            "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-+1",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.x",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333é-01",
        ];
        for traceparent in table {
            assert_eq!(TraceContext::parse(traceparent, "a=1"), None, "{traceparent}");
        }
        assert_eq!(TraceContext::parse(&format!("{PARENT},{PARENT}"), ""), None, "the header was repeated");
    }

    #[test]
    fn valid_tracestate_is_sent_on() {
        let long_key = format!("{}=1", "z".repeat(256));
        let table = [
            ("", ""),
            ("a=1", "a=1"),
            (" a=1 ,\tb=2\t, ,", "a=1,b=2"),
            ("a=!\"#$%&'()*+-./:;<>?@[]^_`{|}~ x", "a=!\"#$%&'()*+-./:;<>?@[]^_`{|}~ x"),
            ("0_-*/@=1,a@@b=2", "0_-*/@=1,a@@b=2"),
            (&long_key, &long_key),
        ];
        for (tracestate, expected) in table {
            assert_eq!(state_of(tracestate), expected);
        }
    }

    #[test]
    fn invalid_tracestate_is_dropped_as_a_whole() {
        let table = ["a", "a=", "=1", "A=1", "@a=1", "a =1", "a.b=1", "a=b=c", "a=é", "a=1,b"];
        for tracestate in table {
            assert_eq!(state_of(&format!("x=1,{tracestate}")), "", "{tracestate}");
        }
        let members = |count: usize| (0..count).map(|n| format!("k{n}=1")).collect::<Vec<_>>().join(",");
        assert_eq!((state_of(&members(32)), state_of(&members(33))), (members(32), String::new()));
        assert_eq!(state_of(&format!("{}=1", "z".repeat(257))), "");
        assert_eq!(state_of(&format!("a={}", "z".repeat(257))), "");
    }

    #[test]
    fn long_tracestate_loses_long_members_first() {
        let member = |key: &str, chars: usize| format!("{key}={}", "x".repeat(chars));
        let all = [member("a", 100), member("b", 200), member("c", 100), member("d", 200)].join(",");
        assert_eq!(state_of(&all), [member("a", 100), member("c", 100)].join(","));
        let short: Vec<_> = ["a", "b", "c", "d", "e", "f"].map(|key| member(key, 98)).into();
        assert_eq!(state_of(&short.join(",")), short[..5].join(","));
    }

    #[test]
    fn id_of_xray_becomes_the_trace_id() {
        let root = "Root=1-5759e988-bd862e3fe1be46a994272793";
        let table = [
            (format!("{root};Parent=53995c3f42cd8ad8;Sampled=1"), "53995c3f42cd8ad8-03"),
            (format!("{root};Sampled=0;Lineage=1:a:0"), "abababababababab-02"),
            (root.to_owned(), "abababababababab-02"),
        ];
        for (header, expected) in table {
            let traceparent = TraceContext::parse_xray(&header, [0xab; 8]).unwrap().traceparent();
            assert_eq!(traceparent, format!("00-5759e988bd862e3fe1be46a994272793-{expected}"));
        }
        for header in
            ["", "Root=", "Root=1-5759e988bd862e3fe1be46a994272793", "Root=2-5759e988-bd862e3fe1be46a994272793"]
        {
            assert_eq!(TraceContext::parse_xray(header, [0xab; 8]), None, "{header}");
        }
    }

    proptest! {
        #[test]
        fn what_is_sent_can_be_parsed_again(
            traceparent in "\\PC*|[0-9a-f-]{50,60}|0[0-9]-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}",
            tracestate in "\\PC*|([a-z]=x,?){0,40}",
        ) {
            if let Some(context) = TraceContext::parse(&traceparent, &tracestate) {
                let sent = TraceContext::parse(&context.traceparent(), context.tracestate().unwrap_or_default());
                prop_assert_eq!(sent, Some(context));
            }
        }
    }
}
