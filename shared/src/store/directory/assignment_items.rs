//! The stored form of the assignment of chats and of the time limits of answers, in the settings of an account and of a
//! department.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::accounts::answer_times::AnswerTimes;
use crate::domain::accounts::assignment::{Assignment, AssignmentMode, AssignmentRule};

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct AssignmentItem {
    #[serde(flatten)]
    rule: AssignmentRuleItem,
    capacity: u32,
}

impl From<Assignment> for AssignmentItem {
    fn from(Assignment { rule, capacity }: Assignment) -> Self {
        Self { rule: rule.into(), capacity }
    }
}

impl From<AssignmentItem> for Assignment {
    fn from(AssignmentItem { rule, capacity }: AssignmentItem) -> Self {
        Self { rule: rule.into(), capacity }
    }
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct AssignmentRuleItem {
    mode: String,
    offer_seconds: Option<u64>,
}

impl From<AssignmentRule> for AssignmentRuleItem {
    fn from(AssignmentRule { mode, offer }: AssignmentRule) -> Self {
        Self { mode: mode.name().to_owned(), offer_seconds: offer.map(|offer| offer.as_secs()) }
    }
}

impl From<AssignmentRuleItem> for AssignmentRule {
    /// With a mode that this version does not know, chats are accepted by hand, because an error would make all of the
    /// account's requests fail.
    fn from(AssignmentRuleItem { mode, offer_seconds }: AssignmentRuleItem) -> Self {
        let mode = AssignmentMode::parse(&mode).unwrap_or(AssignmentMode::Manual);
        Self { mode, offer: offer_seconds.map(Duration::from_secs) }
    }
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct AnswerTimesItem {
    first_seconds: Option<u64>,
    next_seconds: Option<u64>,
}

impl From<AnswerTimes> for AnswerTimesItem {
    fn from(AnswerTimes { first, next }: AnswerTimes) -> Self {
        let seconds = |limit: Option<Duration>| limit.map(|limit| limit.as_secs());
        Self { first_seconds: seconds(first), next_seconds: seconds(next) }
    }
}

impl From<AnswerTimesItem> for AnswerTimes {
    fn from(AnswerTimesItem { first_seconds, next_seconds }: AnswerTimesItem) -> Self {
        Self { first: first_seconds.map(Duration::from_secs), next: next_seconds.map(Duration::from_secs) }
    }
}
