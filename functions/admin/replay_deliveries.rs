//! POST /admin/deliveries/replay: replays one delivery, or at most 100 failed deliveries in a chat or a time range. The
//! oldest delivery is replayed first, so that a receiver gets a chat's messages in order. In a chat or a time range, a
//! delivery that a concurrent request is replaying is skipped. Failed events to which a bot must react, and failed
//! calls, are counted but not replayed.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use shared::domain::chats::timeline_entry::TimelineEntry;
use shared::domain::deliveries::delivery::DeliveryState;
use shared::domain::deliveries::delivery_search_and_replay::{
    DeliveryCursor, DeliveryFilter, ReplayScope, SortOrder, is_never_replayed,
};
use shared::domain::timestamp::Timestamp;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::delivery_log::Deliveries;
use shared::service::{audit, auth};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::delivery_log::{self, ReplayRequest, ReplayedDeliveries};

const MAX_REPLAYS_PER_REQUEST: usize = 100;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Connections, Directory, Chats, Outbox);

async fn handle((connections, directory, chats, outbox): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let wanted = request.body_as::<ReplayRequest>()?.checked()?;
    // A large replay consists of many requests, of which one a minute is recorded.
    let change = AuditedChange::unnamed(AuditAction::Replayed, AuditedKind::Delivery, audited_id(&wanted));
    audit::by_agent(&directory, &caller, &request).record_once_a_minute(&caller.account_id, change).await?;
    let replay = Replay { account_id: &caller.account_id, chats: &chats, outbox: &outbox, now: clock::now() };
    let failed = DeliveryFilter::all(DeliveryState::Failed);
    match wanted {
        delivery_log::Replay::One { chat_id, seq } => {
            replay.start(chat_id, seq, ReplayScope::Single).await?;
            Ok(Response::accepted(ReplayedDeliveries::new(1, 0, None)))
        }
        delivery_log::Replay::Chat { chat_id, after } => replay.all(Some(chat_id), &failed, after).await,
        delivery_log::Replay::Range { filter, after } => replay.all(None, &filter, after).await,
    }
}

fn audited_id(wanted: &delivery_log::Replay) -> String {
    match wanted {
        delivery_log::Replay::One { chat_id, seq } => format!("{chat_id}/{seq}"),
        delivery_log::Replay::Chat { chat_id, .. } => chat_id.to_string(),
        delivery_log::Replay::Range { .. } => String::new(),
    }
}

struct Replay<'a> {
    account_id: &'a str,
    chats: &'a Chats,
    outbox: &'a Outbox,
    now: Timestamp,
}

impl Replay<'_> {
    async fn all(
        &self,
        chat_id: Option<u64>,
        filter: &DeliveryFilter,
        after: Option<DeliveryCursor>,
    ) -> Result<Response, Error> {
        let deliveries = Deliveries { chats: self.chats, account_id: self.account_id, chat_id, now: self.now };
        let page = deliveries.page(filter, SortOrder::OldestFirst, after, MAX_REPLAYS_PER_REQUEST).await?;
        let (skipped, replayable): (Vec<_>, Vec<_>) =
            page.rows.into_iter().partition(|(_, entry)| is_never_replayed(entry));
        let mut replayed = 0;
        for (_, TimelineEntry { chat_id, seq, .. }) in replayable {
            match self.start(chat_id, seq, ReplayScope::AllFailed).await {
                Ok(()) => replayed += 1,
                Err(Error::Conflict(_) | Error::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Response::accepted(ReplayedDeliveries::new(replayed, skipped.len(), page.next)))
    }

    async fn start(&self, chat_id: u64, seq: u64, scope: ReplayScope) -> Result<(), Error> {
        let entry = self.chats.replay_delivery(self.account_id, chat_id, seq, scope, self.now).await?;
        self.outbox.enqueue(&[entry]).await;
        Ok(())
    }
}
