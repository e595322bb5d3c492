//! GET /channel/{secret}/{channel_id}/events and /webhook/{secret}/{account_id}/{webhook_id}/events: returns the
//! messages to the visitors of a channel without an address, or the events of a webhook without one, in the form in which
//! they would be posted, and acknowledges those of the page before.

use std::process::ExitCode;

use shared::delivery::event_feed::EventFeed;
use shared::delivery::fetching_receiver::FetchingReceiver;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::chats::Chats;
use shared::store::directory::Directory;
use shared::wire::event_feed::{EventsQuery, FetchedEvents};

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, chats): (Directory, Chats), request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let page = if request.path_segment("webhook_id").is_empty() {
        let (channel, settings) = auth::integrator(&directory, &request, clock::now()).await?;
        let (channel, webhooks) = (&*channel, &*settings.webhooks);
        next_page(&chats, FetchingReceiver::Integrator { channel, webhooks }, &request).await?
    } else {
        let (account_id, webhook) = auth::webhook_program(&directory, &request, clock::now()).await?;
        let (account_id, webhook, directory) = (&*account_id, &webhook, &directory);
        next_page(&chats, FetchingReceiver::Webhook { account_id, webhook, directory }, &request).await?
    };
    Ok(Response::ok(page))
}

async fn next_page(chats: &Chats, receiver: FetchingReceiver<'_>, request: &Request) -> Result<FetchedEvents, Error> {
    let query: EventsQuery = request.query_as()?;
    EventFeed { chats, receiver }.next_page(&query.after()?, query.limit(), query.wait()).await
}
