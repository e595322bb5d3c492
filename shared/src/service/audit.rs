//! Records the changes made by requests of admins and the operator in the audit log.

use crate::domain::agent::AgentSnapshot;
use crate::domain::audit::AuditedRequest;
use crate::domain::chat::DAY;
use crate::error::Error;
use crate::runtime::clock;
use crate::runtime::http::Request;
use crate::store::connections::sessions::Session;
use crate::store::directory::Directory;

/// Returns a directory that records in the audit log which changes an admin's request makes. Costs nothing for a GET
/// request, and otherwise one read of the settings, which are cached for ten seconds.
pub async fn by_admin(directory: &Directory, caller: &Session, request: &Request) -> Result<Directory, Error> {
    audited(directory, &caller.account_id, Some(caller.agent.without_photo()), request).await
}

pub async fn by_operator(directory: &Directory, account_id: &str, request: &Request) -> Result<Directory, Error> {
    audited(directory, account_id, None, request).await
}

async fn audited(
    directory: &Directory,
    account_id: &str,
    agent: Option<AgentSnapshot>,
    request: &Request,
) -> Result<Directory, Error> {
    if request.method == "GET" {
        return Ok(directory.clone());
    }
    let (at, source_address) = (clock::now(), request.source_address());
    let retention_days = directory.cached_settings(account_id).await?.retention_days;
    let retain_until = retention_days.map(|days| at.plus(DAY * days));
    Ok(directory.audited(AuditedRequest { agent, source_address, at, retain_until }))
}
