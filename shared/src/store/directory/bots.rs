//! The bots of the Directory table: providers, connections, and the way from a token to its connection.

use std::sync::Arc;

use crate::domain::bot::{Bot, Provider};
use crate::error::Error;
use crate::store::directory::items::{BotItem, BotTokenItem, ProviderItem, stored_limit};
use crate::store::directory::{Directory, MAX_ITEMS_PER_QUERY, channel_key, taken};
use crate::store::table::{Item, ItemUpdate, Key, Query, Values, Write, differing, n, s};
use crate::store::{from_item, to_attribute, to_item};

pub(in crate::store) fn provider_key(provider_id: &str) -> Key {
    Key::new(format!("PROVIDER#{provider_id}"), "PROVIDER")
}

pub(in crate::store) fn bot_key(bot_id: &str) -> Key {
    Key::new(format!("BOT#{bot_id}"), "BOT")
}

fn token_key(provider_id: &str, token: &str) -> Key {
    Key::new(format!("BOT_TOKEN#{provider_id}#{}", crate::runtime::secret::hex_hash(token)), "BOT_TOKEN")
}

impl Directory {
    /// A provider, possibly as it was up to 10 s ago. One read, none when cached.
    pub async fn cached_provider(&self, provider_id: &str) -> Result<Option<Arc<Provider>>, Error> {
        match self.providers.get(provider_id) {
            Some(known) => Ok(known),
            None => Ok(self.providers.put(provider_id, self.provider(provider_id).await?)),
        }
    }

    /// A provider as it is now. One read.
    pub async fn provider(&self, provider_id: &str) -> Result<Option<Provider>, Error> {
        let item = self.table.get(provider_key(provider_id)).await?;
        item.map(|item| Ok(from_item::<ProviderItem>(item)?.into())).transpose()
    }

    /// Stores a provider, new or changed.
    pub async fn save_provider(&self, provider: &Provider) -> Result<(), Error> {
        Ok(self.table.put(to_item(&ProviderItem::from(provider))?, false).await?)
    }

    /// A bot as it is now. One read.
    pub async fn bot(&self, bot_id: &str) -> Result<Option<Bot>, Error> {
        let item = self.table.get(bot_key(bot_id)).await?;
        item.map(|item| Ok(from_item::<BotItem>(item)?.into())).transpose()
    }

    /// A bot, possibly as it was up to 10 s ago. One read, none when cached.
    pub async fn cached_bot(&self, bot_id: &str) -> Result<Option<Arc<Bot>>, Error> {
        match self.bots.get(bot_id) {
            Some(known) => Ok(known),
            None => Ok(self.bots.put(bot_id, self.bot(bot_id).await?)),
        }
    }

    /// The bot of a provider's token, possibly as it was up to 10 s ago. Two reads, none when cached.
    pub async fn bot_of_token(&self, provider_id: &str, token: &str) -> Result<Option<Arc<Bot>>, Error> {
        let key = token_key(provider_id, token);
        if let Some(known) = self.bots.get(&key.pk) {
            return Ok(known);
        }
        let bot = match self.table.get(key.clone()).await? {
            Some(item) => self.bot(&from_item::<BotTokenItem>(item)?.bot_id).await?,
            None => None,
        };
        Ok(self.bots.put(&key.pk, bot))
    }

    /// A bot of an account as it is now; another account's does not exist for it. One read.
    pub async fn bot_of(&self, account_id: &str, bot_id: &str) -> Result<Bot, Error> {
        let bot = self.bot(bot_id).await?;
        bot.filter(|bot| bot.account_id == account_id).ok_or(Error::NotFound)
    }

    /// The account's bots. They come from an index that may lag by moments.
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

    /// Connects a bot and puts it in front of its channels, all or nothing. The channels must be the account's and
    /// have no other bot.
    pub async fn create_bot(&self, bot: &Bot) -> Result<(), Error> {
        let writes = [Write::Create(to_item(&BotItem::from(bot))?), Write::Create(token_item(bot)?)];
        let channels = bot.channel_ids.iter().map(|channel_id| attach(bot, channel_id));
        self.commit_bot(writes.into_iter().chain(channels).collect()).await
    }

    /// Stores a changed bot whose token is the same: leaves the channels that are not its any more and takes the new
    /// ones, all or nothing.
    pub async fn save_bot(&self, before: &Bot, after: &Bot) -> Result<(), Error> {
        let left = before
            .channel_ids
            .iter()
            .filter(|id| !after.channel_ids.contains(id))
            .map(|id| Write::ItemUpdate(detach(before, id)));
        let taken = after.channel_ids.iter().filter(|id| !before.channel_ids.contains(id)).map(|id| attach(after, id));
        let Some(bot) = changed(before, after)? else { return Ok(()) };
        self.commit_bot(left.chain(taken).chain([Write::Composed(bot)]).collect()).await
    }

    /// Disconnects a bot: its token first, so that nobody speaks for it, then its channels, then the bot itself.
    pub async fn delete_bot(&self, bot: &Bot) -> Result<(), Error> {
        self.table.delete(token_key(&bot.provider_id, &bot.token)).await?;
        for channel_id in &bot.channel_ids {
            // A channel that was deleted, or has another bot by now, has nothing to leave.
            self.table.update_if(detach(bot, channel_id)).await?;
        }
        self.table.delete(bot_key(&bot.bot_id)).await.map(|_| ())
    }

    async fn commit_bot(&self, writes: Vec<Write>) -> Result<(), Error> {
        let taken = taken("the token is taken, or a channel is not there or has another bot");
        self.table.transact(writes).await.map_err(taken)
    }
}

fn token_item(bot: &Bot) -> Result<Item, Error> {
    let key = token_key(&bot.provider_id, &bot.token);
    to_item(&BotTokenItem { pk: key.pk, sk: key.sk, bot_id: bot.bot_id.clone() })
}

/// What an admin changed of a bot, if its channels are still those of `before`. None: nothing.
fn changed(before: &Bot, after: &Bot) -> Result<Option<ItemUpdate<String>>, Error> {
    let changed = differing(values(before)?, values(after)?);
    if changed.is_empty() {
        return Ok(None);
    }
    let mut change = ItemUpdate::setting(bot_key(&after.bot_id), changed, "#channel_ids = :before");
    change.values.push((":before", to_attribute(&before.channel_ids)?));
    Ok(Some(change))
}

fn values(bot: &Bot) -> Result<Values, Error> {
    Ok(vec![
        (":name", s(&*bot.name)),
        (":answer_within", n(stored_limit(bot.answer_within))),
        (":channel_ids", to_attribute(&bot.channel_ids)?),
    ])
}

fn attach(bot: &Bot, channel_id: &str) -> Write {
    Write::ItemUpdate(ItemUpdate {
        key: channel_key(channel_id),
        update: "SET #bot_id = :bot",
        condition: "#account_id = :account AND attribute_not_exists(#bot_id)",
        values: vec![(":bot", s(&*bot.bot_id)), (":account", s(&*bot.account_id))],
    })
}

fn detach(bot: &Bot, channel_id: &str) -> ItemUpdate {
    ItemUpdate {
        key: channel_key(channel_id),
        update: "REMOVE #bot_id",
        condition: "#bot_id = :bot",
        values: vec![(":bot", s(&*bot.bot_id))],
    }
}
