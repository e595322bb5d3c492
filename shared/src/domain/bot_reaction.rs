//! The entries that a bot must react to: a visitor's message, and the notification that no agent is available. If the
//! bot does not accept such an entry in time, or does not answer an accepted message within its time limit, the chat is
//! handed over to the agents.

use crate::domain::bot::BotNotification;
use crate::domain::chat::Sender;
use crate::domain::delivery::{Delivery, DeliveryState, Target};
use crate::domain::message_content::ContentKind;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;

/// Returns whether the bot must react to an entry. If so, the entry cannot be replayed: once its delivery has failed,
/// the chat has already been handed over to the agents.
pub fn awaits_bot_reaction(entry: &TimelineEntry) -> bool {
    let needs_reaction = entry.from == Sender::Visitor
        || entry.content.kind == ContentKind::BotNotification(BotNotification::AgentUnavailable);
    needs_reaction && entry.delivery.as_ref().is_some_and(|delivery| delivery.target == Target::Bot)
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

fn first_attempt_at(entry: &TimelineEntry) -> Option<Timestamp> {
    entry.delivery.as_ref().and_then(Delivery::first_attempt_at)
}
