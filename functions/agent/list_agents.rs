//! GET /agent/agents: lists all agents of the account with their current status, all departments and, on request, the
//! bots, or the tags and the saved views. Agents use the list to choose the recipient of a transfer.
//!
//! The tags and the views are read without the cache, because consoles ask for them when a push says that the settings
//! have changed.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{Colleagues, ColleaguesQuery, Included};

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let account_id = auth::agent(&connections, &request).await?.account_id;
    let ((agents, departments), presences) =
        tokio::try_join!(directory.agents_and_departments(&account_id), connections.presences(&account_id))?;
    let colleagues = Colleagues::new(agents, &departments, &presences, clock::now());
    Ok(Response::ok(match request.query_as::<ColleaguesQuery>()?.include.0 {
        Some(Included::Bots) => colleagues.with_bots(directory.account_bots(&account_id).await?),
        Some(Included::Inbox) => colleagues.with_inbox(&directory.fresh_settings(&account_id).await?.inbox),
        None => colleagues,
    }))
}
