//! POST /agent/logout: ends the token's session. An expired or unknown token gets the same response, so that the
//! request can be repeated.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::store::connections::Connections;
use shared::wire::agent::LoggedOut;
use shared::wire::fields::values::True;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle(connections: Connections, request: Request) -> Result<Response, Error> {
    let token = request.bearer_token().ok_or(Error::Unauthorized)?;
    connections.end_session(token, clock::now()).await?;
    Ok(Response::ok(LoggedOut { logged_out: True }))
}
