//! The time limits within which the agents of an account or of a department should answer visitors.

use std::time::Duration;

pub const MIN_ANSWER_TIME: Duration = Duration::from_secs(10);
pub const MAX_ANSWER_TIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The limits. `None`: no limit. They do not run outside the business hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerTimes {
    /// From the moment at which the visitor begins to wait for an agent, or writes to one, to the agent's first message
    /// in the chat.
    pub first: Option<Duration>,
    /// From the visitor's first message after an agent's message to the next message of an agent.
    pub next: Option<Duration>,
}

impl AnswerTimes {
    pub fn limit(&self, is_first: bool) -> Option<Duration> {
        if is_first { self.first } else { self.next }
    }
}
