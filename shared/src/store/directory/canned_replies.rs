//! Canned replies in the Directory table. Each reply has a second item, whose key contains the shortcut, so that a
//! shortcut is unique in the account. The account's item counts the replies. The items are written in one transaction.

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Serialize};

use crate::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use crate::domain::accounts::canned_reply::{CannedReply, LastAction, MAX_CANNED_REPLIES, ReplyActions};
use crate::domain::chats::transfer_request::TransferRequest;
use crate::error::{Error, ErrorContext};
use crate::store::directory::audit_log::attribute_names;
use crate::store::directory::keys::{
    CANNED_REPLY_PREFIX, account_key, account_partition, canned_reply_key, canned_reply_shortcut_key,
};
use crate::store::directory::{Directory, MAX_ITEMS_PER_QUERY};
use crate::store::table::{ExpressionValues, ITEM_EXISTS, ItemUpdate, Query, Write, WriteError, changed_values, n, s};
use crate::store::write_races::WriteRaces;
use crate::store::{from_item, to_item};

const SHORTCUT_TAKEN: Error = Error::Conflict("another canned reply has this shortcut");
const TOO_MANY_REPLIES: Error = Error::Conflict("an account has at most 250 canned replies");

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct CannedReplyItem {
    pk: String,
    sk: String,
    reply_id: String,
    shortcut: String,
    text: String,
    /// Absent in replies that an earlier version of the service stored.
    #[serde(default)]
    actions: ActionsItem,
}

#[derive(Default, Serialize, Deserialize)]
struct ActionsItem {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    add_tags: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<LastActionItem>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LastActionItem {
    Close,
    TransferToAgent(u64),
    TransferToDepartment(u64),
    TransferToBot(String),
}

#[derive(Serialize)]
struct ShortcutItem {
    pk: String,
    sk: String,
    reply_id: String,
}

impl Directory {
    /// Returns the account's canned replies, sorted by shortcut.
    pub async fn canned_replies(&self, account_id: &str) -> Result<Vec<CannedReply>, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :account AND begins_with(#sk, :replies)",
            values: vec![(":account", s(account_partition(account_id))), (":replies", s(CANNED_REPLY_PREFIX))],
            limit: MAX_ITEMS_PER_QUERY,
            descending: false,
        };
        let items = self.table.query_all(query, usize::MAX).await?.into_iter();
        let mut replies: Vec<CannedReply> =
            items.map(|item| Ok(from_item::<CannedReplyItem>(item)?.into())).collect::<Result<_, Error>>()?;
        replies.sort_by_cached_key(CannedReply::unique_shortcut);
        Ok(replies)
    }

    /// Stores a new canned reply. Fails with `Conflict` if another reply has the same shortcut, or if the account has
    /// the maximum number of replies.
    pub async fn create_canned_reply(&self, account_id: &str, reply: &CannedReply) -> Result<(), Error> {
        let count = ItemUpdate {
            key: account_key(account_id),
            update: "ADD #canned_replies :one",
            condition: "attribute_exists(#pk) AND (attribute_not_exists(#canned_replies) OR #canned_replies < :max)",
            values: vec![(":one", n(1)), (":max", n(MAX_CANNED_REPLIES))],
        };
        let writes = vec![
            shortcut_write(account_id, reply)?,
            Write::Update(count),
            Write::Create(to_item(&CannedReplyItem::new(account_id, reply))?),
        ];
        let change = audited_change(AuditAction::Created, reply);
        match self.commit(account_id, writes, vec![change]).await {
            Ok(()) => Ok(()),
            Err(WriteError::ConditionFailed { index: 0, .. }) => Err(SHORTCUT_TAKEN),
            Err(WriteError::ConditionFailed { .. }) => Err(TOO_MANY_REPLIES),
            Err(WriteError::Contended) => Err(Error::Unavailable(ErrorContext::new("contended canned replies"))),
            Err(WriteError::Error(error)) => Err(error),
        }
    }

    /// Applies `edit` to a canned reply, stores the changed fields, and returns the result. If the shortcut changes
    /// concurrently, the reply is read and edited again.
    ///
    /// # Errors
    /// Fails with `NotFound` if the reply does not exist, and with `Conflict` if another reply has the new shortcut.
    pub async fn edit_canned_reply(
        &self,
        account_id: &str,
        reply_id: &str,
        edit: impl Fn(CannedReply) -> CannedReply,
    ) -> Result<CannedReply, Error> {
        let mut races = WriteRaces::new("canned reply");
        loop {
            let before = self.canned_reply(account_id, reply_id).await?;
            let after = edit(before.clone());
            let written = self.replace_canned_reply(account_id, &before, &after).await;
            if let Some(result) = races.final_result(written) {
                return result.map(|()| after);
            }
        }
    }

    /// Deletes a canned reply. Fails with `NotFound` if the reply does not exist.
    pub async fn delete_canned_reply(&self, account_id: &str, reply_id: &str) -> Result<(), Error> {
        let mut races = WriteRaces::new("deletion of a canned reply");
        loop {
            let reply = self.canned_reply(account_id, reply_id).await?;
            let unchanged = vec![(":known_shortcut", s(&*reply.shortcut))];
            let count = ItemUpdate {
                key: account_key(account_id),
                update: "ADD #canned_replies :minus_one",
                condition: ITEM_EXISTS,
                values: vec![(":minus_one", n(-1))],
            };
            let writes = vec![
                Write::DeleteIf(canned_reply_key(account_id, reply_id), UNCHANGED_SHORTCUT, unchanged),
                shortcut_deletion(account_id, &reply),
                Write::Update(count),
            ];
            let written = self.commit(account_id, writes, vec![audited_change(AuditAction::Deleted, &reply)]).await;
            if let Some(result) = races.final_result(written) {
                return result;
            }
        }
    }

    async fn canned_reply(&self, account_id: &str, reply_id: &str) -> Result<CannedReply, Error> {
        let item = self.table.get(canned_reply_key(account_id, reply_id)).await?.ok_or(Error::NotFound)?;
        Ok(from_item::<CannedReplyItem>(item)?.into())
    }

    /// Stores the differences between `before` and `after`, provided that the reply still has the shortcut of `before`.
    async fn replace_canned_reply(
        &self,
        account_id: &str,
        before: &CannedReply,
        after: &CannedReply,
    ) -> Result<(), WriteError> {
        let changed = changed_values(reply_values(before)?, reply_values(after)?);
        if changed.is_empty() {
            return Ok(());
        }
        let changes = vec![audited_change(AuditAction::Changed, after).with_fields(attribute_names(&changed))];
        let mut update =
            ItemUpdate::set_attributes(canned_reply_key(account_id, &before.id), changed, UNCHANGED_SHORTCUT);
        update.values.push((":known_shortcut", s(&*before.shortcut)));
        if before.unique_shortcut() == after.unique_shortcut() {
            return self.commit(account_id, vec![Write::DynamicUpdate(update)], changes).await;
        }
        let writes = vec![
            shortcut_write(account_id, after)?,
            Write::DynamicUpdate(update),
            shortcut_deletion(account_id, before),
        ];
        match self.commit(account_id, writes, changes).await {
            Err(WriteError::ConditionFailed { index: 0, .. }) => Err(SHORTCUT_TAKEN.into()),
            written => written,
        }
    }
}

const UNCHANGED_SHORTCUT: &str = "#shortcut = :known_shortcut";

fn audited_change(action: AuditAction, reply: &CannedReply) -> AuditedChange {
    AuditedChange::named(action, AuditedKind::CannedReply, &*reply.id, &reply.shortcut)
}

fn reply_values(reply: &CannedReply) -> Result<ExpressionValues, Error> {
    let actions = AttributeValue::M(to_item(&ActionsItem::from(reply.actions.clone()))?);
    Ok(vec![(":shortcut", s(&*reply.shortcut)), (":text", s(&*reply.text)), (":actions", actions)])
}

/// Returns the write that reserves the reply's shortcut. The write fails if another reply has the shortcut.
fn shortcut_write(account_id: &str, reply: &CannedReply) -> Result<Write, Error> {
    let key = canned_reply_shortcut_key(account_id, &reply.unique_shortcut());
    to_item(&ShortcutItem { pk: key.pk, sk: key.sk, reply_id: reply.id.clone() }).map(Write::Create)
}

fn shortcut_deletion(account_id: &str, reply: &CannedReply) -> Write {
    let key = canned_reply_shortcut_key(account_id, &reply.unique_shortcut());
    Write::DeleteIf(key, "#reply_id = :reply_id", vec![(":reply_id", s(&*reply.id))])
}

impl CannedReplyItem {
    pub(in crate::store) fn new(account_id: &str, reply: &CannedReply) -> Self {
        let CannedReply { id: reply_id, shortcut, text, actions } = reply.clone();
        let key = canned_reply_key(account_id, &reply_id);
        Self { pk: key.pk, sk: key.sk, reply_id, shortcut, text, actions: actions.into() }
    }
}

impl From<CannedReplyItem> for CannedReply {
    fn from(item: CannedReplyItem) -> Self {
        let CannedReplyItem { pk: _, sk: _, reply_id: id, shortcut, text, actions } = item;
        Self { id, shortcut, text, actions: actions.into() }
    }
}

impl From<ReplyActions> for ActionsItem {
    fn from(ReplyActions { add_tags, last }: ReplyActions) -> Self {
        let last = last.map(|last| match last {
            LastAction::Close => LastActionItem::Close,
            LastAction::Transfer(TransferRequest::Agent(agent_id)) => LastActionItem::TransferToAgent(agent_id),
            LastAction::Transfer(TransferRequest::Department(id)) => LastActionItem::TransferToDepartment(id),
            LastAction::Transfer(TransferRequest::Bot(bot_id)) => LastActionItem::TransferToBot(bot_id),
        });
        Self { add_tags, last }
    }
}

impl From<ActionsItem> for ReplyActions {
    fn from(ActionsItem { add_tags, last }: ActionsItem) -> Self {
        let last = last.map(|last| match last {
            LastActionItem::Close => LastAction::Close,
            LastActionItem::TransferToAgent(agent_id) => LastAction::Transfer(TransferRequest::Agent(agent_id)),
            LastActionItem::TransferToDepartment(id) => LastAction::Transfer(TransferRequest::Department(id)),
            LastActionItem::TransferToBot(bot_id) => LastAction::Transfer(TransferRequest::Bot(bot_id)),
        });
        Self { add_tags, last }
    }
}
