//! GET /admin/visitors?channel_id=&external_id=: shows the visitor whom the integrator of an API channel knows by this
//! id, and how much an erasure would delete. If there is no such visitor, the response is 404.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::{auth, visitor_data};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::visitor_data::VisitorQuery;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let caller = auth::admin(&connections, &request).await?;
    let (channel_id, external_id) = request.query_as::<VisitorQuery>()?.checked()?;
    let found = chats.visitors_by_external_id(&[&channel_id], &external_id, clock::now()).await?.into_iter().next();
    let visitor = found.filter(|visitor| visitor.account_id == caller.account_id).ok_or(Error::NotFound)?;
    Ok(Response::ok(visitor_data::summary(&directory, &chats, visitor).await?))
}
