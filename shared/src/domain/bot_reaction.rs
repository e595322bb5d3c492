//! Which entries a chat with a bot waits for: a visitor's message and the notice that no agent is available. When the
//! bot does not react to one of them in time, the chat goes to the agents.

use crate::domain::bot::BotNotice;
use crate::domain::chat::Sender;
use crate::domain::delivery::{Delivery, DeliveryState, Target};
use crate::domain::message_content::ContentKind;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;

/// Whether the chat waits for the bot's reaction to an entry. Such an entry is not sent again after its verdict: when
/// its delivery failed, the chat already belongs to the agents.
pub fn awaits_bot_reaction(entry: &TimelineEntry) -> bool {
    let needs_reaction =
        entry.from == Sender::Visitor || entry.content.kind == ContentKind::BotNotice(BotNotice::AgentUnavailable);
    needs_reaction && entry.delivery.as_ref().is_some_and(|delivery| delivery.target == Target::Bot)
}

/// The moment after which an event of the bot counts as its reaction to an entry: the start of the first recorded
/// attempt or, when none is recorded, the creation of the entry.
pub fn bot_reaction_window_start(entry: &TimelineEntry) -> Timestamp {
    first_attempt_at(entry).unwrap_or(entry.at)
}

/// The delivery state of an entry to which the bot has reacted: delivered after at least one attempt, otherwise
/// superseded.
pub fn state_after_bot_event(entry: &TimelineEntry) -> DeliveryState {
    if first_attempt_at(entry).is_some() { DeliveryState::Delivered } else { DeliveryState::Superseded }
}

fn first_attempt_at(entry: &TimelineEntry) -> Option<Timestamp> {
    entry.delivery.as_ref().and_then(Delivery::first_attempt_at)
}
