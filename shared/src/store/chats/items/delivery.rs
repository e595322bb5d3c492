//! The delivery of an entry: how far it is, and its tries.

use serde::{Deserialize, Serialize};

use crate::domain::delivery::{Attempt, Delivery, DeliveryState, Failure, Target};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::items::unknown;

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct DeliveryItem {
    target: String,
    state: String,
    round: u32,
    #[serde(default)]
    revivals: u32,
    since: u64,
    attempts_made: u32,
    attempts: Vec<AttemptItem>,
    #[serde(default)]
    attempts_left_out: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<FailureItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verdict_at: Option<u64>,
}

impl From<&Delivery> for DeliveryItem {
    fn from(delivery: &Delivery) -> Self {
        let Delivery {
            target,
            state,
            round,
            revivals,
            since,
            attempts_made,
            attempts,
            attempts_left_out,
            failure,
            verdict_at,
        } = delivery.clone();
        Self {
            target: target.name().to_owned(),
            state: state.name().to_owned(),
            round,
            revivals,
            since: since.0,
            attempts_made,
            attempts: attempts.iter().map(AttemptItem::from).collect(),
            attempts_left_out,
            failure: failure.as_ref().map(FailureItem::from),
            verdict_at: verdict_at.map(|at| at.0),
        }
    }
}

impl TryFrom<DeliveryItem> for Delivery {
    type Error = Error;

    fn try_from(item: DeliveryItem) -> Result<Self, Error> {
        Ok(Self {
            target: Target::parse(&item.target).ok_or_else(unknown("target"))?,
            state: DeliveryState::parse(&item.state).ok_or_else(unknown("delivery state"))?,
            round: item.round,
            revivals: item.revivals,
            since: Timestamp(item.since),
            attempts_made: item.attempts_made,
            attempts: item.attempts.into_iter().map(Attempt::from).collect(),
            attempts_left_out: item.attempts_left_out,
            failure: item.failure.map(Failure::from),
            verdict_at: item.verdict_at.map(Timestamp),
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct AttemptItem {
    at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

impl From<&Attempt> for AttemptItem {
    fn from(attempt: &Attempt) -> Self {
        let Attempt { at, status, ms, error, answer } = attempt.clone();
        Self { at: at.0, status, ms, error, answer }
    }
}

impl From<AttemptItem> for Attempt {
    fn from(item: AttemptItem) -> Self {
        let AttemptItem { at, status, ms, error, answer } = item;
        Self { at: Timestamp(at), status, ms, error, answer }
    }
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct FailureItem {
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
