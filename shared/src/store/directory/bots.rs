//! Bot providers and bots in the Directory table, and how a bot is looked up by its token.

use std::sync::Arc;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use crate::domain::bots::bot::{Bot, Provider};
use crate::error::Error;
use crate::store::directory::audit_log::attribute_names;
use crate::store::directory::bot_settings_item::BotSettingsAttributes;
use crate::store::directory::items::{BotItem, BotTokenItem, OPERATOR_ACCOUNT_ID, ProviderItem};
use crate::store::directory::keys::{bot_key, bot_token_key, channel_key, provider_key};
use crate::store::directory::{Directory, MAX_ITEMS_PER_QUERY, conflict_or};
use crate::store::table::{
    ExpressionValues, ITEM_EXISTS, Item, ItemUpdate, Query, Write, WriteResult, changed_values, s,
};
use crate::store::{from_item, to_attribute, to_item};

/// The condition under which a provider can be changed and bots can be connected to it: it exists and is not being
/// deleted.
const IS_IN_SERVICE: &str = "attribute_exists(#pk) AND attribute_not_exists(#retiring)";

impl Directory {
    /// Returns the provider; the data may be up to 10 seconds old.
    pub(crate) async fn cached_provider(&self, provider_id: &str) -> Result<Option<Arc<Provider>>, Error> {
        match self.providers.get(provider_id) {
            Some(cached) => Ok(cached),
            None => self.fresh_provider(provider_id).await,
        }
    }

    /// Reads the provider again, because its secret may be new. Returns `None` if the provider does not exist, or if
    /// this process has read it too often in this second.
    pub(crate) async fn reread_provider(&self, provider_id: &str) -> Result<Option<Arc<Provider>>, Error> {
        if self.providers.allows_reread(provider_id) { self.fresh_provider(provider_id).await } else { Ok(None) }
    }

    async fn fresh_provider(&self, provider_id: &str) -> Result<Option<Arc<Provider>>, Error> {
        Ok(self.providers.put(provider_id, self.provider(provider_id).await?))
    }

    pub async fn provider(&self, provider_id: &str) -> Result<Option<Provider>, Error> {
        let item = self.table.get(provider_key(provider_id)).await?;
        item.map(|item| Ok(from_item::<ProviderItem>(item)?.into())).transpose()
    }

    /// Returns the providers in no particular order. They are read from an index that is updated with a short delay and
    /// does not contain the providers that an earlier version of the service stored.
    pub async fn providers(&self) -> Result<Vec<Provider>, Error> {
        let query = Query {
            index: Some("by_account"),
            condition: "#account_id = :operator AND begins_with(#pk, :providers)",
            values: vec![(":operator", s(OPERATOR_ACCOUNT_ID)), (":providers", s("PROVIDER#"))],
            limit: MAX_ITEMS_PER_QUERY,
            descending: false,
        };
        let items = self.table.query_all(query, usize::MAX).await?;
        items.into_iter().map(|item| Ok(from_item::<ProviderItem>(item)?.into())).collect()
    }

    pub async fn create_provider(&self, provider: &Provider) -> Result<(), Error> {
        let taken = conflict_or("the id of the provider is taken");
        self.table.put(to_item(&ProviderItem::from(provider))?, true).await.map_err(taken)
    }

    /// Stores the changes to a provider.
    ///
    /// # Errors
    /// Fails with `NotFound` if the provider has been deleted or is being deleted.
    pub async fn save_provider(&self, before: &Provider, after: &Provider) -> Result<(), Error> {
        let mut changed = changed_values(provider_values(before)?, provider_values(after)?);
        // The index lists a provider by this attribute. An earlier version of the service did not store it.
        changed.push((":account_id", s(OPERATOR_ACCOUNT_ID)));
        let update = ItemUpdate::set_attributes(provider_key(&before.provider_id), changed, IS_IN_SERVICE);
        self.table.update(update).await.on_condition_failed(Error::NotFound).map(|_| ())
    }

    /// Deletes a provider that no bot uses. While it is being deleted, it cannot be changed, and bots cannot be
    /// connected to it. If the process dies, this remains so until the deletion is repeated.
    ///
    /// # Errors
    /// Fails with `NotFound` if the provider does not exist, and with `Conflict` if a bot uses it.
    pub async fn delete_provider(&self, provider_id: &str) -> Result<(), Error> {
        let mark =
            |update| ItemUpdate { key: provider_key(provider_id), update, condition: ITEM_EXISTS, values: vec![] };
        let retire =
            ItemUpdate { values: vec![(":true", AttributeValue::Bool(true))], ..mark("SET #retiring = :true") };
        self.table.update(retire).await.on_condition_failed(Error::NotFound)?;
        if self.has_bots_of_provider(provider_id).await? {
            self.table.update_if(mark("REMOVE #retiring")).await?;
            return Err(Error::Conflict("bots use the provider"));
        }
        let deleted = self.table.delete_if(provider_key(provider_id), "attribute_exists(#retiring)", vec![]).await?;
        // A concurrent deletion may have deleted the provider, or may have found a bot and put it back into service.
        if deleted.is_none() && self.provider(provider_id).await?.is_some() {
            return Err(Error::Conflict("bots use the provider"));
        }
        Ok(())
    }

    /// Reads the whole table, because no index contains the bots of a provider.
    async fn has_bots_of_provider(&self, provider_id: &str) -> Result<bool, Error> {
        let mut after = None;
        loop {
            let page = self.table.scan_page(after).await?;
            let is_bot =
                |item: &Item| item.get("sk") == Some(&s("BOT")) && item.get("provider_id") == Some(&s(provider_id));
            if page.items.iter().any(is_bot) {
                return Ok(true);
            }
            after = page.next;
            if after.is_none() {
                return Ok(false);
            }
        }
    }

    pub async fn bot(&self, bot_id: &str) -> Result<Option<Bot>, Error> {
        let item = self.table.get(bot_key(bot_id)).await?;
        item.map(|item| Ok(from_item::<BotItem>(item)?.into())).transpose()
    }

    /// Returns the bot; the data may be up to 10 seconds old.
    pub async fn cached_bot(&self, bot_id: &str) -> Result<Option<Arc<Bot>>, Error> {
        match self.bots.get(bot_id) {
            Some(cached) => Ok(cached),
            None => self.fresh_bot(bot_id).await,
        }
    }

    /// Reads the bot again and caches it.
    pub(crate) async fn fresh_bot(&self, bot_id: &str) -> Result<Option<Arc<Bot>>, Error> {
        Ok(self.bots.put(bot_id, self.bot(bot_id).await?))
    }

    /// Whether this process has the bot with this token in its cache.
    pub(crate) fn has_cached_bot(&self, provider_id: &str, token: &str) -> bool {
        matches!(self.bots.get(&bot_token_key(provider_id, token).pk), Some(Some(_)))
    }

    /// Returns the bot that one of the provider's tokens belongs to. The data may be up to 10 seconds old, but a token
    /// that was unknown is looked up again, because it may be new.
    pub(crate) async fn bot_by_token(&self, provider_id: &str, token: &str) -> Result<Option<Arc<Bot>>, Error> {
        let key = bot_token_key(provider_id, token);
        match self.bots.get(&key.pk) {
            Some(Some(cached)) => return Ok(Some(cached)),
            Some(None) if !self.bots.allows_reread(&key.pk) => return Ok(None),
            Some(None) | None => {}
        }
        let bot = match self.table.get(key.clone()).await? {
            Some(item) => self.bot(&from_item::<BotTokenItem>(item)?.bot_id).await?,
            None => None,
        };
        Ok(self.bots.put(&key.pk, bot))
    }

    /// Fails with `NotFound` if the bot does not exist or belongs to another account.
    pub async fn bot_of_account(&self, account_id: &str, bot_id: &str) -> Result<Bot, Error> {
        let bot = self.bot(bot_id).await?;
        bot.filter(|bot| bot.account_id == account_id).ok_or(Error::NotFound)
    }

    /// Returns the account's bots. They are read from an index that is updated with a short delay.
    pub async fn account_bots(&self, account_id: &str) -> Result<Vec<Bot>, Error> {
        let query = Query {
            index: Some("by_account"),
            condition: "#account_id = :account AND begins_with(#pk, :bots)",
            values: vec![(":account", s(account_id)), (":bots", s("BOT#"))],
            limit: MAX_ITEMS_PER_QUERY,
            descending: false,
        };
        let items = self.table.query_all(query, usize::MAX).await?;
        items.into_iter().map(|item| Ok(from_item::<BotItem>(item)?.into())).collect()
    }

    /// Creates a bot and its token and assigns the bot to its channels, all in one transaction. The channels must
    /// belong to the account and must not have another bot.
    pub async fn create_bot(&self, bot: &Bot) -> Result<(), Error> {
        let provider = Write::Check(provider_key(&bot.provider_id), IS_IN_SERVICE, Vec::new());
        let writes = [Write::Create(to_item(&BotItem::from(bot))?), Write::Create(token_item(bot)?), provider];
        let channels = bot.channel_ids.iter().map(|channel_id| assign_channel(bot, channel_id));
        let change = audited_change(AuditAction::Created, bot);
        self.commit_bot(bot, writes.into_iter().chain(channels).collect(), change).await
    }

    /// Stores the changes to a bot. The same transaction also unassigns the bot from the channels that were removed and
    /// assigns it to the channels that were added. The token must stay the same.
    pub async fn save_bot(&self, before: &Bot, after: &Bot) -> Result<(), Error> {
        let unassigned = before
            .channel_ids
            .iter()
            .filter(|id| !after.channel_ids.contains(id))
            .map(|id| Write::Update(unassign_channel(before, id)));
        let added = after.channel_ids.iter().filter(|id| !before.channel_ids.contains(id));
        let assigned = added.map(|id| assign_channel(after, id));
        let changed = changed_values(bot_values(before)?, bot_values(after)?);
        if changed.is_empty() {
            return Ok(());
        }
        let change = audited_change(AuditAction::Changed, after).with_fields(attribute_names(&changed));
        let update = Write::DynamicUpdate(bot_update(before, changed)?);
        self.commit_bot(after, unassigned.chain(assigned).chain([update]).collect(), change).await
    }

    /// Deletes a bot. The token is deleted first, so that the provider loses access. Then the bot is unassigned from
    /// its channels, and the bot itself is deleted last.
    pub async fn delete_bot(&self, bot: &Bot) -> Result<(), Error> {
        self.table.delete(bot_token_key(&bot.provider_id, &bot.token)).await?;
        for channel_id in &bot.channel_ids {
            // A channel that has been deleted or now has another bot is left unchanged.
            self.table.update_if(unassign_channel(bot, channel_id)).await?;
        }
        self.delete_audited(&bot.account_id, bot_key(&bot.bot_id), audited_change(AuditAction::Deleted, bot)).await
    }

    async fn commit_bot(&self, bot: &Bot, writes: Vec<Write>, change: AuditedChange) -> Result<(), Error> {
        let conflict = conflict_or(
            "the token is taken, a channel does not exist or has another bot, or the provider is being deleted",
        );
        self.commit(&bot.account_id, writes, vec![change]).await.map_err(conflict)
    }
}

fn token_item(bot: &Bot) -> Result<Item, Error> {
    let key = bot_token_key(&bot.provider_id, &bot.token);
    to_item(&BotTokenItem { pk: key.pk, sk: key.sk, bot_id: bot.bot_id.clone() })
}

/// Returns the update that stores the changed values. It succeeds only if the bot's channels are still those of
/// `before`.
fn bot_update(before: &Bot, changed: ExpressionValues) -> Result<ItemUpdate<String>, Error> {
    let mut item_update = ItemUpdate::set_attributes(bot_key(&before.bot_id), changed, "#channel_ids = :before");
    item_update.values.push((":before", to_attribute(&before.channel_ids)?));
    Ok(item_update)
}

pub(super) fn audited_change(action: AuditAction, bot: &Bot) -> AuditedChange {
    AuditedChange::named(action, AuditedKind::Bot, &*bot.bot_id, &bot.name)
}

fn provider_values(provider: &Provider) -> Result<ExpressionValues, Error> {
    Ok(vec![
        (":name", s(&*provider.name)),
        (":endpoint", s(&*provider.endpoint)),
        (":authorization_hash", to_attribute(&provider.authorization_hash)?),
    ])
}

fn bot_values(bot: &Bot) -> Result<ExpressionValues, Error> {
    let mut values = BotSettingsAttributes::from(&bot.settings).expression_values()?;
    values.extend([(":name", s(&*bot.name)), (":channel_ids", to_attribute(&bot.channel_ids)?)]);
    Ok(values)
}

fn assign_channel(bot: &Bot, channel_id: &str) -> Write {
    Write::Update(ItemUpdate {
        key: channel_key(channel_id),
        update: "SET #bot_id = :bot",
        condition: "#account_id = :account AND attribute_not_exists(#bot_id)",
        values: vec![(":bot", s(&*bot.bot_id)), (":account", s(&*bot.account_id))],
    })
}

fn unassign_channel(bot: &Bot, channel_id: &str) -> ItemUpdate {
    ItemUpdate {
        key: channel_key(channel_id),
        update: "REMOVE #bot_id",
        condition: "#bot_id = :bot",
        values: vec![(":bot", s(&*bot.bot_id))],
    }
}
