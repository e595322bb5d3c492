//! GET /admin/audit?kind=&id=&agent_id=&from=&to=&limit=&cursor=: lists what the audit log of the account contains,
//! newest first. Entries that are older than 400 days are left out.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::audit::{AuditLog, AuditLogQuery};

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let account_id = auth::admin(&connections, &request).await?.account_id;
    let wanted = request.query_as::<AuditLogQuery>()?.checked()?;
    let (times, now) = ((wanted.from, wanted.to), clock::now());
    let page = directory.audit_log(&account_id, &wanted.filter, times, wanted.cursor, wanted.limit, now).await?;
    Ok(Response::ok(AuditLog::from(page)))
}
