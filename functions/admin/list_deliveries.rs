//! GET /admin/deliveries?state=&target=&chat_id=&channel_id=&from=&to=&limit=&cursor=: lists deliveries from the
//! delivery log, newest first.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::domain::deliveries::delivery_search_and_replay::SortOrder;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::delivery_log::Deliveries;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::wire::admin::delivery_log::{self, DeliveriesQuery, DeliveryLogRequest};

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((connections, chats): (Connections, Chats), request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let (account_id, now) = (auth::admin(&connections, &request).await?.account_id, clock::now());
    let DeliveryLogRequest { filter, chat_id, limit, after } = request.query_as::<DeliveriesQuery>()?.checked()?;
    let deliveries = Deliveries { chats: &chats, account_id: &account_id, chat_id, now };
    let page = deliveries.page(&filter, SortOrder::NewestFirst, after, limit).await?;
    Ok(Response::ok(delivery_log::Deliveries::new(&page.rows, page.next, now)))
}
