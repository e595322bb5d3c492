//! Requests and responses of GET /admin/audit.

use serde_json::{Value, json};

use crate::domain::audit::{AuditEntry, AuditFilter, AuditPage, AuditedChange, AuditedKind, AuditedRequest};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::query_parameters::{query_number, time_range};

const MAX_LIMIT: u64 = 100;
const DEFAULT_LIMIT: u64 = 50;
/// The maximum length of a cursor, which is the id of an entry.
const MAX_ID_CHARS: usize = 64;

#[derive(Debug, PartialEq)]
pub struct AuditRequest {
    pub filter: AuditFilter,
    pub from: Timestamp,
    pub to: Timestamp,
    pub cursor: Option<String>,
    pub limit: usize,
}

/// Parses the query parameters of GET /admin/audit. `query` returns the value of a parameter.
pub fn parse_audit_request(query: &dyn Fn(&str) -> Option<String>) -> Result<AuditRequest, Error> {
    let number = |name: &str| query_number(query, name);
    let unknown_kind = || Error::field("kind", format_args!("must be one of {}", AuditedKind::names()));
    let kind = query("kind").map(|name| AuditedKind::parse(&name).ok_or_else(unknown_kind));
    let limit = number("limit")?.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(Error::field("limit", format_args!("must be a whole number from 1 to {MAX_LIMIT}")));
    }
    let cursor = query("cursor").map(parse_cursor).transpose()?;
    let filter = AuditFilter { kind: kind.transpose()?, resource_id: query("id"), agent_id: number("agent_id")? };
    let (from, to) = time_range(number("from")?, number("to")?)?;
    Ok(AuditRequest { filter, from, to, cursor, limit: usize::try_from(limit).map_err(Error::internal)? })
}

fn parse_cursor(text: String) -> Result<String, Error> {
    let is_cursor = text.len() <= MAX_ID_CHARS && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_cursor { Ok(text) } else { Err(Error::field("cursor", "must be a value that this endpoint has returned")) }
}

pub fn audit_page_json(page: &AuditPage) -> Value {
    json!({ "entries": page.entries.iter().map(entry_json).collect::<Vec<_>>(), "next": page.next })
}

fn entry_json(entry: &AuditEntry) -> Value {
    let AuditEntry { id, request, change } = entry;
    let AuditedRequest { agent, source_address, at } = request;
    let AuditedChange { action, kind, id: resource_id, name, fields } = change;
    json!({
        "id": id,
        "timestamp": at.seconds(),
        "agent": agent.as_ref().map(|agent| json!({ "id": agent.agent_id, "name": agent.name })),
        "source_address": source_address,
        "action": action.name(),
        "kind": kind.name(),
        "resource_id": resource_id,
        "resource_name": name,
        "fields": fields,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parse(parameters: &[(&str, &str)]) -> Result<AuditRequest, Error> {
        parse_audit_request(&|name| {
            parameters.iter().find(|(parameter, _)| *parameter == name).map(|(_, value)| (*value).to_owned())
        })
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
