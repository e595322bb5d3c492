//! Planned messages: items of a chat that the `due` index lists by the time at which they are sent. The header counts
//! those that no process has begun to send.

use serde::{Deserialize, Serialize};

use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::idempotency_key::IdempotencyKey;
use crate::domain::chats::planned_message::{CLAIM_DURATION, MAX_PLANNED_PER_CHAT, PlannedMessage, UNSENT_TTL};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::delivery::due_index::{OverdueCursor, OverdueItem, PLANNED_MESSAGES_PARTITION};
use crate::store::chats::items::AgentSnapshotItem;
use crate::store::chats::{Chats, chat_from_item, chat_pk, header_key};
use crate::store::table::{ITEM_EXISTS, Item, ItemUpdate, Key, Query, Write, WriteError, WriteResult, n, s};
use crate::store::{from_item, to_item};

/// The beginning of the sort keys. They sort after the header and the panel.
const PLANNED_PREFIX: &str = "PLANNED#";

/// The positions of the writes in the transaction that stores a planned message.
const HEADER_WRITE: usize = 0;
const PLAN_WRITE: usize = 1;

#[derive(Serialize, Deserialize)]
struct PlannedMessageItem {
    pk: String,
    sk: String,
    account_id: String,
    chat_id: u64,
    planned_id: String,
    agent: AgentSnapshotItem,
    planned_text: String,
    send_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    claimed_until: Option<u64>,
    due: String,
    due_at: u64,
    /// In seconds.
    #[serde(default)]
    expires_at: u64,
}

impl From<&PlannedMessage> for PlannedMessageItem {
    fn from(planned: &PlannedMessage) -> Self {
        let PlannedMessage { account_id, chat_id, planned_id, agent, text, send_at, claimed_until } = planned.clone();
        let Key { pk, sk } = planned_key(&account_id, chat_id, &planned_id);
        Self {
            pk,
            sk,
            account_id,
            chat_id,
            planned_id,
            agent: AgentSnapshotItem::from(&agent),
            planned_text: text,
            send_at: send_at.0,
            claimed_until: claimed_until.map(|until| until.0),
            due: PLANNED_MESSAGES_PARTITION.to_owned(),
            due_at: send_at.0,
            expires_at: expiry(send_at),
        }
    }
}

impl From<PlannedMessageItem> for PlannedMessage {
    fn from(item: PlannedMessageItem) -> Self {
        Self {
            account_id: item.account_id,
            chat_id: item.chat_id,
            planned_id: item.planned_id,
            agent: AgentSnapshot::from(item.agent),
            text: item.planned_text,
            send_at: Timestamp(item.send_at),
            claimed_until: item.claimed_until.map(Timestamp),
        }
    }
}

fn expiry(due_at: Timestamp) -> u64 {
    due_at.plus(UNSENT_TTL).seconds()
}

fn planned_key(account_id: &str, chat_id: u64, planned_id: &str) -> Key {
    Key::new(chat_pk(account_id, chat_id), format!("{PLANNED_PREFIX}{planned_id}"))
}

fn key_of(planned: &PlannedMessage) -> Key {
    planned_key(&planned.account_id, planned.chat_id, &planned.planned_id)
}

fn planned_from_item(item: Item) -> Result<PlannedMessage, Error> {
    from_item::<PlannedMessageItem>(item).map(PlannedMessage::from)
}

/// What became of a new planned message.
pub(crate) enum Planned {
    Stored,
    /// A message with the same id is planned already.
    Existing(PlannedMessage),
    /// The agent does not have the chat, or the chat has too many planned messages. The header shows which.
    Refused(Option<Box<Chat>>),
}

/// Planned messages whose time has come, oldest first.
pub(crate) struct DuePage {
    pub(crate) messages: Vec<PlannedMessage>,
    /// The next page starts after this position. `None` means that this is the last page.
    pub(crate) next: Option<OverdueCursor>,
}

impl Chats {
    /// Stores a planned message and the receipt of the request, if its author has the chat and the chat has fewer than the
    /// maximum.
    pub(crate) async fn store_planned(
        &self,
        planned: &PlannedMessage,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Planned, Error> {
        let header = Write::Update(ItemUpdate {
            key: header_key(&planned.account_id, planned.chat_id),
            update: "SET #planned = if_not_exists(#planned, :none) + :one, #other_change_at = :now",
            condition: "#state = :active AND #agent.#agent_id = :agent_id AND \
                        (attribute_not_exists(#planned) OR #planned < :max)",
            values: vec![
                (":active", s("active")),
                (":agent_id", n(planned.agent.agent_id)),
                (":none", n(0)),
                (":one", n(1)),
                (":max", n(MAX_PLANNED_PER_CHAT)),
                (":now", n(now.0)),
            ],
        });
        let item = Write::Create(to_item(&PlannedMessageItem::from(planned))?);
        match self.table.transact(vec![header, item, key.planned_receipt_write(planned, now)?]).await {
            Ok(()) => Ok(Planned::Stored),
            Err(WriteError::ConditionFailed { index: HEADER_WRITE, item }) => {
                Ok(Planned::Refused(item.map(chat_from_item).transpose()?.map(Box::new)))
            }
            Err(WriteError::ConditionFailed { index: PLAN_WRITE, item: Some(item) }) => {
                planned_from_item(item).map(Planned::Existing)
            }
            Err(WriteError::ConditionFailed { .. } | WriteError::Contended) => {
                Err(Error::unavailable("planned message lost a race"))
            }
            Err(WriteError::Error(error)) => Err(error),
        }
    }

    /// Reads a planned message. Returns `None` if it was sent or cancelled.
    pub async fn planned_message(
        &self,
        account_id: &str,
        chat_id: u64,
        planned_id: &str,
    ) -> Result<Option<PlannedMessage>, Error> {
        self.table.get(planned_key(account_id, chat_id, planned_id)).await?.map(planned_from_item).transpose()
    }

    /// Reads the planned messages of a chat, in the order in which they will be sent.
    pub async fn planned_messages(&self, chat: &Chat) -> Result<Vec<PlannedMessage>, Error> {
        // Usually a chat has none, so that nothing is read.
        if chat.planned == 0 {
            return Ok(Vec::new());
        }
        let query = Query {
            index: None,
            condition: "#pk = :chat AND begins_with(#sk, :planned)",
            values: vec![(":chat", s(chat_pk(&chat.account_id, chat.chat_id))), (":planned", s(PLANNED_PREFIX))],
            limit: i32::try_from(MAX_PLANNED_PER_CHAT * 2).map_err(Error::internal)?,
            descending: false,
        };
        let items = self.table.query(query).await?;
        let mut planned = items.into_iter().map(planned_from_item).collect::<Result<Vec<_>, _>>()?;
        planned.retain(|planned| planned.claimed_until.is_none());
        planned.sort_by_key(|planned| planned.send_at);
        Ok(planned)
    }

    /// Reads at most `limit` planned messages whose time has come. Starts after the position `after`, if there is one.
    pub(crate) async fn due_planned_messages(
        &self,
        before: Timestamp,
        after: Option<OverdueCursor>,
        limit: i32,
    ) -> Result<DuePage, Error> {
        let page = self.due_items(PLANNED_MESSAGES_PARTITION.to_owned(), before, after, limit).await?;
        let keys = page.items.into_iter().map(|OverdueItem { key, .. }| key).collect();
        let items = self.table.batch_get(keys).await?;
        let mut messages = items.into_iter().map(planned_from_item).collect::<Result<Vec<_>, _>>()?;
        messages.sort_by_key(|planned| planned.send_at);
        Ok(DuePage { messages, next: page.next })
    }

    /// Keeps other processes from sending or cancelling the message while this one sends it. Returns false if another
    /// process is sending it, or if it was sent or cancelled.
    pub async fn claim_planned_message(&self, planned: &PlannedMessage, now: Timestamp) -> Result<bool, Error> {
        let until = n(now.plus(CLAIM_DURATION).0);
        let claim = |condition, values| ItemUpdate {
            key: key_of(planned),
            update: "SET #claimed_until = :until, #due_at = :until",
            condition,
            values,
        };
        // A process that died has already reduced the count.
        let written = if planned.claimed_until.is_some() {
            let expired = claim("#claimed_until <= :now", vec![(":until", until), (":now", n(now.0))]);
            self.table.update(expired).await.map(|_| ())
        } else {
            let first =
                claim("attribute_exists(#pk) AND attribute_not_exists(#claimed_until)", vec![(":until", until)]);
            self.table.transact(vec![uncount_write(planned, now), Write::Update(first)]).await
        };
        is_made(written)
    }

    /// Deletes a planned message. Returns false if a process is sending it, or if it was sent or cancelled.
    pub(crate) async fn cancel_planned(&self, planned: &PlannedMessage, now: Timestamp) -> Result<bool, Error> {
        let condition = "attribute_exists(#pk) AND attribute_not_exists(#claimed_until)";
        let delete = Write::DeleteIf(key_of(planned), condition, Vec::new());
        is_made(self.table.transact(vec![uncount_write(planned, now), delete]).await)
    }

    /// Makes a planned message due at another time. Does nothing if it was sent or cancelled.
    pub(crate) async fn postpone_planned(&self, planned: &PlannedMessage, until: Timestamp) -> Result<(), Error> {
        let values = vec![(":until", n(until.0)), (":expires_at", n(expiry(until)))];
        let update = "SET #due_at = :until, #expires_at = :expires_at";
        self.table.update_if(ItemUpdate { key: key_of(planned), update, condition: ITEM_EXISTS, values }).await
    }

    /// Deletes a planned message that will not be sent.
    pub(crate) async fn delete_planned(&self, planned: &PlannedMessage) -> Result<(), Error> {
        self.table.delete(key_of(planned)).await.map(|_| ())
    }
}

/// Returns the write that deletes a message when it is sent. It fails if another process has sent the message.
pub(crate) fn sent_write(planned: &PlannedMessage) -> Write {
    Write::DeleteIf(key_of(planned), ITEM_EXISTS, Vec::new())
}

fn uncount_write(planned: &PlannedMessage, now: Timestamp) -> Write {
    Write::Update(ItemUpdate {
        key: header_key(&planned.account_id, planned.chat_id),
        update: "SET #planned = #planned - :one, #other_change_at = :now",
        condition: "#planned >= :one",
        values: vec![(":one", n(1)), (":now", n(now.0))],
    })
}

fn is_made(written: Result<(), WriteError>) -> Result<bool, Error> {
    Ok(written.condition()?.is_ok())
}
