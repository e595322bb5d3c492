//! The audit log: who changed the configuration of an account, when, and from where. Entries contain the names of the
//! changed resource and of the changed fields, but not the values of the fields, because values can contain secrets.

use crate::domain::agent::AgentSnapshot;
use crate::domain::timestamp::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditAction {
    Created,
    Changed,
    Deleted,
    /// A secret was replaced: the endpoint secret of a channel, or the signing secret of a channel, a bot or a webhook.
    Rotated,
}

impl AuditAction {
    const ALL: [Self; 4] = [Self::Created, Self::Changed, Self::Deleted, Self::Rotated];

    /// Returns the name of this value in the API and in stored items.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
            Self::Rotated => "rotated",
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
}

impl AuditedKind {
    const ALL: [Self; 8] = [
        Self::Settings,
        Self::Webhook,
        Self::Channel,
        Self::Bot,
        Self::Agent,
        Self::Department,
        Self::CannedReply,
        Self::Telephony,
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
    /// The agent who sent the request. `None` stands for the operator.
    pub agent: Option<AgentSnapshot>,
    /// The client's IP address, as reported by the API gateway.
    pub source_address: String,
    pub at: Timestamp,
    /// When the entry expires. `None` means that it never expires.
    pub retain_until: Option<Timestamp>,
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
