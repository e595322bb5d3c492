//! Requeues overdue deliveries, which the sweep (a scheduled function) finds in the `due` index.

use crate::chats::bot::hand_over_chat::{HandoverResult, hand_over_chat};
use crate::chats::delivery_events::delivery_events;
use crate::chats::notifications::NotificationContext;
use crate::domain::bots::bot_reaction;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{DeliveryState, Failure, Target};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::delivery::due_index::OverdueItem;
use crate::store::directory::Directory;

/// How many times the sweep (the scheduled search for overdue deliveries) requeues a delivery before it marks the
/// delivery as failed.
const MAX_REQUEUES: u32 = 60;
/// How many times the sweep requeues a delivery that awaits the bot's reaction and has not been attempted yet. Its task
/// may still wait in the queue behind the chat's earlier messages, so the first sweeps do not yet treat the delivery as
/// lost.
const MAX_BOT_REQUEUES: u32 = 2;

pub enum OverdueResult {
    /// The caller has nothing to do: the delivery is finished, or another process has changed it.
    NotNeeded,
    /// The delivery is pending, and the caller must queue its task.
    Requeued(TimelineEntry),
    /// The delivery was marked as failed without another attempt. `handover` contains the notifications of the bot's
    /// chat if it was handed over to the agents, and `events` those that report the failure. The caller must queue them.
    Failed { entry: TimelineEntry, handover: Option<Vec<TimelineEntry>>, events: Vec<TimelineEntry> },
}

/// Requeues an overdue delivery, or marks it as failed after too many requeues. A delivery that has not been
/// attempted yet stays in its round, because its task may still be in the queue. Otherwise, a new round starts.
///
/// A delivery that awaits the bot's reaction ([`bot_reaction`]) is not requeued once it has been attempted.
/// Instead, the chat is handed over to the agents, unless the bot has reacted or no longer owns the chat. A call is
/// requeued without a limit.
pub async fn requeue_overdue_delivery(
    chats: &Chats,
    directory: &Directory,
    overdue: &OverdueItem,
    now: Timestamp,
) -> Result<OverdueResult, Error> {
    let Some(entry) = chats.overdue_entry(overdue).await? else { return Ok(OverdueResult::NotNeeded) };
    let Some(delivery) = entry.delivery.as_ref().filter(|delivery| delivery.state == DeliveryState::Pending) else {
        return Ok(OverdueResult::NotNeeded);
    };
    let awaits_bot_reaction = bot_reaction::awaits_bot_reaction(&entry);
    let is_abandoned = if awaits_bot_reaction {
        delivery.attempts_made > 0 || delivery.requeues >= MAX_BOT_REQUEUES
    } else {
        // A call is never abandoned here. It is requeued until an attempt is made, and an attempt that comes too
        // late marks the call as failed.
        delivery.requeues >= MAX_REQUEUES && delivery.target != Target::Call
    };
    if is_abandoned {
        let mut handover = None;
        if awaits_bot_reaction {
            match hand_over_unanswered(chats, directory, &entry, now).await? {
                Ok(notifications) => handover = Some(notifications),
                Err(state) => {
                    return chats.finish_delivery(&entry, state).await.map(|_| OverdueResult::NotNeeded);
                }
            }
        }
        let webhooks = &directory.cached_settings(&entry.account_id).await?.webhooks;
        let events = delivery_events(chats, webhooks, &entry, WebhookEvent::DeliveryFailed, (now, now)).await?;
        let has_failed = chats.fail_overdue(&entry, overdue, tries_not_completed(), now, &events).await?;
        return Ok(if has_failed {
            OverdueResult::Failed { entry, handover, events }
        } else {
            OverdueResult::NotNeeded
        });
    }
    Ok(match chats.requeue(&entry, delivery, overdue, now).await? {
        Some(requeued) => OverdueResult::Requeued(requeued),
        None => OverdueResult::NotNeeded,
    })
}

/// Hands a chat over to the agents because the bot did not react to an entry. Returns the notifications, or the
/// delivery's final state if no handover was needed.
async fn hand_over_unanswered(
    chats: &Chats,
    directory: &Directory,
    entry: &TimelineEntry,
    now: Timestamp,
) -> Result<Result<Vec<TimelineEntry>, DeliveryState>, Error> {
    let TimelineEntry { account_id, chat_id, .. } = entry;
    let since = bot_reaction::bot_reaction_window_start(entry);
    let settings = directory.cached_settings(account_id).await?;
    let context = NotificationContext { webhooks: &settings.webhooks, agent_id: None, now };
    Ok(match hand_over_chat(chats, account_id, *chat_id, since, context).await? {
        HandoverResult::HandedOver(notifications) => Ok(notifications),
        HandoverResult::BotResponded => Err(bot_reaction::delivery_state_after_reaction(entry)),
        HandoverResult::NotWithBot => Err(DeliveryState::Superseded),
    })
}

fn tries_not_completed() -> Failure {
    Failure { code: None, message: "Not delivered: the tries could not be completed".into(), hidden: false }
}
