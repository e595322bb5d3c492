//! GET /admin/deliveries/counts?state=&from=&to=: counts failed and pending deliveries.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::wire::delivery_log;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((connections, chats): (Connections, Chats), request: Request) -> Result<Response, Error> {
    let account_id = auth::admin(&connections, &request).await?.account_id;
    let wanted = delivery_log::parse_counts_request(&|name| request.query(name))?;
    let failed = match wanted.counts_failed {
        true => Some(chats.count_failed(&account_id, wanted.from, wanted.to).await?),
        false => None,
    };
    let pending = match wanted.counts_pending {
        true => Some(chats.count_pending(&account_id).await?),
        false => None,
    };
    Ok(Response::ok(delivery_log::counts_json(failed, pending)))
}
