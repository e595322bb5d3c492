//! The stored form of a delivery: an attribute of the entry's item in the Chats table.

use serde::{Deserialize, Serialize};

use crate::domain::deliveries::delivery::{Attempt, Delivery, DeliveryState, Failure, Target};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::items::unknown_value;

#[derive(Serialize, Deserialize)]
pub(crate) struct DeliveryItem {
    target: String,
    state: String,
    round: u32,
    #[serde(default)]
    requeues: u32,
    round_started_at: u64,
    attempts_made: u32,
    attempts: Vec<AttemptItem>,
    #[serde(default)]
    attempts_left_out: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<FailureItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result_visible_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    late_until: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fetch_until: Option<u64>,
}

impl From<&Delivery> for DeliveryItem {
    fn from(delivery: &Delivery) -> Self {
        let Delivery {
            target,
            state,
            round,
            requeues,
            round_started_at,
            attempts_made,
            attempts,
            attempts_left_out,
            failure,
            result_visible_at,
            late_until,
            fetch_until,
        } = delivery.clone();
        Self {
            target: target.name().to_owned(),
            state: state.name().to_owned(),
            round,
            requeues,
            round_started_at: round_started_at.0,
            attempts_made,
            attempts: attempts.iter().map(AttemptItem::from).collect(),
            attempts_left_out,
            failure: failure.as_ref().map(FailureItem::from),
            result_visible_at: result_visible_at.map(|at| at.0),
            late_until: late_until.map(|until| until.0),
            fetch_until: fetch_until.map(|until| until.0),
        }
    }
}

impl TryFrom<DeliveryItem> for Delivery {
    type Error = Error;

    fn try_from(item: DeliveryItem) -> Result<Self, Error> {
        Ok(Self {
            target: Target::parse(&item.target).ok_or_else(unknown_value("target"))?,
            state: DeliveryState::parse(&item.state).ok_or_else(unknown_value("delivery state"))?,
            round: item.round,
            requeues: item.requeues,
            round_started_at: Timestamp(item.round_started_at),
            attempts_made: item.attempts_made,
            attempts: item.attempts.into_iter().map(Attempt::from).collect(),
            attempts_left_out: item.attempts_left_out,
            failure: item.failure.map(Failure::from),
            result_visible_at: item.result_visible_at.map(Timestamp),
            late_until: item.late_until.map(Timestamp),
            fetch_until: item.fetch_until.map(Timestamp),
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct AttemptItem {
    at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    duration_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

impl From<&Attempt> for AttemptItem {
    fn from(attempt: &Attempt) -> Self {
        let Attempt { at, status, duration_ms, error, answer } = attempt.clone();
        Self { at: at.0, status, duration_ms, error, answer }
    }
}

impl From<AttemptItem> for Attempt {
    fn from(item: AttemptItem) -> Self {
        let AttemptItem { at, status, duration_ms, error, answer } = item;
        Self { at: Timestamp(at), status, duration_ms, error, answer }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct FailureItem {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<i64>,
    message: String,
    hidden: bool,
}

impl From<&Failure> for FailureItem {
    fn from(failure: &Failure) -> Self {
        let Failure { code, message, hidden } = failure.clone();
        Self { code, message, hidden }
    }
}

impl From<FailureItem> for Failure {
    fn from(item: FailureItem) -> Self {
        let FailureItem { code, message, hidden } = item;
        Self { code, message, hidden }
    }
}
