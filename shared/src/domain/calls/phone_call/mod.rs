//! Phone calls between an agent and a visitor. A call consists of two legs: one connects the agent, the other the
//! visitor. In callbacks and outgoing calls, the agent is called first. In an incoming call, the visitor is connected
//! from the beginning.

mod call;
mod failure;
mod progress;
mod status;

pub use call::{Call, CallAgent, CallCharge, CallKind, CallLimits, PhoneCall};
pub use failure::CallFailure;
pub use progress::{CallCheck, CallProgress, CallReport, MAX_REASON_CHARS};
pub use status::CallStatus;
