//! /admin/channels/{channel_id}: GET returns a channel, PATCH changes it, DELETE deletes it.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::domain::channels::channel::Channel;
use shared::domain::deliveries::ssrf_guard::SsrfGuard;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::public_base_url::PublicBaseUrl;
use shared::service::{audit, auth};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::{self, ChannelChanges, ChannelDetails, DeletedChannel};
use shared::wire::fields::values::True;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Connections, Chats, SsrfGuard, PublicBaseUrl);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("DELETE, GET, HEAD, PATCH")?;
    let (directory, connections, chats, guard, public_url) = dependencies;
    let caller = auth::admin(&connections, &request).await?;
    let directory = audit::by_agent(&directory, &caller, &request);
    let base_url = &public_url.of_request(&request);
    let channel = directory.channel_of_account(&caller.account_id, &request.path_segment("channel_id")).await?;
    match request.method.as_str() {
        "GET" => show(&chats, &channel, base_url).await,
        "PATCH" => update((&directory, &guard), channel, request.body_as()?, base_url).await,
        "DELETE" => {
            directory.delete_channel(&channel).await?;
            Ok(Response::ok(DeletedChannel { channel_id: channel.channel_id, deleted: True }))
        }
        _ => Err(request.unexpected_method()),
    }
}

async fn show(chats: &Chats, channel: &Channel, base_url: &str) -> Result<Response, Error> {
    let now = clock::now();
    let refused = chats.refusal_counts(&channel.channel_id, now).await?;
    Ok(Response::ok(ChannelDetails::new(channel, base_url, &refused, now)))
}

async fn update(
    (directory, guard): (&Directory, &SsrfGuard),
    channel: Channel,
    changes: ChannelChanges,
    base_url: &str,
) -> Result<Response, Error> {
    let settings = changes.applied_to(&channel.settings, guard)?;
    directory.check_audience_ids(&channel.account_id, Some(&channel.settings), &settings).await?;
    directory.save_channel_settings(&channel, &settings).await?;
    Ok(Response::ok(admin::Channel::new(&Channel { settings, ..channel }, base_url, clock::now())))
}
