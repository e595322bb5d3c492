//! GET /admin/visitors/{number}: shows a visitor and how much an erasure would delete.
//!
//! DELETE /admin/visitors/{number}: erases a visitor and all of the visitor's chats, and returns how many chats,
//! entries and files this request has erased. If the time budget runs out, `complete` is false, and a repeated request
//! continues the erasure.
//!
//! If the number is unknown, the response is 404. An agent without the admin role gets 403 after the session has been
//! read.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use shared::chats::upkeep::erase_visitor::erase_visitor;
use shared::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::file_bucket::FileBucket;
use shared::runtime::http::{self, Request, Response};
use shared::service::{audit, auth, visitor_data};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::connections::sessions::Session;
use shared::store::directory::Directory;
use shared::wire::admin::visitor_data::{ErasedVisitor, RemovedItems};
use shared::wire::fields::values::SequentialNumber;

/// After this time, a request pauses the erasure, so that it responds before the gateway's timeout.
const ERASURE_TIME_BUDGET: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, FileBucket);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("DELETE, GET, HEAD")?;
    let (directory, chats, connections, _) = &dependencies;
    let caller = auth::admin(connections, &request).await?;
    let number = request.path_number("number")?;
    match request.method.as_str() {
        "GET" => {
            let visitor = chats.visitor_by_number(&caller.account_id, number, clock::now()).await?;
            Ok(Response::ok(visitor_data::summary(directory, chats, visitor.ok_or(Error::NotFound)?).await?))
        }
        "DELETE" => erase(&dependencies, &caller, &request, number).await,
        _ => Err(request.unexpected_method()),
    }
}

async fn erase(
    (directory, chats, connections, bucket): &Dependencies,
    caller: &Session,
    request: &Request,
    number: u64,
) -> Result<Response, Error> {
    let (account_id, now) = (&caller.account_id, clock::now());
    let visitor = chats.visitor_by_number(account_id, number, now).await?;
    let change = AuditedChange::unnamed(AuditAction::Erased, AuditedKind::Visitor, number.to_string());
    audit::by_agent(directory, caller, request).record_once_a_minute(account_id, change).await?;
    if let Some(visitor) = &visitor {
        connections.forget_visitor_sockets(visitor, now).await?;
    }
    let started = Instant::now();
    let has_time = || started.elapsed() < ERASURE_TIME_BUDGET;
    let delete_file = |file_id: String| bucket.delete_sent(account_id, file_id);
    let erased = erase_visitor((chats, &delete_file), (account_id, number), now, &has_time).await?;
    tracing::info!(number, erased.chats, erased.entries, erased.files, erased.is_complete, "visitor erased");
    let removed = RemovedItems { chats: erased.chats, entries: erased.entries, files: erased.files };
    Ok(Response::ok(ErasedVisitor { number: SequentialNumber(number), removed, complete: erased.is_complete }))
}
