//! The time limits of answers in the settings of an account and of a department.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::accounts::answer_times::{self, MAX_ANSWER_TIME, MIN_ANSWER_TIME};
use crate::wire::fields::values::Whole;

const MIN_SECONDS: u64 = MIN_ANSWER_TIME.as_secs();
const MAX_SECONDS: u64 = MAX_ANSWER_TIME.as_secs();

type Seconds = Whole<MIN_SECONDS, MAX_SECONDS>;

/// Time limits in seconds. They do not run outside the business hours. Absent or null: no limit.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct AnswerTimesChange {
    /// From the moment at which the visitor begins to wait for an agent, or writes to one, to the agent's first message
    /// in the chat.
    first_answer_seconds: Option<Seconds>,
    /// From the visitor's first message after an agent's message to the next message of an agent.
    next_answer_seconds: Option<Seconds>,
}

impl From<AnswerTimesChange> for answer_times::AnswerTimes {
    fn from(AnswerTimesChange { first_answer_seconds, next_answer_seconds }: AnswerTimesChange) -> Self {
        let limit = |seconds: Option<Seconds>| seconds.map(|Whole(seconds)| Duration::from_secs(seconds));
        Self { first: limit(first_answer_seconds), next: limit(next_answer_seconds) }
    }
}

/// Time limits in seconds. Null: no limit.
#[derive(Serialize, JsonSchema)]
pub struct AnswerTimes {
    first_answer_seconds: Option<u64>,
    next_answer_seconds: Option<u64>,
}

impl From<answer_times::AnswerTimes> for AnswerTimes {
    fn from(answer_times::AnswerTimes { first, next }: answer_times::AnswerTimes) -> Self {
        let seconds = |limit: Option<Duration>| limit.map(|limit| limit.as_secs());
        Self { first_answer_seconds: seconds(first), next_answer_seconds: seconds(next) }
    }
}
