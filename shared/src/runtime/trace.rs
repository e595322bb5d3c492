//! The spans of an invocation. What a handler sends, such as a task or a request to a receiver, continues the trace of
//! the request that it handles, without passing a context through every function: the context belongs to the
//! asynchronous task, like the span of the log.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::domain::timestamp::Timestamp;
use crate::domain::trace_context::TraceContext;
use crate::runtime::clock;
use crate::runtime::config;
use crate::runtime::random_ids_and_secrets::random_bytes;
use crate::runtime::span_exporter::SpanExporter;
use crate::wire::otlp::{Attribute, FinishedSpan, SpanKind};

tokio::task_local! {
    static CURRENT: CurrentSpan;
}

#[derive(Clone)]
struct CurrentSpan {
    context: TraceContext,
    /// Where spans are kept until the end of the invocation. `None` if they are not exported.
    finished: Option<FinishedSpans>,
}

type FinishedSpans = Arc<Mutex<Vec<FinishedSpan>>>;

/// Creates the spans of a process. They are exported if the stack has an address for them.
pub(super) struct Tracer {
    exporter: Option<SpanExporter>,
}

impl Tracer {
    pub fn read() -> Self {
        Self { exporter: config::otlp_endpoint().and_then(|endpoint| SpanExporter::new(&endpoint)) }
    }

    pub fn begin_invocation(&self) -> Invocation<'_> {
        Invocation { exporter: self.exporter.as_ref(), finished: FinishedSpans::default() }
    }
}

/// The spans of one invocation, which are exported with a single request.
pub(super) struct Invocation<'a> {
    exporter: Option<&'a SpanExporter>,
    finished: FinishedSpans,
}

impl Invocation<'_> {
    /// Opens the span of the work that `parent` has caused. Without a parent, a trace begins.
    pub fn open_span(&self, parent: Option<TraceContext>) -> OpenSpan {
        let is_exported = |context: &TraceContext| self.exporter.is_some() && context.is_sampled();
        let context = match &parent {
            Some(parent) => parent.with_span(random_id()),
            None => TraceContext::new(random_id(), random_id(), self.exporter.is_some()),
        };
        let finished = is_exported(&context).then(|| Arc::clone(&self.finished));
        OpenSpan::new(CurrentSpan { context, finished }, parent)
    }

    /// Like [`open_span`](Self::open_span). Without a parent, the span belongs to the trace of X-Ray, if the Lambda
    /// service has sent its id, so that the log lines contain the id that X-Ray shows.
    pub fn open_span_or_follow_xray(&self, parent: Option<TraceContext>, xray_trace_id: Option<&str>) -> OpenSpan {
        let of_xray = || {
            let context = TraceContext::parse_xray(xray_trace_id?, random_id())?;
            let is_sampled = context.is_sampled() || self.exporter.is_some();
            Some(context.with_sampling(is_sampled))
        };
        self.open_span(parent.or_else(of_xray))
    }

    /// Starts to send the finished spans. A failure is only logged.
    pub async fn export(self) {
        let finished = mem::take(&mut *self.finished.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(exporter) = self.exporter.filter(|_| !finished.is_empty()) {
            exporter.export(&finished).await;
        }
    }
}

/// A span that has not ended. It is not exported unless [`end`](Self::end) is called.
pub(crate) struct OpenSpan {
    current: CurrentSpan,
    parent: Option<TraceContext>,
    started_at: Timestamp,
    started: Instant,
}

/// What is known about a span at its end.
pub(crate) struct SpanResult {
    pub kind: SpanKind,
    /// Contains neither ids nor secrets, so that equal steps have equal names.
    pub name: String,
    pub has_failed: bool,
    pub attributes: Vec<Attribute>,
}

impl OpenSpan {
    fn new(current: CurrentSpan, parent: Option<TraceContext>) -> Self {
        Self { current, parent, started_at: clock::now(), started: Instant::now() }
    }

    pub fn context(&self) -> &TraceContext {
        &self.current.context
    }

    /// Runs the work of the span.
    pub async fn run<T>(&self, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self.current.clone(), work).await
    }

    /// Ends the span. `result` is called only if the span is exported.
    pub fn end(self, result: impl FnOnce() -> SpanResult) {
        let Some(finished) = self.current.finished else { return };
        let SpanResult { kind, name, has_failed, attributes } = result();
        let started_at_ns = self.started_at.0.saturating_mul(1_000_000);
        let duration_ns = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let ended_at_ns = started_at_ns.saturating_add(duration_ns);
        let (context, parent) = (self.current.context, self.parent);
        let span = FinishedSpan { context, parent, kind, name, started_at_ns, ended_at_ns, has_failed, attributes };
        finished.lock().unwrap_or_else(PoisonError::into_inner).push(span);
    }
}

/// Returns the context of the current span. Returns `None` outside of an invocation that has one.
pub(crate) fn current() -> Option<TraceContext> {
    CURRENT.try_with(|current| current.context.clone()).ok()
}

/// Opens a span that the current one has caused. Returns `None` if there is no current span.
pub(crate) fn open_child_span() -> Option<OpenSpan> {
    let CurrentSpan { context: parent, finished } = CURRENT.try_with(CurrentSpan::clone).ok()?;
    Some(OpenSpan::new(CurrentSpan { context: parent.with_span(random_id()), finished }, Some(parent)))
}

/// Returns an id that is not zero. If the system has no random numbers, the work continues with a fixed id.
fn random_id<const N: usize>() -> [u8; N] {
    random_bytes().ok().filter(|id| *id != [0; N]).unwrap_or([1; N])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const XRAY: &str = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";

    fn parent(flags: &str) -> Option<TraceContext> {
        TraceContext::parse(&format!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-{flags}"), "a=1")
    }

    #[tokio::test]
    async fn each_child_has_a_span_id_of_its_own() {
        let tracer = Tracer { exporter: None };
        let span = tracer.begin_invocation().open_span(parent("01"));
        let (current, children) = span.run(async { (current(), [(); 3].map(|()| open_child_span().unwrap())) }).await;
        assert_eq!(current.as_ref(), Some(span.context()));
        let contexts = children.iter().map(OpenSpan::context).chain([span.context()]);
        let mut ids: Vec<_> = contexts.clone().map(TraceContext::span_id).collect();
        ids.extend(parent("01").map(|parent| parent.span_id()));
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 5);
        for context in contexts {
            let expected = parent("01").unwrap().with_span(context.span_id());
            assert_eq!(*context, expected, "trace id, flags and state are those of the parent");
        }
        assert_eq!((super::current(), open_child_span().is_some()), (None, false));
    }

    #[test]
    fn trace_of_xray_is_followed_without_another_parent() {
        let tracer = Tracer { exporter: None };
        let invocation = tracer.begin_invocation();
        let followed = |parent, xray| invocation.open_span_or_follow_xray(parent, xray).context().trace_id_hex();
        assert_eq!(followed(None, Some(XRAY)), "5759e988bd862e3fe1be46a994272793");
        assert_eq!(followed(parent("00"), Some(XRAY)), "0af7651916cd43dd8448eb211c80319c");
        assert_ne!(followed(None, Some("Root=1")), followed(None, None));
    }

    #[tokio::test]
    async fn only_sampled_spans_are_kept_for_the_export() {
        let tracer = Tracer { exporter: SpanExporter::new("http://127.0.0.1:9") };
        for (parent, is_kept) in [(None, true), (parent("01"), true), (parent("00"), false)] {
            let invocation = tracer.begin_invocation();
            let span = invocation.open_span(parent);
            assert_eq!(span.context().is_sampled(), is_kept);
            let child = span.run(async { open_child_span().unwrap() }).await;
            for span in [child, span] {
                let (kind, name) = (SpanKind::Server, "step".to_owned());
                span.end(|| SpanResult { kind, name, has_failed: false, attributes: Vec::new() });
            }
            assert_eq!(invocation.finished.lock().unwrap().len(), if is_kept { 2 } else { 0 });
        }
    }
}
