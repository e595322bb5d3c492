//! POST /agent/logout: ends the session of the token. A token that is not valid any more is answered in the same way, so
//! that the request can be repeated. One write; after it a query, and a write more when it was the agent's last session.

use std::process::ExitCode;

use serde_json::json;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::store::connections::Connections;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle(connections: Connections, request: Request) -> Result<Response, Error> {
    let token = request.bearer().ok_or(Error::Unauthorized)?;
    connections.end_session(token, clock::now()).await?;
    Ok(Response::ok(json!({ "logged_out": true })))
}
