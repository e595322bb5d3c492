//! The browsers that get notifications (Web Push), in the Connections table: one item for each session that has
//! subscribed, in a partition of the account. The *marker* in the partition of the account's sockets shows that there
//! are such browsers. It comes with the query for the sockets, so accounts without notifications pay nothing.

use aws_sdk_dynamodb::types::AttributeValue;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::try_join;
use serde::{Deserialize, Serialize};

use crate::domain::accounts::web_push::{BrowserKeys, WebPushSubscription};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::connections::Connections;
use crate::store::connections::sessions::Session;
use crate::store::connections::sockets::{account_sockets_partition, partition_query};
use crate::store::connections::subscriptions::WEB_PUSH_MARKER_SORT_KEY;
use crate::store::table::{ITEM_EXISTS, ItemUpdate, Key, WriteResult, n};
use crate::store::{from_item, to_item};

#[derive(Serialize, Deserialize)]
struct SubscriptionItem {
    pk: String,
    sk: String,
    account_id: String,
    agent_id: u64,
    session_id: String,
    endpoint: String,
    /// URL-safe base64, like `auth`.
    public_key: String,
    auth: String,
    shows_text: bool,
    notifies_of_waiting: bool,
    contact: String,
    /// A set of numbers, which is absent if it is empty.
    #[serde(default, skip_serializing)]
    notified_chats: Vec<u64>,
    /// When the session ends at the latest, as Unix time in seconds.
    expires_at: u64,
}

pub(in crate::store) fn web_push_partition(account_id: &str) -> String {
    format!("WEB_PUSH#{account_id}")
}

fn subscription_key(account_id: &str, session_id: &str) -> Key {
    Key::new(web_push_partition(account_id), session_id)
}

impl SubscriptionItem {
    fn new(subscription: &WebPushSubscription) -> Self {
        let key = subscription_key(&subscription.account_id, &subscription.session_id);
        let WebPushSubscription { account_id, session_id, endpoint, contact, keys, .. } = subscription.clone();
        Self {
            pk: key.pk,
            sk: key.sk,
            account_id,
            agent_id: subscription.agent_id,
            session_id,
            endpoint,
            public_key: URL_SAFE_NO_PAD.encode(keys.public_key),
            auth: URL_SAFE_NO_PAD.encode(keys.auth),
            shows_text: subscription.shows_text,
            notifies_of_waiting: subscription.notifies_of_waiting,
            contact,
            notified_chats: Vec::new(),
            expires_at: subscription.expires_at.seconds(),
        }
    }

    fn into_subscription(self) -> Result<WebPushSubscription, Error> {
        let Self { account_id, agent_id, session_id, endpoint, shows_text, notifies_of_waiting, contact, .. } = self;
        let keys = BrowserKeys { public_key: decode(&self.public_key)?, auth: decode(&self.auth)? };
        let (notified_chats, expires_at) =
            (self.notified_chats.into_iter().collect(), Timestamp::from_seconds(self.expires_at));
        Ok(WebPushSubscription {
            account_id,
            agent_id,
            session_id,
            endpoint,
            keys,
            shows_text,
            notifies_of_waiting,
            contact,
            notified_chats,
            expires_at,
        })
    }
}

fn decode<const N: usize>(text: &str) -> Result<[u8; N], Error> {
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(Error::internal)?;
    bytes.try_into().map_err(|_| Error::internal("the size of a browser's key"))
}

impl Connections {
    /// Stores the browser of a session. It replaces the session's former one.
    pub async fn put_web_push_subscription(&self, subscription: &WebPushSubscription) -> Result<(), Error> {
        let marker = ItemUpdate {
            key: Key::new(account_sockets_partition(&subscription.account_id), WEB_PUSH_MARKER_SORT_KEY),
            update: "SET #expires_at = :expires",
            condition: "attribute_not_exists(#expires_at) OR #expires_at < :expires",
            values: vec![(":expires", n(subscription.expires_at.seconds()))],
        };
        let item = to_item(&SubscriptionItem::new(subscription))?;
        let put = async { self.table.put(item, false).await.unconditional() };
        try_join(put, self.table.update_if(marker)).await.map(|_| ())
    }

    /// Returns the browser of a session.
    pub async fn web_push_subscription(&self, session: &Session) -> Result<Option<WebPushSubscription>, Error> {
        let item = self.table.get(subscription_key(&session.account_id, &session.id)).await?;
        item.map(|item| from_item::<SubscriptionItem>(item)?.into_subscription()).transpose()
    }

    /// Removes the browser of a session.
    pub async fn delete_web_push_subscription(&self, account_id: &str, session_id: &str) -> Result<(), Error> {
        self.table.delete(subscription_key(account_id, session_id)).await.map(|_| ())
    }

    /// Returns the browsers of all agents. Some may belong to a session that has ended.
    pub(crate) async fn web_push_subscriptions(
        &self,
        account_id: &str,
        now: Timestamp,
    ) -> Result<Vec<WebPushSubscription>, Error> {
        let items = self.table.query_all_eventually(partition_query(web_push_partition(account_id))).await?;
        let items: Vec<SubscriptionItem> = items.into_iter().map(from_item).collect::<Result<_, _>>()?;
        let current = items.into_iter().filter(|item| item.expires_at > now.seconds());
        current.map(SubscriptionItem::into_subscription).collect()
    }

    /// Records that the browser shows a notification of the chat, or that the notification was withdrawn.
    pub(crate) async fn record_notification(
        &self,
        subscription: &WebPushSubscription,
        chat_id: u64,
        is_shown: bool,
    ) -> Result<(), Error> {
        let update = ItemUpdate {
            key: subscription_key(&subscription.account_id, &subscription.session_id),
            update: if is_shown { "ADD #notified_chats :chat" } else { "DELETE #notified_chats :chat" },
            condition: ITEM_EXISTS,
            values: vec![(":chat", AttributeValue::Ns(vec![chat_id.to_string()]))],
        };
        self.table.update_if(update).await
    }
}
