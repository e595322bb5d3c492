//! GET /admin/deliveries/counts?state=&from=&to=: counts failed and pending deliveries.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::wire::admin::delivery_log::{CappedCount, DeliveryCounts, DeliveryCountsQuery};

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((connections, chats): (Connections, Chats), request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let account_id = auth::admin(&connections, &request).await?.account_id;
    let query: DeliveryCountsQuery = request.query_as()?;
    let (from, to) = query.times()?;
    let failed = match query.counts_failed() {
        true => Some(chats.count_failed(&account_id, from, to).await?),
        false => None,
    };
    let pending = match query.counts_pending() {
        true => Some(chats.count_pending(&account_id).await?),
        false => None,
    };
    let (failed, pending) = (failed.map(CappedCount::from), pending.map(CappedCount::from));
    Ok(Response::ok(DeliveryCounts { failed, pending }))
}
