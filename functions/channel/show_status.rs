//! `GET {base_url}/<random_string>/<CHANNEL_PUBLIC_ID>/status` (specification, A-1): returns 1 if an agent in the
//! channel's audience is online and it is within the business hours, otherwise 0. Returns 0 for a disabled channel and
//! for the channels of a suspended account. With `detail=true`, the response also says why, when the hours begin, and,
//! for a visitor, the position in the queue.

use std::process::ExitCode;

use shared::domain::channels::channel::Channel;
use shared::domain::channels::channel_availability::ChannelAvailability;
use shared::domain::timestamp::Timestamp;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::assignment::queue_position;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::channels::channel_api::{ChannelStatus, ChannelStatusQuery};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Connections, Chats);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let now = clock::now();
    let (channel_id, secret) = (request.path_segment("channel_id"), request.path_segment("secret"));
    let channel = dependencies.0.channel_at_endpoint(&channel_id, &secret, now).await?;
    let query: ChannelStatusQuery = request.query_as()?;
    let availability = availability(&dependencies, &channel, now).await?;
    let position = match query.visitor() {
        Some(visitor) => position_of_visitor(&dependencies, &channel, visitor).await?,
        None => None,
    };
    Response::revalidated(ChannelStatus::new(availability, position, &query), &request)
}

async fn availability(
    (directory, connections, _): &Dependencies,
    channel: &Channel,
    now: Timestamp,
) -> Result<ChannelAvailability, Error> {
    let settings = directory.cached_settings(&channel.account_id).await?;
    if let Some(closed) = ChannelAvailability::of_closed_channel(channel, &settings) {
        return Ok(closed);
    }
    let audience = directory.audience(channel).await?;
    let presences = connections.presences(&channel.account_id).await?;
    let has_online_agent = audience.has_online_agent(&presences, now);
    let hours = directory.business_hours(channel, None).await?;
    Ok(ChannelAvailability::of_open_channel(has_online_agent, hours.as_ref(), &settings, now))
}

/// Returns the position of the visitor's waiting chat in the queue.
async fn position_of_visitor(
    (directory, _, chats): &Dependencies,
    channel: &Channel,
    external_id: &str,
) -> Result<Option<u64>, Error> {
    if directory.cached_settings(&channel.account_id).await?.assignment.is_none() {
        return Ok(None);
    }
    let visitor = chats.visitor(&channel.channel_id, external_id).await?;
    let Some(chat_id) = visitor.and_then(|visitor| visitor.open_chat) else { return Ok(None) };
    match chats.chat(&channel.account_id, chat_id).await? {
        Some(chat) => queue_position(directory, chats, &chat).await,
        None => Ok(None),
    }
}
