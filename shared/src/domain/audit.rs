//! The audit log: who changed the configuration of an account, signed in, or exported, erased or repeated something,
//! when, and from where. Entries contain the names of the resource and of the changed fields, but not the values of the
//! fields, because values can contain secrets.

use std::time::Duration;

use crate::domain::agent::AgentSnapshot;
use crate::domain::timestamp::Timestamp;

/// How long an entry is kept. The account's retention period does not apply, so that an admin cannot shorten the log.
pub const AUDIT_RETENTION: Duration = Duration::from_secs(400 * 24 * 60 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditAction {
    Created,
    Changed,
    Deleted,
    /// A secret was replaced: the endpoint secret of a channel, or the signing secret of a channel, a bot or a webhook.
    Rotated,
    SignedIn,
    /// A sign-in with the e-mail address of an agent and a wrong password.
    SignInRefused,
    Exported,
    Erased,
    Replayed,
    /// A sample request was sent to a receiver.
    Tested,
    Blacklisted,
    Unblacklisted,
    ToppedUp,
    Suspended,
    Resumed,
}

impl AuditAction {
    const ALL: [Self; 15] = [
        Self::Created,
        Self::Changed,
        Self::Deleted,
        Self::Rotated,
        Self::SignedIn,
        Self::SignInRefused,
        Self::Exported,
        Self::Erased,
        Self::Replayed,
        Self::Tested,
        Self::Blacklisted,
        Self::Unblacklisted,
        Self::ToppedUp,
        Self::Suspended,
        Self::Resumed,
    ];

    /// Returns the name of this value in the API and in stored items.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
            Self::Rotated => "rotated",
            Self::SignedIn => "signed_in",
            Self::SignInRefused => "sign_in_refused",
            Self::Exported => "exported",
            Self::Erased => "erased",
            Self::Replayed => "replayed",
            Self::Tested => "tested",
            Self::Blacklisted => "blacklisted",
            Self::Unblacklisted => "unblacklisted",
            Self::ToppedUp => "topped_up",
            Self::Suspended => "suspended",
            Self::Resumed => "resumed",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditedKind {
    Settings,
    Webhook,
    Channel,
    Bot,
    Agent,
    Department,
    CannedReply,
    Telephony,
    /// The session that a sign-in starts. Its id is the agent's.
    Session,
    Visitor,
    /// Exported chats. The id of the entry is the number of the chat, or empty if several chats were exported.
    Chats,
    /// Replayed deliveries. The id of the entry is `<chat>/<seq>`, the chat's number, or empty for a time range.
    Delivery,
    CallBalance,
    Account,
}

impl AuditedKind {
    const ALL: [Self; 14] = [
        Self::Settings,
        Self::Webhook,
        Self::Channel,
        Self::Bot,
        Self::Agent,
        Self::Department,
        Self::CannedReply,
        Self::Telephony,
        Self::Session,
        Self::Visitor,
        Self::Chats,
        Self::Delivery,
        Self::CallBalance,
        Self::Account,
    ];

    /// Returns the name of this value in the API and in stored items.
    pub fn name(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Webhook => "webhook",
            Self::Channel => "channel",
            Self::Bot => "bot",
            Self::Agent => "agent",
            Self::Department => "department",
            Self::CannedReply => "canned_reply",
            Self::Telephony => "telephony",
            Self::Session => "session",
            Self::Visitor => "visitor",
            Self::Chats => "chats",
            Self::Delivery => "delivery",
            Self::CallBalance => "call_balance",
            Self::Account => "account",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns all names, separated by commas, for the error message about an unknown name.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditedRequest {
    /// The agent who sent the request or, for a refused sign-in, the agent with this e-mail address. `None` stands for
    /// the operator.
    pub agent: Option<AgentSnapshot>,
    /// The client's IP address, as reported by the API gateway.
    pub source_address: String,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditedChange {
    pub action: AuditAction,
    pub kind: AuditedKind,
    /// The id of the changed resource. It is empty for the settings and the telephony settings, which have none.
    pub id: String,
    /// The name of the changed resource at the time of the change. `None` if it has no name.
    pub name: Option<String>,
    /// The names of the changed fields, or of the rotated secret. Empty if the resource was created or deleted.
    pub fields: Vec<String>,
}

impl AuditedChange {
    pub fn named(action: AuditAction, kind: AuditedKind, id: impl Into<String>, name: &str) -> Self {
        Self { action, kind, id: id.into(), name: Some(name.to_owned()), fields: Vec::new() }
    }

    /// A change of something that has no name.
    pub fn unnamed(action: AuditAction, kind: AuditedKind, id: impl Into<String>) -> Self {
        Self { action, kind, id: id.into(), name: None, fields: Vec::new() }
    }

    #[must_use]
    pub fn with_fields(self, fields: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { fields: fields.into_iter().map(Into::into).collect(), ..self }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// The id starts with the time of the change, so entries sorted by id are in order of time.
    pub id: String,
    pub request: AuditedRequest,
    pub change: AuditedChange,
}

#[derive(Debug, PartialEq)]
pub struct AuditPage {
    /// The entries of this page, newest first.
    pub entries: Vec<AuditEntry>,
    /// Where the next page continues: the id of the last examined entry. `None` if there are no further entries.
    pub next: Option<String>,
}

/// Selects entries of the audit log. A field that is `None` does not restrict the selection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    pub kind: Option<AuditedKind>,
    pub resource_id: Option<String>,
    pub agent_id: Option<u64>,
}

impl AuditFilter {
    pub fn matches(&self, entry: &AuditEntry) -> bool {
        let AuditEntry { id: _, request, change } = entry;
        let agent_id = request.agent.as_ref().map(|agent| agent.agent_id);
        self.kind.is_none_or(|kind| kind == change.kind)
            && self.resource_id.as_ref().is_none_or(|id| *id == change.id)
            && self.agent_id.is_none_or(|id| Some(id) == agent_id)
    }
}
