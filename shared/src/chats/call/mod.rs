//! Calls of visitors and to visitors.

pub mod call_visitor;
pub mod receive_call;
pub mod report_call;
