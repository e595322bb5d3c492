//! GET /channel/{secret}/{channel_id}/events: returns the messages to the visitors of a channel without an address, in
//! the form in which they would be posted, and acknowledges those of the page before.

use std::process::ExitCode;

use shared::delivery::event_feed::EventFeed;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::chats::Chats;
use shared::store::directory::Directory;
use shared::wire::channels::event_feed::EventsQuery;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, chats): (Directory, Chats), request: Request) -> Result<Response, Error> {
    request.require_method("GET")?;
    let (channel, _) = auth::integrator(&directory, &request, clock::now()).await?;
    let query: EventsQuery = request.query_as()?;
    let feed = EventFeed { chats: &chats, channel: &channel };
    Ok(Response::ok(feed.next_page(&query.after()?, query.limit(), query.wait()).await?))
}
