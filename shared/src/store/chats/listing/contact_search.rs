//! Finds visitors by their e-mail address or phone number. Each of these two values has an index, which contains only
//! the visitors who have such a value.

use std::cmp::Reverse;

use futures_util::future::try_join_all;

use crate::domain::calls::phone_number;
use crate::domain::chats::chat_search::SearchQuery;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::{Chats, item_key, visitor_from_item, visitor_key};
use crate::store::table::{Key, Query, s};

/// The maximum number of visitors that are read from one index. The visitors from both indexes fit into one batch of
/// 100 reads.
const MAX_VISITORS_PER_INDEX: i32 = 25;

/// The maximum number of visitors that one query for a caller's number returns. Each format of the number has its own
/// query.
const MAX_CALLERS: i32 = 50;

/// The name of an index, its key condition, and the prefix to search for.
type ContactIndex<'a> = (&'static str, &'static str, &'a str);

impl Chats {
    /// Reads the visitors whose e-mail address or phone number begins with the search text: at most 25 by e-mail
    /// address and at most 25 by phone number, in the order of these values. Expired visitors are left out.
    pub async fn visitors_by_contact(
        &self,
        account_id: &str,
        query: &SearchQuery,
        now: Timestamp,
    ) -> Result<Vec<Visitor>, Error> {
        let by_email = query
            .email
            .as_deref()
            .map(|email| ("by_email", "#account_id = :account AND begins_with(#email_key, :prefix)", email));
        let by_phone = query
            .phone
            .as_deref()
            .map(|phone| ("by_phone", "#account_id = :account AND begins_with(#phone_key, :prefix)", phone));
        let indexes = by_email.into_iter().chain(by_phone);
        let found = try_join_all(indexes.map(|index| self.visitor_keys(account_id, index))).await?;
        let mut keys: Vec<Key> = Vec::new();
        for key in found.into_iter().flatten() {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let mut items = self.table.batch_get(keys.clone()).await?;
        items.sort_by_key(|item| keys.iter().position(|key| item_key(item).as_ref() == Some(key)));
        let mut visitors = items.into_iter().map(visitor_from_item).collect::<Result<Vec<_>, _>>()?;
        visitors.retain(|visitor| !visitor.is_expired(now));
        Ok(visitors)
    }

    /// Reads the visitors whom the integrators of these channels (at most 100) know by an id. Expired visitors are left
    /// out.
    pub async fn visitors_by_external_id(
        &self,
        channel_ids: &[&str],
        external_id: &str,
        now: Timestamp,
    ) -> Result<Vec<Visitor>, Error> {
        let keys: Vec<Key> = channel_ids.iter().map(|channel_id| visitor_key(channel_id, external_id)).collect();
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let items = self.table.batch_get(keys).await?;
        let mut visitors = items.into_iter().map(visitor_from_item).collect::<Result<Vec<_>, _>>()?;
        visitors.retain(|visitor| !visitor.is_expired(now));
        Ok(visitors)
    }

    async fn visitor_keys(
        &self,
        account_id: &str,
        (index, condition, prefix): ContactIndex<'_>,
    ) -> Result<Vec<Key>, Error> {
        let query = Query {
            index: Some(index),
            condition,
            values: vec![(":account", s(account_id)), (":prefix", s(prefix))],
            limit: MAX_VISITORS_PER_INDEX,
            descending: false,
        };
        Ok(self.table.query(query).await?.iter().filter_map(item_key).collect())
    }

    /// Finds the visitors with this phone number in E.164 format, the most likely caller first: visitors with an open
    /// chat, then those with the most recent chat. A stored number without a country code belongs to the country of
    /// `own_number`, the account's number.
    pub async fn visitors_by_phone(
        &self,
        account_id: &str,
        e164: &str,
        own_number: &str,
        now: Timestamp,
    ) -> Result<Vec<Visitor>, Error> {
        let queries = phone_number::search_keys(e164).into_iter().map(|phone_key| Query {
            index: Some("by_phone"),
            condition: "#account_id = :account AND #phone_key = :phone_key",
            values: vec![(":account", s(account_id)), (":phone_key", s(phone_key))],
            limit: MAX_CALLERS,
            descending: false,
        });
        let found = try_join_all(queries.map(|query| self.table.query(query))).await?;
        let keys = found.iter().flatten().filter_map(item_key).collect();
        let items = self.table.batch_get(keys).await?;
        let visitors = items.into_iter().map(visitor_from_item).collect::<Result<Vec<_>, _>>()?;
        // Keep only the visitors with exactly this number, because the same national number can exist in several
        // countries.
        let has_number = |visitor: &Visitor| {
            let phone = visitor.profile.phone.as_deref();
            let number = phone.and_then(|phone| phone_number::to_e164_with_optional_plus(phone, Some(own_number)));
            number.as_deref() == Some(e164)
        };
        let mut callers: Vec<_> =
            visitors.into_iter().filter(|visitor| !visitor.is_expired(now) && has_number(visitor)).collect();
        callers.sort_by_key(|visitor| Reverse((visitor.open_chat.is_some(), visitor.last_chat, visitor.number)));
        Ok(callers)
    }
}
