//! Updates deliveries, which are stored in their timeline entries. This module records attempts and final states,
//! starts replays, and requeues overdue deliveries. These updates are conditional, so that they do not overwrite a
//! concurrent change of the delivery. The module also marks failing receivers in the chat's header.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::bots::bot::BotNotification;
use crate::domain::chats::chat::{Chat, MAX_UNDELIVERED, Sender};
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Attempt, Delivery, DeliveryState, DeliveryUpdate, Failure, Target};
use crate::domain::deliveries::delivery_search_and_replay::ReplayScope;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::delivery::due_index::{
    Backlog, closed_chat_values, delivery_due_at, failed_partition, set_closed_chat,
};
use crate::store::chats::items::{AttemptItem, FailureItem};
use crate::store::chats::report_counters::count_failure_write;
use crate::store::chats::{Chats, chat_from_item, entry_from_item, entry_key, entry_write, header_key};
use crate::store::table::{ITEM_EXISTS, ItemUpdate, Write, WriteError, WriteResult, n, s};
use crate::store::to_attribute;

/// How long a failed attempt marks the receiver as failing in the chat's header. During that time, the chat's first
/// attempts to this receiver go to the retry queue.
const FAILING_MARK_TTL: Duration = Duration::from_secs(9);
/// The updates of a chat's header that set and remove the mark of a failing receiver.
struct FailingMark {
    set: &'static str,
    remove: &'static str,
}

/// Returns `None` for a kind of receiver without a mark; see [`Chat::failing_until`].
fn failing_mark(target: Target) -> Option<FailingMark> {
    let marks = [
        (Target::Channel, "SET #channel_failing_until = :until", "REMOVE #channel_failing_until"),
        (Target::Bot, "SET #bot_failing_until = :until", "REMOVE #bot_failing_until"),
    ];
    let (_, set, remove) = marks.into_iter().find(|(marked, ..)| *marked == target)?;
    Some(FailingMark { set, remove })
}

impl Chats {
    /// Records an attempt and the resulting update to the delivery. `delivery` is the delivery at the start of the
    /// attempt. If a retry follows, also stores a changed `delivery.round_started_at`: a delivery that waits for the
    /// chat's earlier messages starts its round with its first attempt.
    ///
    /// Returns false and writes nothing if the delivery has changed since it was read, unless the change was this
    /// attempt. Fails with [`Error::Unwritable`] if the entry would exceed the maximum size of an item. If an agent's
    /// message fails or is delivered by a replay, the transaction also updates the chat's header. It stores the events
    /// that report the update.
    pub async fn record_attempt(
        &self,
        entry: &TimelineEntry,
        delivery: &Delivery,
        attempt: &Attempt,
        (delivery_update, events): (&DeliveryUpdate, &[TimelineEntry]),
    ) -> Result<bool, Error> {
        let attempt = attempt.truncated();
        let stored_attempts = delivery.with_newest_attempt(attempt.clone());
        let written = self.write_attempts(entry, delivery, stored_attempts, (delivery_update, events)).await;
        match written.condition()? {
            Ok(()) => Ok(true),
            // Check whether the entry already contains the attempt. The SDK repeats a request if its response is late,
            // and if the first write succeeded, the condition of the repeated write fails.
            Err(Some(item)) => Ok(is_recorded(&entry_from_item(item)?, delivery, &attempt)),
            Err(None) => Ok(false),
        }
    }

    /// Marks a delivery as failed because the record of an attempt does not fit into the entry. Removes all recorded
    /// attempts to make room for the failed state. Returns false if the delivery has changed since it was read.
    pub async fn fail_unstorable_attempt(
        &self,
        entry: &TimelineEntry,
        delivery: &Delivery,
        now: Timestamp,
        events: &[TimelineEntry],
    ) -> Result<bool, Error> {
        let dropped = u32::try_from(delivery.attempts.len()).unwrap_or(u32::MAX).saturating_add(1);
        let no_attempts = (Vec::new(), delivery.attempts_left_out.saturating_add(dropped));
        let failed = DeliveryUpdate::failed(Failure::attempt_not_recorded(), now);
        Ok(self.write_attempts(entry, delivery, no_attempts, (&failed, events)).await.condition()?.is_ok())
    }

    /// Stores the attempts and the update to the delivery, provided that the stored delivery still has the same state,
    /// round and number of attempts as `delivery`.
    async fn write_attempts(
        &self,
        entry: &TimelineEntry,
        delivery: &Delivery,
        (attempts, attempts_left_out): (Vec<Attempt>, u32),
        (delivery_update, events): (&DeliveryUpdate, &[TimelineEntry]),
    ) -> Result<(), WriteError> {
        let last_attempt_at = attempts.last().map_or(delivery.round_started_at, |attempt| attempt.at);
        let attempts: Vec<AttemptItem> = attempts.iter().map(AttemptItem::from).collect();
        let mut values = vec![
            (":before", s(delivery.state.name())),
            (":round", n(delivery.round)),
            (":attempts_made", n(delivery.attempts_made)),
            (":one", n(1)),
            (":attempts", to_attribute(&attempts)?),
            (":attempts_left_out", n(attempts_left_out)),
        ];
        let was_failed = delivery.state == DeliveryState::Failed;
        let update = match delivery_update {
            DeliveryUpdate::StillFailed => RECORD_ATTEMPT,
            DeliveryUpdate::RetryAfter(_)
                if entry
                    .delivery
                    .as_ref()
                    .is_some_and(|stored| stored.round_started_at == delivery.round_started_at) =>
            {
                RECORD_ATTEMPT
            }
            DeliveryUpdate::RetryAfter(_) => {
                values.push((":round_started_at", n(delivery.round_started_at.0)));
                values.push((":next_due", n(delivery_due_at(delivery.round_started_at).0)));
                RECORD_ATTEMPT_AND_WINDOW
            }
            DeliveryUpdate::Delivered => {
                values.push((":state", s(DeliveryState::Delivered.name())));
                if was_failed { FINISH_DELIVERED_LATE } else { FINISH_DELIVERED }
            }
            DeliveryUpdate::Failed { failure, .. } if was_failed => {
                values.push((":failure", to_attribute(&FailureItem::from(&failure.truncated()))?));
                END_LATE_ATTEMPTS
            }
            DeliveryUpdate::Failed { failure, visible_at, late_until } => {
                values.push((":state", s(DeliveryState::Failed.name())));
                values.push((":failure", to_attribute(&FailureItem::from(&failure.truncated()))?));
                values.push((":result_visible_at", n(visible_at.0)));
                values.push((":due", s(failed_partition(&entry.account_id))));
                values.extend(late_until.map(|until| (":late_until", n(until.0))));
                if late_until.is_some() { FINISH_FAILED_FOR_NOW } else { FINISH_FAILED }
            }
        };
        let key = entry_key(&entry.account_id, entry.chat_id, entry.seq);
        let condition =
            "#delivery.#state = :before AND #delivery.#round = :round AND #delivery.#attempts_made = :attempts_made";
        let update = ItemUpdate { key, update, condition, values };
        match delivery_update {
            // The failure has been counted before.
            DeliveryUpdate::Failed { .. } if was_failed => self.table.update(update).await.map(|_| ()),
            DeliveryUpdate::Failed { visible_at, .. } => self.store_failure(entry, update, *visible_at, events).await,
            DeliveryUpdate::Delivered
                if !events.is_empty() || (is_message_of_agent(entry) && delivery.has_failed_before()) =>
            {
                self.store_late_success(entry, update, last_attempt_at, events).await
            }
            DeliveryUpdate::RetryAfter(_) | DeliveryUpdate::StillFailed | DeliveryUpdate::Delivered => {
                self.table.update(update).await.map(|_| ())
            }
        }
    }

    /// Marks a delivery as failed that waits behind another one in strict order. It is attempted again like that one.
    /// Returns false if the delivery has changed since it was read.
    pub async fn fail_behind_other(
        &self,
        entry: &TimelineEntry,
        delivery: &Delivery,
        late_until: Timestamp,
        now: Timestamp,
        events: &[TimelineEntry],
    ) -> Result<bool, Error> {
        let update = ItemUpdate {
            key: entry_key(&entry.account_id, entry.chat_id, entry.seq),
            update: FAIL_BEHIND_OTHER,
            condition: "#delivery.#state = :pending AND #delivery.#round = :round \
                        AND #delivery.#attempts_made = :attempts_made",
            values: vec![
                (":pending", s(DeliveryState::Pending.name())),
                (":round", n(delivery.round)),
                (":attempts_made", n(delivery.attempts_made)),
                (":state", s(DeliveryState::Failed.name())),
                (":failure", to_attribute(&FailureItem::from(&Failure::waits_for_earlier_message()))?),
                (":result_visible_at", n(now.0)),
                (":due", s(failed_partition(&entry.account_id))),
                (":late_until", n(late_until.0)),
            ],
        };
        Ok(self.store_failure(entry, update, now, events).await.condition()?.is_ok())
    }

    /// Applies the update that marks a delivery as failed, counts the failure for the reports, and adds an agent's
    /// message to the undelivered messages in the chat's header. Also stores the events that report the failure.
    pub(crate) async fn store_failure(
        &self,
        entry: &TimelineEntry,
        update: ItemUpdate,
        at: Timestamp,
        events: &[TimelineEntry],
    ) -> Result<(), WriteError> {
        let events = events.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?;
        let chat = self.chat(&entry.account_id, entry.chat_id).await?;
        let target = entry.delivery.as_ref().map(|delivery| delivery.target);
        let chat_writes = |chat: &Chat| {
            let counted = target.map(|target| count_failure_write(chat, target));
            let is_marked = is_message_of_agent(entry) && chat.undelivered.len() < MAX_UNDELIVERED;
            let marked = is_marked.then(|| undelivered_write(chat, entry.seq, true, at));
            counted.into_iter().chain(marked).chain(events.iter().cloned()).collect()
        };
        self.update_delivery_and_chat(update, chat, &chat_writes).await
    }

    /// Applies the update that marks a message as delivered that had failed before, and removes an agent's message from
    /// the undelivered messages in the chat's header. Also stores the events that report it.
    async fn store_late_success(
        &self,
        entry: &TimelineEntry,
        update: ItemUpdate,
        at: Timestamp,
        events: &[TimelineEntry],
    ) -> Result<(), WriteError> {
        let events = events.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?;
        let chat = self.chat(&entry.account_id, entry.chat_id).await?;
        let chat_writes = |chat: &Chat| {
            let unmarked = is_message_of_agent(entry).then(|| undelivered_write(chat, entry.seq, false, at));
            unmarked.into_iter().chain(events.iter().cloned()).collect()
        };
        self.update_delivery_and_chat(update, chat, &chat_writes).await
    }

    /// Applies the update of a delivery together with the writes that `chat_writes` returns for its chat. `chat` may be
    /// out of date: if the chat has been closed in the meantime, the writes of a closed chat are made. `None` means
    /// that the chat does not exist.
    ///
    /// If concurrent transactions write the same items, the transaction is tried four times and then fails with
    /// `Contended`. The attempt is then not recorded, and its task is repeated.
    pub(crate) async fn update_delivery_and_chat(
        &self,
        update: ItemUpdate,
        chat: Option<Chat>,
        chat_writes: &(dyn Fn(&Chat) -> Vec<Write> + Sync),
    ) -> Result<(), WriteError> {
        let Some(chat) = chat else { return self.table.update(update).await.map(|_| ()) };
        let writes = |chat| [Write::Update(update.clone())].into_iter().chain(chat_writes(chat)).collect();
        match self.table.transact(writes(&chat)).await {
            Err(WriteError::ConditionFailed { index, item: Some(header) }) if index > 0 => {
                // The chat has been closed. It cannot be opened again, so this is not repeated.
                self.table.transact(writes(&chat_from_item(header)?)).await
            }
            result => result,
        }
    }

    /// Stores the final state of a pending delivery without making another attempt. Returns false if the delivery is
    /// not pending, or if concurrent transactions keep changing the entry.
    pub async fn finish_delivery(&self, entry: &TimelineEntry, state: DeliveryState) -> Result<bool, Error> {
        let update = ItemUpdate {
            key: entry_key(&entry.account_id, entry.chat_id, entry.seq),
            update: "SET #delivery.#state = :state REMOVE #due, #due_at",
            condition: "#delivery.#state = :pending",
            values: vec![(":state", s(state.name())), (":pending", s(DeliveryState::Pending.name()))],
        };
        match self.table.update(update).await {
            Ok(_) => Ok(true),
            Err(WriteError::ConditionFailed { .. } | WriteError::Contended) => Ok(false),
            Err(WriteError::Error(error)) => Err(error),
        }
    }

    /// Marks the receiver as failing in the chat's header, if its target has such a mark. The mark expires after
    /// `FAILING_MARK_TTL`. If a bot failed to accept a visitor's message, also stores its number, see
    /// [`Chat::repeated_to_bot`].
    pub async fn mark_failing(
        &self,
        entry: &TimelineEntry,
        chat: &Chat,
        target: Target,
        now: Timestamp,
    ) -> Result<(), Error> {
        let Some(mark) = failing_mark(target) else { return Ok(()) };
        let until = (":until", n(now.plus(FAILING_MARK_TTL).0));
        if target == Target::Bot && entry.from == Sender::Visitor {
            let update = "SET #bot_failing_until = :until, #repeated_to_bot = :seq";
            return self.set_failing_mark(chat, update, vec![until, (":seq", n(entry.seq))]).await;
        }
        self.set_failing_mark(chat, mark.set, vec![until]).await
    }

    /// Removes the mark that [`mark_failing`](Self::mark_failing) sets.
    pub async fn mark_healthy(&self, chat: &Chat, target: Target) -> Result<(), Error> {
        let Some(mark) = failing_mark(target) else { return Ok(()) };
        self.set_failing_mark(chat, mark.remove, vec![]).await
    }

    async fn set_failing_mark(
        &self,
        chat: &Chat,
        update: &'static str,
        values: Vec<(&'static str, AttributeValue)>,
    ) -> Result<(), Error> {
        let key = header_key(&chat.account_id, chat.chat_id);
        let updated = self.table.update(ItemUpdate { key, update, condition: ITEM_EXISTS, values }).await;
        updated.on_condition_failed(Error::NotFound).map(|_| ())
    }

    /// Starts a new round of a finished delivery. Fails with `NotFound` if the entry does not exist, and with
    /// `Conflict` if `scope` does not allow the replay.
    pub async fn replay_delivery(
        &self,
        account_id: &str,
        chat_id: u64,
        seq: u64,
        scope: ReplayScope,
        now: Timestamp,
    ) -> Result<TimelineEntry, Error> {
        let (condition, mut values) = replay_condition(scope);
        values.extend([(":now", n(now.0)), (":one", n(1)), (":next_due", n(delivery_due_at(now).0))]);
        values.push((":seconds", n(now.seconds())));
        values.extend(new_round_values(chat_id));
        let key = entry_key(account_id, chat_id, seq);
        match self.table.update(ItemUpdate { key, update: START_REPLAY, condition, values }).await.condition()? {
            Ok(item) => entry_from_item(item),
            Err(None) => Err(Error::NotFound),
            Err(Some(item)) => {
                let entry = entry_from_item(item)?;
                // Check whether this call has already started the replay: as in `record_attempt`, the condition of a
                // repeated write fails if the first write succeeded.
                let is_own_result = entry.delivery.as_ref().is_some_and(|delivery| delivery.round_started_at == now);
                let refusal = scope.replay_obstacle(&entry, now).unwrap_or("the delivery has changed");
                if is_own_result { Ok(entry) } else { Err(Error::Conflict(refusal)) }
            }
        }
    }
}

/// Whether the entry is a message from an agent that is delivered to the visitor.
fn is_message_of_agent(entry: &TimelineEntry) -> bool {
    let is_for_visitor = entry.delivery.as_ref().is_some_and(|delivery| delivery.target == Target::Channel);
    is_for_visitor && matches!(entry.from, Sender::Agent(_))
}

/// Returns the write that adds an entry to the undelivered messages in the chat's header, or removes it from them. The
/// change is stored with its time, so that lists of changed chats contain the chat. If `chat` is open, the write fails
/// if the chat has been closed, because such lists find a closed chat by other attributes.
pub(crate) fn undelivered_write(chat: &Chat, seq: u64, is_undelivered: bool, at: Timestamp) -> Write {
    let is_closed = chat.state.is_closed();
    let update = match (is_undelivered, is_closed) {
        (true, false) => "ADD #undelivered :seq SET #other_change_at = :now",
        (true, true) => concat!("ADD #undelivered :seq SET #other_change_at = :now, ", set_closed_chat!()),
        (false, false) => "DELETE #undelivered :seq SET #other_change_at = :now",
        (false, true) => concat!("DELETE #undelivered :seq SET #other_change_at = :now, ", set_closed_chat!()),
    };
    let mut values = vec![(":seq", AttributeValue::Ns(vec![seq.to_string()])), (":now", n(at.0))];
    let condition = if is_closed {
        values.extend(closed_chat_values(&chat.account_id, at));
        ITEM_EXISTS
    } else {
        values.push((":closed", s(ChatState::Closed(None).name())));
        "attribute_exists(#pk) AND #state <> :closed"
    };
    let key = header_key(&chat.account_id, chat.chat_id);
    Write::Update(ItemUpdate { key, update, condition, values })
}

fn is_recorded(entry: &TimelineEntry, before: &Delivery, attempt: &Attempt) -> bool {
    entry.delivery.as_ref().is_some_and(|after| {
        after.round == before.round
            && after.attempts_made == before.attempts_made + 1
            && after.attempts.last() == Some(attempt)
    })
}

macro_rules! record_attempt_expression {
    ($others:expr) => {
        concat!(
            "SET #delivery.#attempts_made = #delivery.#attempts_made + :one, #delivery.#attempts = :attempts, \
             #delivery.#attempts_left_out = :attempts_left_out",
            $others
        )
    };
}

const RECORD_ATTEMPT: &str = record_attempt_expression!("");

const RECORD_ATTEMPT_AND_WINDOW: &str =
    record_attempt_expression!(", #delivery.#round_started_at = :round_started_at, #due_at = :next_due");

const FINISH_DELIVERED: &str = record_attempt_expression!(", #delivery.#state = :state REMOVE #due, #due_at");

/// Keeps the time at which the failure became visible; see
/// [`Delivery::was_late`](crate::domain::deliveries::delivery::Delivery::was_late).
const FINISH_DELIVERED_LATE: &str = record_attempt_expression!(
    ", #delivery.#state = :state REMOVE #due, #due_at, #delivery.#failure, #delivery.#late_until"
);

macro_rules! set_failed {
    () => {
        "#delivery.#state = :state, #delivery.#failure = :failure, #delivery.#result_visible_at = :result_visible_at, \
         #due = :due, #due_at = #at"
    };
}

const FINISH_FAILED: &str = record_attempt_expression!(concat!(", ", set_failed!()));

const FINISH_FAILED_FOR_NOW: &str =
    record_attempt_expression!(concat!(", #delivery.#late_until = :late_until, ", set_failed!()));

const FAIL_BEHIND_OTHER: &str = concat!("SET #delivery.#late_until = :late_until, ", set_failed!());

const END_LATE_ATTEMPTS: &str =
    record_attempt_expression!(", #delivery.#failure = :failure REMOVE #delivery.#late_until");

const START_REPLAY: &str = "SET #delivery.#state = :pending, #delivery.#round = #delivery.#round + :one, \
     #delivery.#requeues = :zero, #delivery.#round_started_at = :now, #delivery.#attempts_made = :zero, #due = :due, \
     #due_at = :next_due REMOVE #delivery.#failure, #delivery.#result_visible_at, #delivery.#late_until, \
     #delivery.#fetch_until";

/// A condition expression that holds if the entry is not a phone call and
/// [`awaits_bot_reaction`](crate::domain::bots::bot_reaction::awaits_bot_reaction) is false for it.
macro_rules! is_repeatable {
    () => {
        "NOT (#delivery.#target = :bot AND (#from = :visitor OR #content.#kind IN (:unavailable, :callback, :returned))) \
         AND #delivery.#target <> :call"
    };
}

/// A delivery that nobody has fetched in time is shown as failed, too; see
/// [`Delivery::visible_state`](crate::domain::deliveries::delivery::Delivery::visible_state).
macro_rules! is_shown_as_failed {
    () => {
        "((#delivery.#state = :failed AND #delivery.#result_visible_at <= :now) \
         OR (#delivery.#state = :pending AND #delivery.#fetch_until <= :now))"
    };
}

macro_rules! and_not_expired {
    ($($condition:expr),+ $(,)?) => {
        concat!(
            $($condition,)+
            " AND (attribute_not_exists(#expires_at) OR #expires_at > :seconds)"
        )
    };
}

/// Returns a condition expression and the values of its placeholders. The expression must allow the same replays as
/// [`ReplayScope::replay_obstacle`].
fn replay_condition(scope: ReplayScope) -> (&'static str, Vec<(&'static str, AttributeValue)>) {
    let failed = (":failed", s(DeliveryState::Failed.name()));
    let repeatable = [
        (":call", s(Target::Call.name())),
        (":bot", s(Target::Bot.name())),
        (":visitor", s(Sender::Visitor.name())),
        (":unavailable", s(BotNotification::AgentUnavailable.name())),
        (":callback", s(BotNotification::CallbackRequested.name())),
        (":returned", s(BotNotification::ChatReturned.name())),
    ];
    match scope {
        ReplayScope::MessageToVisitor => (
            and_not_expired!("#delivery.#target = :channel AND ", is_shown_as_failed!()),
            vec![failed, (":channel", s(Target::Channel.name()))],
        ),
        ReplayScope::AllFailed => (
            and_not_expired!(is_repeatable!(), " AND ", is_shown_as_failed!()),
            [failed].into_iter().chain(repeatable).collect(),
        ),
        ReplayScope::Single => (
            and_not_expired!(is_repeatable!(), " AND (#delivery.#state = :delivered OR ", is_shown_as_failed!(), ")"),
            [failed, (":delivered", s(DeliveryState::Delivered.name()))].into_iter().chain(repeatable).collect(),
        ),
    }
}

pub(crate) fn new_round_values(chat_id: u64) -> [(&'static str, AttributeValue); 3] {
    [
        (":pending", s(DeliveryState::Pending.name())),
        (":zero", n(0)),
        (":due", s(Backlog::Deliveries.partition_of(chat_id))),
    ]
}
