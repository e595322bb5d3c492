//! A call and what it is made of.

use std::time::Duration;

use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::calls::phone_call::status::CallStatus;
use crate::domain::named::named;
use crate::domain::timestamp::Timestamp;

named! {
    #[derive(PartialOrd, Ord)]
    pub enum CallKind as CallType {
        /// The visitor has asked for the call.
        Callback = "callback",
        Incoming = "incoming",
        Outgoing = "outgoing",
    }
}

/// What a call costs the account's balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallCharge {
    /// Incoming calls are free.
    Free,
    /// These minutes have been taken from the balance. Those that are not used are given back when the call ends.
    Reserved(u64),
    /// The call has ended, and these minutes have been charged.
    Charged(u64),
}

/// A call as webhooks see it (specification, table C1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhoneCall {
    pub kind: CallKind,
    pub phone: String,
    pub status: CallStatus,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallAgent {
    pub agent: AgentSnapshot,
    /// The agent's phone number in E.164 format.
    pub phone: String,
}

/// The time limits of a call, which are copied from the account's telephony settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// How long each of the two phones rings.
    pub ring: Duration,
    /// The maximum duration of the conversation.
    pub talk: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub kind: CallKind,
    /// The phone number of the visitor in E.164 format.
    pub phone: String,
    /// The agent who is called. `None` if no agent was available for an incoming call.
    pub agent: Option<CallAgent>,
    pub status: CallStatus,
    /// When the status last changed. While the agent's phone rings, this is the time of the provider's first report, if
    /// there is one, because a call can be ordered some time after its start.
    pub status_at: Timestamp,
    pub started_at: Timestamp,
    pub charge: CallCharge,
    /// How long the agent and the visitor have talked. `None` until the call has ended or failed.
    pub talk_time: Option<Duration>,
    /// The provider's id of the call. `None` until a report contains it.
    pub provider_call_id: Option<String>,
    /// Whether the provider has sent any report about the call, which shows that it has accepted the call. Always true
    /// for an incoming call, because the provider has announced it.
    pub is_acknowledged: bool,
    pub limits: CallLimits,
    /// The public base URL of the service when the call started. The provider sends its reports to a URL under this
    /// base URL.
    pub base_url: String,
    /// The number of changes so far. It detects concurrent changes: a write succeeds only if the stored number is the
    /// one that was read.
    pub revision: u32,
}

impl Call {
    pub fn event(&self, status: CallStatus) -> PhoneCall {
        PhoneCall { kind: self.kind, phone: self.phone.clone(), status }
    }
}
