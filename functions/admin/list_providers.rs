//! GET /admin/providers: lists the bot providers that a bot can be connected to.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::ChoosableProviders;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((connections, directory): (Connections, Directory), request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    auth::admin(&connections, &request).await?;
    Ok(Response::ok(ChoosableProviders::new(directory.providers().await?)))
}
