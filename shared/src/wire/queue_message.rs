//! The messages in the delivery queues. A message is a task, to which the trace context is added that the task's work
//! belongs to. A function of an earlier version ignores the context, and sends messages without one.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::trace_context::TraceContext;
use crate::wire::queue_task::Task;

#[derive(Deserialize)]
struct TraceFields {
    #[serde(default)]
    traceparent: String,
    #[serde(default)]
    tracestate: String,
}

pub fn build(task: &Task, trace: Option<&TraceContext>) -> String {
    let mut message = json!(task);
    if let (Some(trace), Some(fields)) = (trace, message.as_object_mut()) {
        fields.insert("traceparent".to_owned(), trace.traceparent().into());
        let state = trace.tracestate().map(|state| ("tracestate".to_owned(), Value::from(state)));
        fields.extend(state);
    }
    message.to_string()
}

/// Returns the trace context of a message. Returns `None` if it has none that is valid, which must not fail the task.
pub fn parse_trace(message: &str) -> Option<TraceContext> {
    let TraceFields { traceparent, tracestate } = serde_json::from_str(message).ok()?;
    TraceContext::parse(&traceparent, &tracestate)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TRACEPARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn message_contains_the_task_and_its_trace() {
        let task = Task::first_attempt_of_new_entry("a", 7, 3);
        for tracestate in ["", "a=1,b=2"] {
            let trace = TraceContext::parse(TRACEPARENT, tracestate).unwrap();
            let message = build(&task, Some(&trace));
            assert_eq!((Task::from_json(&message).unwrap(), parse_trace(&message)), (task.clone(), Some(trace)));
        }
        assert_eq!(build(&task, None), task.to_json());
    }

    #[test]
    fn message_without_a_valid_trace_is_still_a_task() {
        let task = Task::first_attempt_of_new_entry("a", 7, 3);
        for traceparent in [json!(null), json!(7), json!("00-x"), json!({})] {
            let mut message = json!(task);
            message["traceparent"] = traceparent;
            let message = message.to_string();
            assert_eq!((Task::from_json(&message).unwrap(), parse_trace(&message)), (task.clone(), None));
        }
        assert_eq!(parse_trace(&task.to_json()), None);
    }
}
