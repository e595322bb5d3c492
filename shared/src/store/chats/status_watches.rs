//! The reported statuses of the accounts that have a webhook for their changes, one item for each account, and the
//! events that report them. The index `due` contains the items.
//!
//! Deliveries belong to entries, and entries to chats. The events of an account, which belong to no chat, are the
//! entries of a chat with the number 0, which has no header.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::accounts::agent_presence::AgentStatus;
use crate::domain::accounts::status_watch::{StatusChange, StatusOwner, StatusWatch, Statuses};
use crate::domain::channels::channel::ChannelKind;
use crate::domain::chats::chat::{BotAnswers, Chat};
use crate::domain::chats::chat_assignment::ChatAssignment;
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::time_zone::{Day, TimeZone};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::{Chats, entry_write};
use crate::store::table::{ItemUpdate, Key, Write, WriteResult, n, s};
use crate::store::{from_item, to_attribute};

/// The number of the chat whose entries are the events of the account. Chats are numbered from 1.
pub const ACCOUNT_EVENTS: u64 = 0;
/// The partition of the index `due` with the items of all accounts.
const PARTITION: &str = "statuses";
const PREFIX: &str = "STATUSES#";
const SORT_KEY: &str = "STATUSES";
const MAX_WATCHES_PER_PAGE: i32 = 100;
/// Longer than a request takes that stores a webhook.
const MAX_STORE_TIME: Duration = Duration::from_secs(60);

#[derive(Deserialize)]
struct WatchItem {
    #[serde(default)]
    last_seq: u64,
    #[serde(default)]
    reported: Option<Vec<StatusItem>>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct StatusItem {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_id: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    channel_id: Option<String>,
    status: String,
}

impl StatusItem {
    pub(crate) fn new(owner: &StatusOwner, status: AgentStatus) -> Self {
        let (agent_id, channel_id) = match owner {
            StatusOwner::Agent(agent_id) => (Some(*agent_id), None),
            StatusOwner::Channel(channel_id) => (None, Some(channel_id.clone())),
        };
        Self { agent_id, channel_id, status: status.name().to_owned() }
    }

    pub(crate) fn into_change(self) -> Result<StatusChange, Error> {
        let invalid = || Error::internal("stored status");
        let owner = self.agent_id.map(StatusOwner::Agent).or(self.channel_id.map(StatusOwner::Channel));
        let status = AgentStatus::parse(&self.status).ok_or_else(invalid)?;
        Ok(StatusChange { owner: owner.ok_or_else(invalid)?, status })
    }
}

fn watch_key(account_id: &str) -> Key {
    Key::new(format!("{PREFIX}{account_id}"), SORT_KEY)
}

impl Chats {
    /// Lets the statuses of an account be compared once a minute. This ends by itself when no webhook reports them, so
    /// it may be called before the webhook is stored that will.
    pub async fn watch_statuses(&self, account_id: &str, now: Timestamp) -> Result<(), Error> {
        let update = ItemUpdate {
            key: watch_key(account_id),
            update: "SET #due = :due, #due_at = :now",
            condition: "",
            values: vec![(":due", s(PARTITION)), (":now", n(now.0))],
        };
        self.table.update(update).await.unconditional().map(|_| ())
    }

    /// Ends the comparison of statuses, unless a request has asked for it recently, whose webhook may be stored after
    /// the settings were read. `now` is from before they were read. The number of the last event stays, because the
    /// events are kept for a while and a later watch must not use their numbers again.
    pub async fn end_status_watch(&self, account_id: &str, now: Timestamp) -> Result<(), Error> {
        let update = ItemUpdate {
            key: watch_key(account_id),
            update: "REMOVE #due, #due_at, #reported",
            condition: "#due_at <= :settled",
            values: vec![(":settled", n(now.minus(MAX_STORE_TIME).0))],
        };
        self.table.update_if(update).await
    }

    /// Returns the ids of the accounts whose statuses are compared.
    pub async fn watched_accounts(&self) -> Result<Vec<String>, Error> {
        let (mut accounts, mut after) = (Vec::new(), None);
        loop {
            let before = Timestamp(u64::MAX);
            let page = self.due_items(PARTITION.to_owned(), before, after, MAX_WATCHES_PER_PAGE).await?;
            accounts.extend(page.items.iter().filter_map(|item| item.key.pk.strip_prefix(PREFIX)).map(str::to_owned));
            after = page.next;
            if after.is_none() {
                return Ok(accounts);
            }
        }
    }

    pub async fn status_watch(&self, account_id: &str) -> Result<Option<StatusWatch>, Error> {
        let Some(item) = self.table.get(watch_key(account_id)).await? else { return Ok(None) };
        let WatchItem { last_seq, reported } = from_item(item)?;
        let statuses = |items: Vec<StatusItem>| -> Result<Statuses, Error> {
            let changes = items.into_iter().map(StatusItem::into_change);
            changes.map(|change| change.map(|change| (change.owner, change.status))).collect()
        };
        let reported = reported.map(statuses).transpose()?;
        Ok(Some(StatusWatch { account_id: account_id.to_owned(), last_seq, reported }))
    }

    /// Stores the statuses together with the events that report their changes. Returns false and stores nothing if
    /// another process has done so since the watch was read.
    pub async fn store_statuses(
        &self,
        watch: &StatusWatch,
        statuses: &Statuses,
        events: &[TimelineEntry],
    ) -> Result<bool, Error> {
        let items: Vec<_> = statuses.iter().map(|(owner, status)| StatusItem::new(owner, *status)).collect();
        let update = Write::Update(ItemUpdate {
            key: watch_key(&watch.account_id),
            update: "SET #reported = :reported, #last_seq = :last_seq",
            condition: "attribute_exists(#due) AND (attribute_not_exists(#last_seq) OR #last_seq = :before)",
            values: vec![
                (":reported", to_attribute(&items)?),
                (":last_seq", n(watch.last_seq + events.len() as u64)),
                (":before", n(watch.last_seq)),
            ],
        });
        let events = events.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?;
        let written = self.transact([update].into_iter().chain(events).collect()).await;
        Ok(written.condition()?.is_ok())
    }
}

/// Returns the header that the chat of an account's events would have.
pub(crate) fn account_events_header(account_id: &str) -> Chat {
    Chat {
        account_id: account_id.to_owned(),
        chat_id: ACCOUNT_EVENTS,
        state: ChatState::Closed(None),
        version: 0,
        channel_id: String::new(),
        channel_kind: ChannelKind::Api,
        channel_name: String::new(),
        external_id: String::new(),
        has_numeric_id: false,
        invite_hash: None,
        visitor_number: 0,
        visitor_name: String::new(),
        department: None,
        participants: Vec::new(),
        bot_id: None,
        former_bots: Vec::new(),
        given_to_bot_at: None,
        visitor_seq: 0,
        bot_answers: BotAnswers::default(),
        bot_event_at: None,
        repeated_to_bot: None,
        handover: None,
        seq: 0,
        opened_at: Timestamp(0),
        opened_on: Day::of(Timestamp(0), &TimeZone::default()),
        first_answer_at: None,
        agent_joined_at: None,
        closed_at: None,
        updated_at: Timestamp(0),
        other_change_at: None,
        last_message: None,
        waiting_since: None,
        typing_started_at: None,
        typing_text: None,
        failing_until: BTreeMap::new(),
        undelivered: Vec::new(),
        rating: None,
        tag_ids: Vec::new(),
        snooze: None,
        mentions: Vec::new(),
        assignment: ChatAssignment::default(),
        answer_due: None,
        messages_changed_at: None,
        planned: 0,
        retention_days: None,
        previous_chats: Vec::new(),
    }
}
