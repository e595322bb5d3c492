//! The entries that a bot must react to: a visitor's message or request for a callback, and the notifications that no
//! agent is available and that an agent has given it the chat. If the bot does not accept such an entry in time, or
//! does not answer an accepted message within its time limit, the chat is handed over to the agents.

use crate::domain::bots::bot::BotNotification;
use crate::domain::chats::chat::Sender;
use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Delivery, DeliveryState};
use crate::domain::deliveries::retry_schedule::{ATTEMPT_SPACING, SLOT_TOLERANCE};
use crate::domain::timestamp::Timestamp;

/// Returns whether the bot must react to an entry. If so, the entry cannot be replayed: once its delivery has failed,
/// the chat has already been handed over to the agents.
pub fn awaits_bot_reaction(entry: &TimelineEntry) -> bool {
    let is_notice = matches!(
        entry.content,
        Content::BotNotification {
            notification: BotNotification::AgentUnavailable | BotNotification::ChatReturned,
            ..
        }
    );
    (is_client_message(entry) || is_notice) && entry.is_for_bot()
}

/// Returns whether a bot gets an entry as a CLIENT_MESSAGE, which it must answer within its time limit.
pub fn is_client_message(entry: &TimelineEntry) -> bool {
    entry.from == Sender::Visitor || entry.content.is_callback_request()
}

/// Returns the time from which an event from the bot counts as its reaction to an entry: the start of the first attempt
/// in the current round, or the creation of the entry if that attempt is not recorded.
pub fn bot_reaction_window_start(entry: &TimelineEntry) -> Timestamp {
    first_attempt_at(entry).unwrap_or(entry.at)
}

/// Returns the delivery state of an entry after the bot has reacted to it: `Delivered` if the first attempt in the
/// current round is recorded, otherwise `Superseded`.
pub fn delivery_state_after_reaction(entry: &TimelineEntry) -> DeliveryState {
    if first_attempt_at(entry).is_some() { DeliveryState::Delivered } else { DeliveryState::Superseded }
}

/// Returns whether a second attempt to send an entry to the bot had started at `now`. The bot may then answer the entry
/// twice. An attempt is recorded when it ends, so a second attempt that still runs is recognised by the time.
pub fn was_sent_to_bot_again(entry: &TimelineEntry, now: Timestamp) -> bool {
    let Some(delivery) = entry.delivery.as_ref().filter(|_| entry.is_for_bot()) else { return false };
    let second_starts_at = |first: Timestamp| first.plus(ATTEMPT_SPACING.saturating_sub(SLOT_TOLERANCE));
    match delivery.attempts_made {
        0 => false,
        1 => {
            delivery.state == DeliveryState::Pending
                && first_attempt_at(entry).is_some_and(|it| second_starts_at(it) <= now)
        }
        _ => true,
    }
}

fn first_attempt_at(entry: &TimelineEntry) -> Option<Timestamp> {
    entry.delivery.as_ref().and_then(Delivery::first_attempt_at)
}
