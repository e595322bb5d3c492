//! GET /admin/audit: the query, the page and the operation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::Operation;
use crate::domain::accounts::audit::{
    self, AuditAction, AuditFilter, AuditPage, AuditedChange, AuditedKind, AuditedRequest,
};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::agent::ChatAgent;
use crate::wire::fields::query_parameters::{CURSOR_RULE, time_range};
use crate::wire::fields::values::{Name, NextCursor, NotNull, UnixSeconds, Whole};

const MAX_LIMIT: u64 = 100;
const DEFAULT_LIMIT: u64 = 50;
/// The maximum length of a cursor, which is the id of an entry.
const MAX_ID_CHARS: usize = 64;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/admin/audit", "auditLog", "Lists the entries of the audit log, newest first")
            .describe("An entry is kept for 400 days, whatever the account's retention period is.")
            .query::<AuditLogQuery>()
            .answers::<AuditLog>(200, "A page of entries. It can be empty even if further pages follow."),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct AuditLogQuery {
    /// Selects entries about resources of this kind.
    #[serde(default)]
    kind: NotNull<Name<AuditedKind>>,
    /// Selects entries about the resource with this id.
    #[serde(default)]
    id: NotNull<String>,
    /// Selects the entries of this agent.
    #[serde(default)]
    agent_id: NotNull<u64>,
    /// Unix seconds.
    #[serde(default)]
    from: NotNull<u64>,
    /// Unix seconds, inclusive.
    #[serde(default)]
    to: NotNull<u64>,
    /// The page size.
    #[serde(default)]
    #[schemars(extend("default" = DEFAULT_LIMIT))]
    limit: NotNull<Whole<1, MAX_LIMIT>>,
    /// The value of next from the previous page.
    #[serde(default)]
    #[schemars(regex(pattern = "^[0-9A-Za-z-]{1,64}$"))]
    cursor: NotNull<String>,
}

/// The entries that a query selects.
#[derive(Debug, PartialEq)]
pub struct AuditRequest {
    pub filter: AuditFilter,
    pub from: Timestamp,
    pub to: Timestamp,
    pub cursor: Option<String>,
    pub limit: usize,
}

impl AuditLogQuery {
    pub fn checked(self) -> Result<AuditRequest, Error> {
        let Self { kind, id, agent_id, from, to, limit, cursor } = self;
        let filter = AuditFilter { kind: kind.0.map(|Name(kind)| kind), resource_id: id.0, agent_id: agent_id.0 };
        let limit = limit.0.map_or(DEFAULT_LIMIT, |Whole(limit)| limit);
        if cursor.0.as_ref().is_some_and(|cursor| !is_cursor(cursor)) {
            return Err(Error::field("cursor", CURSOR_RULE));
        }
        let (from, to) = time_range(from.0, to.0)?;
        Ok(AuditRequest { filter, from, to, cursor: cursor.0, limit: usize::try_from(limit).map_err(Error::internal)? })
    }
}

fn is_cursor(text: &str) -> bool {
    text.len() <= MAX_ID_CHARS && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[derive(Serialize, JsonSchema)]
pub struct AuditLog {
    #[schemars(length(max = MAX_LIMIT))]
    entries: Vec<AuditEntry>,
    next: NextCursor,
}

impl From<AuditPage> for AuditLog {
    fn from(AuditPage { entries, next }: AuditPage) -> Self {
        Self { entries: entries.into_iter().map(AuditEntry::from).collect(), next: NextCursor(next) }
    }
}

/// Something that an agent, an admin or the operator has done. Values are not stored, because they can contain
/// secrets.
#[derive(Serialize, JsonSchema)]
pub struct AuditEntry {
    id: String,
    timestamp: UnixSeconds,
    /// Who made the request or, for a refused sign-in, whose e-mail address it contained. Null for the operator.
    agent: Option<ChatAgent>,
    /// The IP address of the request.
    source_address: String,
    /// rotated: a secret was replaced. tested: a sample request was sent to a receiver. For exported, erased, replayed
    /// and sign_in_refused, equal requests from one address within a minute have one entry.
    action: Name<AuditAction>,
    kind: Name<AuditedKind>,
    /// The id of the resource. For a session the agent's number, for exported chats the chat's number or empty, for a
    /// delivery CHAT/SEQ, the chat's number or empty, for a payment its reference. Empty for the settings, the
    /// telephony settings and the account.
    resource_id: String,
    /// The name of the resource at that time. Null if it has none.
    resource_name: Option<String>,
    /// The names of the changed fields. For rotated: signing_secret or endpoint. Empty for other actions than changed
    /// and rotated.
    fields: Vec<String>,
}

impl From<audit::AuditEntry> for AuditEntry {
    fn from(audit::AuditEntry { id, request, change }: audit::AuditEntry) -> Self {
        let AuditedRequest { agent, source_address, at } = request;
        let AuditedChange { action, kind, id: resource_id, name, fields } = change;
        Self {
            id,
            timestamp: at.into(),
            agent: agent.map(ChatAgent::from),
            source_address,
            action: Name(action),
            kind: Name(kind),
            resource_id,
            resource_name: name,
            fields,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::wire::fields::reader::read_query;

    fn parse(parameters: &[(&str, &str)]) -> Result<AuditRequest, Error> {
        let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        read_query::<AuditLogQuery>(parameters)?.checked()
    }

    #[test]
    fn absent_parameters_select_the_newest_entries() {
        let request = parse(&[]).unwrap();
        assert_eq!((request.limit, request.from, request.cursor), (50, Timestamp(0), None));
        assert_eq!(request.filter, AuditFilter::default());
        let request = parse(&[("kind", "bot"), ("from", "5"), ("to", "7"), ("agent_id", "3"), ("id", "x")]).unwrap();
        assert_eq!((request.from, request.to), (Timestamp(5_000), Timestamp(7_999)));
        let filter = AuditFilter { kind: Some(AuditedKind::Bot), resource_id: Some("x".into()), agent_id: Some(3) };
        assert_eq!(request.filter, filter);
    }

    #[test]
    fn error_names_the_invalid_parameter() {
        let table =
            [("kind", "chat"), ("limit", "0"), ("limit", "101"), ("from", "x"), ("agent_id", "-1"), ("cursor", "a b")];
        for (name, value) in table {
            assert_eq!(parse(&[(name, value)]).unwrap_err().invalid_field(), Some(name), "{value}");
        }
        assert_eq!(parse(&[("from", "5"), ("to", "4")]).unwrap_err().invalid_field(), Some("to"));
        assert!(parse(&[("kind", "chat")]).unwrap_err().to_string().contains("settings, webhook, channel"));
    }
}
