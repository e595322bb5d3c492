//! Which changes in the tables let chats be assigned: a chat that begins to wait, a slot that becomes free, an agent
//! who comes online, and changed settings. They come from the table streams, so no function can forget to report them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::domain::accounts::agent_presence::Presence;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatState;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::outbox::Outbox;
use crate::store::directory::Directory;
use crate::store::table_changes::{ChatItemChange, ParsedChanges, TableChange};
use crate::wire::queue_task::Task;

/// Longer than processes cache settings. The chats of an account whose assignment begins are counted again after it,
/// because a process that still had the old settings may have let agents accept chats without slots.
const RECOUNT_DELAY: Duration = Duration::from_secs(15);

/// The changes of a batch, by account.
pub struct AssignmentTriggers(BTreeMap<String, Triggers>);

#[derive(Default)]
struct Triggers {
    chat_ids: BTreeSet<u64>,
    has_arrival: bool,
    has_new_settings: bool,
    begins_assignment: bool,
}

impl AssignmentTriggers {
    #[must_use]
    pub fn of(ParsedChanges(changes): &ParsedChanges, now: Timestamp) -> Self {
        let mut by_account = BTreeMap::<String, Triggers>::new();
        for (account_id, change) in changes {
            if let Some(trigger) = Trigger::of(change, now) {
                by_account.entry(account_id.clone()).or_default().add(trigger);
            }
        }
        Self(by_account)
    }

    /// Queues the tasks of the accounts that have an assignment.
    ///
    /// # Errors
    /// Fails if a table or a queue is unavailable. The stream then repeats the batch; repeated tasks do no harm.
    pub async fn queue(self, directory: &Directory, outbox: &Outbox, now: Timestamp) -> Result<(), Error> {
        for (account_id, triggers) in self.0 {
            let settings = match triggers.has_new_settings {
                true => directory.fresh_settings(&account_id).await?,
                false => directory.cached_settings(&account_id).await?,
            };
            if settings.assignment.is_some() {
                triggers.queue(&account_id, outbox, now).await?;
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Trigger {
    Chat(u64),
    Arrival,
    NewSettings { begins_assignment: bool },
}

impl Trigger {
    fn of(change: &TableChange, now: Timestamp) -> Option<Self> {
        match change {
            TableChange::Chat { chat_id, change: ChatItemChange::Header { before, after } } => {
                concerns_assignment(before.as_deref(), after.as_deref()).then_some(Self::Chat(*chat_id))
            }
            TableChange::Presence { before, after } => {
                let is_online = |presence: Option<&Presence>| presence.is_some_and(|it| it.is_online(now));
                (is_online(after.as_deref()) && !is_online(before.as_deref())).then_some(Self::Arrival)
            }
            TableChange::Directory { begins_assignment } => {
                Some(Self::NewSettings { begins_assignment: *begins_assignment })
            }
            TableChange::Chat { .. } | TableChange::SessionEnded { .. } | TableChange::Lists(_) => None,
        }
    }
}

impl Triggers {
    fn add(&mut self, trigger: Trigger) {
        match trigger {
            Trigger::Chat(chat_id) => drop(self.chat_ids.insert(chat_id)),
            Trigger::Arrival => self.has_arrival = true,
            Trigger::NewSettings { begins_assignment } => {
                self.has_new_settings = true;
                self.begins_assignment |= begins_assignment;
            }
        }
    }

    async fn queue(self, account_id: &str, outbox: &Outbox, now: Timestamp) -> Result<(), Error> {
        if self.begins_assignment {
            let task = Task::recount(account_id, now);
            outbox.send_assignment(&task).await?;
            outbox.send_assignment_later(&task, RECOUNT_DELAY).await?;
        } else if self.has_new_settings || self.has_arrival && self.chat_ids.is_empty() {
            outbox.send_assignment(&Task::assignment(account_id, None, now)).await?;
        }
        for chat_id in self.chat_ids {
            outbox.send_assignment(&Task::assignment(account_id, Some(chat_id), now)).await?;
        }
        Ok(())
    }
}

/// Whether the chat begins to wait, is offered to nobody any more, frees a slot, or got an agent without taking a slot.
fn concerns_assignment(before: Option<&Chat>, after: Option<&Chat>) -> bool {
    let slot_of = |chat: Option<&Chat>| chat.and_then(|chat| chat.assignment.slot_of);
    let has_freed_slot = slot_of(before).is_some() && slot_of(before) != slot_of(after);
    let Some(after) = after else { return has_freed_slot };
    let begins_to_wait = after.state.is_waiting() && before.is_none_or(|before| !before.state.is_waiting());
    let agent_of = |chat: &Chat| chat.state.agent().map(|agent| agent.agent_id);
    let is_uncounted = matches!(after.state, ChatState::Active(_))
        && after.assignment.slot_of.is_none()
        && before.is_none_or(|before| agent_of(before) != agent_of(after));
    has_freed_slot || begins_to_wait || is_uncounted
}
