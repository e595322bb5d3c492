//! GET /admin/reports?days=&channel_id=: reports on the chats that were opened in the last `days` days, including
//! today, in the account's time zone.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::domain::time_zone::Day;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::{auth, reports};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::report::{Report, ReportQuery};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let account_id = auth::admin(&connections, &request).await?.account_id;
    let query: ReportQuery = request.query_as()?;
    let settings = directory.cached_settings(&account_id).await?;
    let today = Day::of(clock::now(), &settings.time_zone);
    let (report, agents) = tokio::try_join!(
        reports::report(&chats, &account_id, (today, query.days()), query.channel_id()),
        directory.agents(&account_id),
    )?;
    Ok(Response::ok(Report::new(report, &settings, &agents)))
}
