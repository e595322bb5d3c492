//! /admin/outages: GET lists the receivers with an outage, POST lets a receiver have requests again.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::domain::deliveries::outage::{OutageKey, OutageStatus};
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::webhooks::find_webhook;
use shared::service::{audit, auth};
use shared::store::cache::CACHE_TTL;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::outages::{Outages, ReceiverToResume, ResumedReceiver};
use shared::wire::queue_task::Task;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Connections, Chats, Outbox);

async fn handle((directory, connections, chats, outbox): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD, POST")?;
    let caller = auth::admin(&connections, &request).await?;
    match request.method.as_str() {
        "GET" => Ok(Response::ok(Outages::new(&chats.outages(&caller.account_id).await?))),
        "POST" => {
            let key = request.body_as::<ReceiverToResume>()?.into_key(caller.account_id.clone());
            switch_on(&audit::by_agent(&directory, &caller, &request), &key).await?;
            chats.resume_outage(&key, clock::now()).await?;
            // Until then, the delivering function may not know that the receiver is switched on.
            outbox.send_delayed(key.target, &Task::outage(&key, None), CACHE_TTL).await?;
            Ok(Response::ok(ResumedReceiver::new(key)))
        }
        _ => Err(request.unexpected_method()),
    }
}

/// Fails with `NotFound` if the account has no such channel or webhook.
async fn switch_on(directory: &Directory, key: &OutageKey) -> Result<(), Error> {
    let OutageKey { account_id, target, receiver_id } = key;
    if target.is_webhook() {
        find_webhook(&mut directory.settings(account_id).await?, receiver_id)?;
        return directory.save_webhook_outage(account_id, receiver_id, OutageStatus::None).await;
    }
    let channel = directory.channel_of_account(account_id, receiver_id).await?;
    directory.save_channel_outage(&channel, OutageStatus::None).await
}
