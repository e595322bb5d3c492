//! The audit log: who changed the configuration of an account, signed in, or exported, erased or repeated something,
//! when, and from where. Entries contain the names of the resource and of the changed fields, but not the values of the
//! fields, because values can contain secrets.

use crate::domain::named::named;
use std::time::Duration;

use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::timestamp::Timestamp;

/// How long an entry is kept. The account's retention period does not apply, so that an admin cannot shorten the log.
pub const AUDIT_RETENTION: Duration = Duration::from_secs(400 * 24 * 60 * 60);

named! {
    pub enum AuditAction {
        Created = "created",
        Changed = "changed",
        Deleted = "deleted",
        /// A secret was replaced: the endpoint secret of a channel, or the signing secret of a channel, a bot or a
        /// webhook.
        Rotated = "rotated",
        SignedIn = "signed_in",
        /// A sign-in with the e-mail address of an agent and a wrong password.
        SignInRefused = "sign_in_refused",
        Exported = "exported",
        Erased = "erased",
        Replayed = "replayed",
        /// A sample request was sent to a receiver.
        Tested = "tested",
        Blacklisted = "blacklisted",
        Unblacklisted = "unblacklisted",
        Merged = "merged",
        Separated = "separated",
        ToppedUp = "topped_up",
        Suspended = "suspended",
        Resumed = "resumed",
    }
}

named! {
    pub enum AuditedKind {
        Settings = "settings",
        Webhook = "webhook",
        Channel = "channel",
        Bot = "bot",
        Agent = "agent",
        Department = "department",
        CannedReply = "canned_reply",
        Telephony = "telephony",
        /// The session that a sign-in starts. Its id is the agent's.
        Session = "session",
        Visitor = "visitor",
        /// Exported chats. The id of the entry is the number of the chat, or empty if several chats were exported.
        Chats = "chats",
        /// Replayed deliveries. The id of the entry is `<chat>/<seq>`, the chat's number, or empty for a time range.
        Delivery = "delivery",
        CallBalance = "call_balance",
        Account = "account",
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
