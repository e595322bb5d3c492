//! The stored form of a phone call: an attribute in the content of the call's entry.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::calls::phone_call::{Call, CallAgent, CallCharge, CallKind, CallLimits, CallStatus};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::items::header::AgentSnapshotItem;
use crate::store::chats::items::unknown_value;

#[derive(Serialize, Deserialize)]
pub(crate) struct CallItem {
    kind: String,
    phone: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<AgentSnapshotItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_phone: Option<String>,
    status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record_url: Option<String>,
    status_at: u64,
    #[serde(default)]
    started_at: u64,
    /// Present until the call has ended, unless the call is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reserved_minutes: Option<u64>,
    /// Present after the call has ended, unless the call is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    charged_minutes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    talk_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider_call_id: Option<String>,
    #[serde(default)]
    is_acknowledged: bool,
    ring_seconds: u64,
    max_talk_seconds: u64,
    base_url: String,
    revision: u32,
}

impl From<Call> for CallItem {
    fn from(call: Call) -> Self {
        let Call {
            kind,
            phone,
            agent,
            status,
            status_at,
            started_at,
            charge,
            talk_time,
            provider_call_id,
            is_acknowledged,
            limits: CallLimits { ring, talk },
            base_url,
            revision,
        } = call;
        let (reserved_minutes, charged_minutes) = match charge {
            CallCharge::Free => (None, None),
            CallCharge::Reserved(minutes) => (Some(minutes), None),
            CallCharge::Charged(minutes) => (None, Some(minutes)),
        };
        Self {
            kind: kind.name().to_owned(),
            phone,
            agent: agent.as_ref().map(|called| AgentSnapshotItem::from(&called.agent)),
            agent_phone: agent.map(|called| called.phone),
            reason: status.reason().map(str::to_owned),
            record_url: status.record_url().map(str::to_owned),
            status: status.name().to_owned(),
            status_at: status_at.0,
            started_at: started_at.0,
            reserved_minutes,
            charged_minutes,
            talk_ms: talk_time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            provider_call_id,
            is_acknowledged,
            ring_seconds: ring.as_secs(),
            max_talk_seconds: talk.as_secs(),
            base_url,
            revision,
        }
    }
}

impl TryFrom<CallItem> for Call {
    type Error = Error;

    fn try_from(item: CallItem) -> Result<Self, Error> {
        let agent = item.agent.map(AgentSnapshot::from).zip(item.agent_phone);
        Ok(Self {
            kind: CallKind::parse(&item.kind).ok_or_else(unknown_value("call"))?,
            phone: item.phone,
            agent: agent.map(|(agent, phone)| CallAgent { agent, phone }),
            status: CallStatus::parse(&item.status, item.reason, item.record_url).ok_or_else(unknown_value("call"))?,
            status_at: Timestamp(item.status_at),
            started_at: Timestamp(item.started_at),
            charge: match (item.reserved_minutes, item.charged_minutes) {
                (_, Some(minutes)) => CallCharge::Charged(minutes),
                (Some(minutes), None) => CallCharge::Reserved(minutes),
                (None, None) => CallCharge::Free,
            },
            talk_time: item.talk_ms.map(Duration::from_millis),
            provider_call_id: item.provider_call_id,
            is_acknowledged: item.is_acknowledged,
            limits: CallLimits {
                ring: Duration::from_secs(item.ring_seconds),
                talk: Duration::from_secs(item.max_talk_seconds),
            },
            base_url: item.base_url,
            revision: item.revision,
        })
    }
}
