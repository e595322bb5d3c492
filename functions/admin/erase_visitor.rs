//! GET /admin/visitors/{number}: shows a visitor and how much an erasure would delete. GET
//! /admin/visitors?channel_id=&external_id=: the same for the visitor whom the integrator of an API channel knows by
//! this id.
//!
//! DELETE /admin/visitors/{number}: erases a visitor and all of the visitor's chats, and returns how many chats and
//! entries this request has erased. If the time budget runs out, `complete` is false, and a repeated request continues
//! the erasure.
//!
//! If the number is unknown, the response is 404. An agent without the admin role gets 403 after the session has been
//! read.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use shared::domain::audit::{AuditAction, AuditedChange, AuditedKind};
use shared::domain::visitor::Visitor;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::{audit, auth};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::connections::sessions::Session;
use shared::store::directory::Directory;
use shared::wire::agent;

/// After this time, a request pauses the erasure, so that it responds before the gateway's timeout.
const ERASURE_TIME_BUDGET: Duration = Duration::from_secs(20);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let now = clock::now();
    if !request.has_path_segment("number") {
        let (channel_id, external_id) = agent::parse_external_id(&|name| request.query(name))?;
        let found = chats.visitors_by_external_id(&[&channel_id], &external_id, now).await?.into_iter().next();
        let visitor = found.filter(|visitor| visitor.account_id == caller.account_id).ok_or(Error::NotFound)?;
        return show(&directory, &chats, &caller, visitor).await;
    }
    let number = request.path_number("number")?;
    let visitor = chats.visitor_by_number(&caller.account_id, number, now).await?;
    if request.method == "GET" {
        return show(&directory, &chats, &caller, visitor.ok_or(Error::NotFound)?).await;
    }
    let change = AuditedChange::unnamed(AuditAction::Erased, AuditedKind::Visitor, number.to_string());
    audit::by_agent(&directory, &caller, &request).record_once_a_minute(&caller.account_id, change).await?;
    if let Some(visitor) = &visitor {
        connections.forget_visitor_sockets(visitor, now).await?;
    }
    let started = Instant::now();
    let has_time = || started.elapsed() < ERASURE_TIME_BUDGET;
    let erased = chats.erase_visitor(&caller.account_id, number, now, &has_time).await?;
    tracing::info!(number, erased.chats, erased.entries, erased.is_complete, "visitor erased");
    let removed = json!({ "chats": erased.chats, "entries": erased.entries });
    Ok(Response::ok(json!({ "number": number, "removed": removed, "complete": erased.is_complete })))
}

async fn show(directory: &Directory, chats: &Chats, caller: &Session, visitor: Visitor) -> Result<Response, Error> {
    let size = chats.visitor_data_size(&visitor).await?;
    let safe_urls = &directory.cached_settings(&caller.account_id).await?.safe_urls;
    Ok(Response::ok(json!({
        "visitor": agent::visitor_json(visitor, safe_urls), "chats_count": size.chats, "entries": size.entries,
        "is_complete": size.is_complete,
    })))
}
