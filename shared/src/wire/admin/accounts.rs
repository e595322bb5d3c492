//! Requests and responses of the /operator/accounts endpoints. The body of POST is in [`super::agents`].

use serde_json::{Value, json};

use crate::domain::account::{Account, DeletionProgress};
use crate::domain::agent::{Agent, Role};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::json_fields::Fields;
use crate::wire::json_object::with_fields;
use crate::wire::query_parameters::query_number;

const MAX_LIMIT: u64 = 100;
const DEFAULT_LIMIT: u64 = 50;
/// The maximum length of a cursor, which is the id of an account.
const MAX_CURSOR_CHARS: usize = 64;

#[derive(Debug, PartialEq, Eq)]
pub struct AccountListRequest {
    /// The e-mail address of an agent, in lower case, whose account is wanted.
    pub email: Option<String>,
    pub limit: i32,
    /// The id of the last account of the page before.
    pub after: Option<String>,
}

/// Parses the query parameters of GET /operator/accounts. `query` returns the value of a parameter.
pub fn parse_account_list(query: &dyn Fn(&str) -> Option<String>) -> Result<AccountListRequest, Error> {
    let limit = query_number(query, "limit")?.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(Error::field("limit", format_args!("must be a whole number from 1 to {MAX_LIMIT}")));
    }
    let after = query("cursor").map(parse_cursor).transpose()?;
    let email = query("email").map(|email| email.trim().to_lowercase());
    Ok(AccountListRequest { email, limit: i32::try_from(limit).map_err(Error::internal)?, after })
}

fn parse_cursor(text: String) -> Result<String, Error> {
    let is_cursor =
        (1..=MAX_CURSOR_CHARS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_cursor { Ok(text) } else { Err(Error::field("cursor", "must be a value that this endpoint has returned")) }
}

/// Parses the body of PATCH /operator/accounts/{account_id}. Returns whether the account shall be suspended.
pub fn parse_account_patch(body: &Value) -> Result<bool, Error> {
    let body = Fields::of(body)?;
    body.boolean("suspended")?.ok_or_else(|| body.invalid("suspended", "is required"))
}

pub fn accounts_json(accounts: &[Account], next: Option<&str>) -> Value {
    json!({ "accounts": accounts.iter().map(account_json).collect::<Vec<_>>(), "next": next })
}

fn account_json(account: &Account) -> Value {
    let Account { account_id, name, created_at, suspended_at, deleting_since: _ } = account;
    json!({
        "account_id": account_id, "name": name, "state": account.state().name(), "created_at": created_at.seconds(),
        "suspended_at": suspended_at.map(Timestamp::seconds),
    })
}

/// Returns an account with the agents who can manage it and the progress of its deletion.
pub fn account_details_json(account: &Account, agents: &[Agent], deletion: Option<&DeletionProgress>) -> Value {
    let admins = agents.iter().filter(|agent| agent.role == Role::Admin);
    let admins = admins.map(|agent| json!({ "agent_id": agent.agent_id, "name": agent.name, "email": agent.email }));
    let deletion = deletion.map(|DeletionProgress { started_at, phase, deleted_items }| {
        json!({ "started_at": started_at.seconds(), "phase": phase.name(), "deleted_items": deleted_items })
    });
    let details = [("agents", json!(agents.len())), ("admins", admins.collect()), ("deletion", json!(deletion))];
    with_fields(account_json(account), details)
}
