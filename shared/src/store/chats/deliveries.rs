//! What becomes of a delivery: its tries, its verdict, its new beginnings, and what is overdue.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::bot::BotNotice;
use crate::domain::chat::{Chat, Sender};
use crate::domain::delivery::{Attempt, Delivery, DeliveryState, DeliveryUpdate, Failure, Target};
use crate::domain::delivery_log::{self, Retry};
use crate::domain::entry::Entry;
use crate::domain::retry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::items::{AttemptItem, FailureItem};
use crate::store::chats::transitions::HandOver;
use crate::store::chats::{Chats, entry, entry_key, head_key};
use crate::store::table::{EXISTS, Item, ItemUpdate, Key, Query, Refused, n, s};
use crate::store::to_attribute;

/// Partitions of each backlog in the index of what is due, so that no single key takes every write: 32 thousand of them a
/// second. The number only ever grows, because what was written under a smaller one is found as well.
pub const DUE_PARTITIONS: u64 = 32;
/// How long a chat counts as failing after a failed try.
const FAILING_MARK_TTL: Duration = Duration::from_secs(9);
/// Times after which the sweep gives up on an entry whose every consumer died.
const MAX_REVIVALS: u32 = 60;
/// The same for what a bot is to react to, which until its first try may be in a line: as many messages as a visitor may
/// write at once, of which each takes the longest that a try may, are over before the sweep comes once more.
const MAX_REVIVALS_IN_TURN: u32 = 2;

/// What the index of what is due holds for a schedule to work through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backlog {
    /// Deliveries that should be over.
    Deliveries,
    /// Open chats of which it should be checked whether they are idle.
    IdleChecks,
}

impl Backlog {
    /// Its name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deliveries => "deliveries",
            Self::IdleChecks => "idle_checks",
        }
    }

    /// The partition of a chat's items.
    pub(in crate::store) fn partition_of(self, chat_id: u64) -> String {
        self.partition(chat_id % DUE_PARTITIONS)
    }

    fn partition(self, number: u64) -> String {
        match self {
            Self::Deliveries => number.to_string(),
            Self::IdleChecks => format!("idle#{number}"),
        }
    }
}

/// The partition of the same index that holds what failed in an account, by the time at which it was made.
pub(in crate::store) fn failed(account_id: &str) -> String {
    format!("{account_id}#failed")
}

/// When a delivery that began then should be over.
pub(in crate::store) fn due_at(since: Timestamp) -> Timestamp {
    since.after(retry::DELIVERY_WINDOW)
}

/// Something that was due and is not done. Shown as its key, which has ids only.
pub struct Overdue {
    pub(in crate::store) key: Key,
    /// When it was due.
    pub due_at: Timestamp,
}

impl std::fmt::Display for Overdue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Key { pk, sk } = &self.key;
        write!(f, "{pk} {sk}")
    }
}

/// A part of what is overdue in a partition, oldest first.
pub struct OverduePage {
    /// The items.
    pub items: Vec<Overdue>,
    /// Where there may be more.
    pub next: Option<Cursor>,
}

/// Where a page of a partition ended.
#[derive(Clone)]
pub struct Cursor(Item);

/// What became of a delivery that was overdue.
pub enum Revived {
    /// Nothing: it is over, or somebody else was faster.
    Not,
    /// It is to be queued.
    Begun(Entry),
    /// It is over without a try; with whether the chat went from a bot to the agents.
    Failed(Entry, bool),
}

impl Chats {
    /// Writes a try into the ledger with what follows from it. The delivery is as it was when the try began; a window that
    /// began with the try is written too while another try may follow. False when somebody else was faster: then nothing is
    /// written and nothing is to be done. [`Error::Unwritable`] when the entry has no room for it. One write.
    pub async fn record_attempt(
        &self,
        tried: &Entry,
        delivery: &Delivery,
        attempt: &Attempt,
        verdict: &DeliveryUpdate,
    ) -> Result<bool, Error> {
        let attempt = attempt.bounded();
        let kept = delivery.attempts_with(attempt.clone());
        match self.write_attempts(tried, delivery, kept, verdict).await {
            Ok(()) => Ok(true),
            // The SDK repeats a request whose answer is late, and then meets its own success.
            Err(Refused::Condition { item: Some(item), .. }) => Ok(holds(&entry(item)?, delivery, &attempt)),
            Err(Refused::Condition { item: None, .. }) => Ok(false),
            Err(refused) => Err(refused.into()),
        }
    }

    /// Ends a delivery whose entry has no room for its attempt: without any attempts, so that the entry has room for that.
    /// False when somebody else was faster. One write.
    pub async fn fail_unrecorded(&self, tried: &Entry, delivery: &Delivery, now: Timestamp) -> Result<bool, Error> {
        let made = u32::try_from(delivery.attempts.len()).unwrap_or(u32::MAX).saturating_add(1);
        let none = (Vec::new(), delivery.attempts_left_out.saturating_add(made));
        let failed = DeliveryUpdate::Failed(Failure::unrecorded(), now);
        match self.write_attempts(tried, delivery, none, &failed).await {
            Ok(()) => Ok(true),
            Err(Refused::Condition { .. }) => Ok(false),
            Err(refused) => Err(refused.into()),
        }
    }

    /// Counts a try, and stores the attempts that the entry keeps and how many it leaves out. The entry holds the attempts of
    /// `delivery` as long as the condition does.
    async fn write_attempts(
        &self,
        tried: &Entry,
        delivery: &Delivery,
        (attempts, left_out): (Vec<Attempt>, u32),
        verdict: &DeliveryUpdate,
    ) -> Result<(), Refused> {
        let attempts: Vec<AttemptItem> = attempts.iter().map(AttemptItem::from).collect();
        let mut values = vec![
            (":pending", s(DeliveryState::Pending.name())),
            (":round", n(delivery.round)),
            (":attempts_made", n(delivery.attempts_made)),
            (":one", n(1)),
            (":attempts", to_attribute(&attempts)?),
            (":left_out", n(left_out)),
        ];
        let update = match verdict {
            DeliveryUpdate::Again(_)
                if tried.delivery.as_ref().is_some_and(|stored| stored.since == delivery.since) =>
            {
                RECORD_ATTEMPT
            }
            DeliveryUpdate::Again(_) => {
                values.push((":since", n(delivery.since.0)));
                values.push((":next_due", n(due_at(delivery.since).0)));
                RECORD_ATTEMPT_IN_TURN
            }
            DeliveryUpdate::Delivered => {
                values.push((":state", s(DeliveryState::Delivered.name())));
                FINISH_DELIVERED
            }
            DeliveryUpdate::Failed(failure, verdict_at) => {
                values.push((":state", s(DeliveryState::Failed.name())));
                values.push((":failure", to_attribute(&FailureItem::from(&failure.bounded()))?));
                values.push((":verdict_at", n(verdict_at.0)));
                values.push((":due", s(failed(&tried.account_id))));
                FINISH_FAILED
            }
        };
        let key = entry_key(&tried.account_id, tried.chat_id, tried.seq);
        let condition =
            "#delivery.#state = :pending AND #delivery.#round = :round AND #delivery.#attempts_made = :attempts_made";
        self.table.update(ItemUpdate { key, update, condition, values }).await.map(|_| ())
    }

    /// Ends a pending delivery without another attempt. False when it was not pending any more. One write.
    pub async fn finish_delivery(&self, entry: &Entry, state: DeliveryState) -> Result<bool, Error> {
        let change = ItemUpdate {
            key: entry_key(&entry.account_id, entry.chat_id, entry.seq),
            update: "SET #delivery.#state = :state REMOVE #due, #due_at",
            condition: "#delivery.#state = :pending",
            values: vec![(":state", s(state.name())), (":pending", s(DeliveryState::Pending.name()))],
        };
        match self.table.update(change).await {
            Ok(_) => Ok(true),
            Err(Refused::Condition { .. } | Refused::Contended) => Ok(false),
            Err(Refused::Error(error)) => Err(error),
        }
    }

    /// Marks a receiver of a chat as failing, from now for a while. One write; webhooks have no mark.
    pub async fn mark_failing(&self, chat: &Chat, target: Target, now: Timestamp) -> Result<(), Error> {
        let update = match target {
            Target::Channel => "SET #channel_failing_until = :until",
            Target::Bot => "SET #bot_failing_until = :until",
            Target::Webhook => return Ok(()),
        };
        self.mark(chat, update, vec![(":until", n(now.after(FAILING_MARK_TTL).0))]).await
    }

    /// Marks a receiver of a chat as healthy again. One write.
    pub async fn mark_healthy(&self, chat: &Chat, target: Target) -> Result<(), Error> {
        let update = match target {
            Target::Channel => "REMOVE #channel_failing_until",
            Target::Bot => "REMOVE #bot_failing_until",
            Target::Webhook => return Ok(()),
        };
        self.mark(chat, update, vec![]).await
    }

    async fn mark(
        &self,
        chat: &Chat,
        update: &'static str,
        values: Vec<(&'static str, AttributeValue)>,
    ) -> Result<(), Error> {
        let key = head_key(&chat.account_id, chat.chat_id);
        self.table.update(ItemUpdate { key, update, condition: EXISTS, values }).await?;
        Ok(())
    }

    /// Begins a delivery anew, for somebody who pressed Retry. One write.
    pub async fn retry(
        &self,
        account_id: &str,
        chat_id: u64,
        seq: u64,
        retry: Retry,
        now: Timestamp,
    ) -> Result<Entry, Error> {
        let (condition, mut values) = may_begin(retry);
        values.extend([(":now", n(now.0)), (":one", n(1)), (":next_due", n(due_at(now).0))]);
        values.push((":seconds", n(now.seconds())));
        values.extend(anew(chat_id));
        let key = entry_key(account_id, chat_id, seq);
        match self.table.update(ItemUpdate { key, update: RETRY, condition, values }).await {
            Ok(item) => entry(item),
            Err(Refused::Condition { item: None, .. }) => Err(Error::NotFound),
            Err(Refused::Condition { item: Some(item), .. }) => {
                let entry = entry(item)?;
                let is_ours = entry.delivery.as_ref().is_some_and(|delivery| delivery.since == now);
                let refusal = retry.refusal(&entry, now).unwrap_or("it changed meanwhile");
                if is_ours { Ok(entry) } else { Err(Error::Conflict(refusal)) }
            }
            Err(refused) => Err(refused.into()),
        }
    }

    /// What was due before `before` in a partition of a backlog, oldest first. One query.
    pub async fn overdue(
        &self,
        backlog: Backlog,
        partition: u64,
        before: Timestamp,
        after: Option<Cursor>,
        limit: i32,
    ) -> Result<OverduePage, Error> {
        self.due_before(backlog.partition(partition), before, after, limit).await
    }

    /// What is in a partition of the index of what is due, oldest first. One query.
    pub(in crate::store) async fn due_before(
        &self,
        partition: String,
        before: Timestamp,
        after: Option<Cursor>,
        limit: i32,
    ) -> Result<OverduePage, Error> {
        let query = Query {
            index: Some("due"),
            condition: "#due = :due AND #due_at < :before",
            values: vec![(":due", s(partition)), (":before", n(before.0))],
            limit,
            descending: false,
        };
        let page = self.table.page(query, "", after.map(|Cursor(key)| key)).await?;
        let items = page.items.into_iter().filter_map(|item| {
            let text = |name: &str| item.get(name)?.as_s().ok().cloned();
            let due_at = item.get("due_at")?.as_n().ok()?.parse().ok().map(Timestamp)?;
            Some(Overdue { key: Key::new(text("pk")?, text("sk")?), due_at })
        });
        Ok(OverduePage { items: items.collect(), next: page.next.map(Cursor) })
    }

    /// Takes up an overdue delivery. What was never tried keeps its place in the round, because its task may only be
    /// waiting its turn; what was tried begins anew; what was taken up too often fails. What a bot was to react to and was
    /// tried has lost its window, and the chat goes to the agents, unless the bot has reacted, which accepts it, or lost the
    /// chat already, so that nobody misses it. A read and a write.
    pub async fn revive(&self, overdue: &Overdue, now: Timestamp) -> Result<Revived, Error> {
        let Some(item) = self.table.get(overdue.key.clone()).await? else { return Ok(Revived::Not) };
        let found = entry(item)?;
        let Some(delivery) = found.delivery.as_ref().filter(|delivery| delivery.state == DeliveryState::Pending) else {
            return Ok(Revived::Not);
        };
        let waits_for_bot = delivery_log::waits_for_bot(&found);
        let is_lost = if waits_for_bot {
            delivery.attempts_made > 0 || delivery.revivals >= MAX_REVIVALS_IN_TURN
        } else {
            delivery.revivals >= MAX_REVIVALS
        };
        if is_lost {
            if waits_for_bot && let Some(end) = self.kept_from_agents(&found, now).await? {
                return self.finish_delivery(&found, end).await.map(|_| Revived::Not);
            }
            let is_over = self.give_up(&found.account_id, overdue, now).await?;
            return Ok(if is_over { Revived::Failed(found, waits_for_bot) } else { Revived::Not });
        }
        let update = if delivery.attempts_made == 0 { POSTPONE } else { RESTART_ROUND };
        let mut values = vec![
            (":now", n(now.0)),
            (":one", n(1)),
            (":next_due", n(due_at(now).0)),
            (":due_at", n(overdue.due_at.0)),
            (":attempts_made", n(delivery.attempts_made)),
        ];
        if delivery.attempts_made > 0 {
            values.extend(anew(found.chat_id));
        }
        let condition = "#due_at = :due_at AND #delivery.#attempts_made = :attempts_made";
        match self.table.update(ItemUpdate { key: overdue.key.clone(), update, condition, values }).await {
            Ok(item) => entry(item).map(Revived::Begun),
            Err(Refused::Condition { .. } | Refused::Contended) => Ok(Revived::Not),
            Err(Refused::Error(error)) => Err(error),
        }
    }

    /// Hands the chat of a bot that missed an entry to the agents. Where that is not needed: how the delivery ends.
    async fn kept_from_agents(&self, missed: &Entry, now: Timestamp) -> Result<Option<DeliveryState>, Error> {
        let Entry { account_id, chat_id, .. } = missed;
        let since = delivery_log::unanswered_since(missed);
        Ok(match self.bot_failed(account_id, *chat_id, since, now).await? {
            HandOver::Done => None,
            HandOver::Answered => Some(delivery_log::after_bot_event(missed)),
            HandOver::NotWithBot => Some(DeliveryState::Superseded),
        })
    }

    /// False when somebody else was faster.
    async fn give_up(&self, account_id: &str, overdue: &Overdue, now: Timestamp) -> Result<bool, Error> {
        let failure = Failure { code: None, message: "Not delivered: every try was cut short".into(), hidden: false };
        let change = ItemUpdate {
            key: overdue.key.clone(),
            update: "SET #delivery.#state = :failed, #delivery.#failure = :failure, \
                     #delivery.#verdict_at = :now, #due = :due, #due_at = #at",
            condition: "#due_at = :due_at",
            values: vec![
                (":due", s(failed(account_id))),
                (":failed", s(DeliveryState::Failed.name())),
                (":failure", to_attribute(&FailureItem::from(&failure))?),
                (":now", n(now.0)),
                (":due_at", n(overdue.due_at.0)),
            ],
        };
        match self.table.update(change).await {
            Ok(_) => Ok(true),
            Err(Refused::Condition { .. } | Refused::Contended) => Ok(false),
            Err(Refused::Error(error)) => Err(error),
        }
    }
}

/// Whether an entry holds this try as the latest of its round.
fn holds(entry: &Entry, before: &Delivery, attempt: &Attempt) -> bool {
    entry.delivery.as_ref().is_some_and(|after| {
        after.round == before.round
            && after.attempts_made == before.attempts_made + 1
            && after.attempts.last() == Some(attempt)
    })
}

/// What every try changes, and what else.
macro_rules! tried {
    ($more:literal) => {
        concat!(
            "SET #delivery.#attempts_made = #delivery.#attempts_made + :one, #delivery.#attempts = :attempts, \
             #delivery.#attempts_left_out = :left_out",
            $more
        )
    };
}

const RECORD_ATTEMPT: &str = tried!("");

const RECORD_ATTEMPT_IN_TURN: &str = tried!(", #delivery.#since = :since, #due_at = :next_due");

const FINISH_DELIVERED: &str = tried!(", #delivery.#state = :state REMOVE #due, #due_at");

const FINISH_FAILED: &str = tried!(
    ", #delivery.#state = :state, #delivery.#failure = :failure, #delivery.#verdict_at = :verdict_at, \
     #due = :due, #due_at = #at"
);

const POSTPONE: &str = "SET #delivery.#since = :now, #delivery.#revivals = #delivery.#revivals + :one, \
                        #due_at = :next_due";

const RESTART_ROUND: &str = "SET #delivery.#state = :pending, #delivery.#round = #delivery.#round + :one, \
                          #delivery.#revivals = #delivery.#revivals + :one, #delivery.#since = :now, \
                          #delivery.#attempts_made = :zero, #due = :due, #due_at = :next_due \
                          REMOVE #delivery.#failure, #delivery.#verdict_at";

const RETRY: &str = "SET #delivery.#state = :pending, #delivery.#round = #delivery.#round + :one, \
                     #delivery.#revivals = :zero, #delivery.#since = :now, \
                     #delivery.#attempts_made = :zero, #due = :due, #due_at = :next_due \
                     REMOVE #delivery.#failure, #delivery.#verdict_at";

/// As [`delivery_log::waits_for_bot`] says.
macro_rules! unless_waits_for_bot {
    () => {
        "NOT (#delivery.#target = :bot AND (#from = :visitor OR #content.#kind = :unavailable))"
    };
}

/// A condition, and what holds for every delivery that begins anew: it is kept still.
macro_rules! and_can_begin {
    ($($own:expr),+ $(,)?) => {
        concat!(
            $($own,)+
            " AND (attribute_not_exists(#expires_at) OR #expires_at > :seconds)"
        )
    };
}

/// When a delivery may begin anew (see [`Retry::refusal`]), and what the names in it stand for.
fn may_begin(retry: Retry) -> (&'static str, Vec<(&'static str, AttributeValue)>) {
    let failed = (":failed", s(DeliveryState::Failed.name()));
    let not_for_bot = [
        (":bot", s(Target::Bot.name())),
        (":visitor", s(Sender::Visitor.name())),
        (":unavailable", s(BotNotice::AgentUnavailable.name())),
    ];
    match retry {
        Retry::Message => (
            and_can_begin!(
                "#delivery.#target = :channel AND #delivery.#state = :failed AND #delivery.#verdict_at <= :now"
            ),
            vec![failed, (":channel", s(Target::Channel.name()))],
        ),
        Retry::Failed => (
            and_can_begin!(
                unless_waits_for_bot!(),
                " AND #delivery.#state = :failed AND #delivery.#verdict_at <= :now"
            ),
            [failed].into_iter().chain(not_for_bot).collect(),
        ),
        Retry::One => (
            and_can_begin!(
                unless_waits_for_bot!(),
                " AND (#delivery.#state = :delivered \
                 OR (#delivery.#state = :failed AND #delivery.#verdict_at <= :now))"
            ),
            [failed, (":delivered", s(DeliveryState::Delivered.name()))].into_iter().chain(not_for_bot).collect(),
        ),
    }
}

/// What [`RESTART_ROUND`] and [`RETRY`] have in common beyond the time.
fn anew(chat_id: u64) -> [(&'static str, AttributeValue); 3] {
    [
        (":pending", s(DeliveryState::Pending.name())),
        (":zero", n(0)),
        (":due", s(Backlog::Deliveries.partition_of(chat_id))),
    ]
}
