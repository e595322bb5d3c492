//! The Directory table and its channels. It changes slowly, so channels are cached. Agents and logins are in `agents`.

pub mod agents;
pub mod bots;
pub mod departments;
pub mod items;
pub mod settings;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::domain::bot::{Bot, Provider};
use crate::domain::channel::{AddressSecret, Channel, ChannelSettings, MAX_OLD_ADDRESSES};
use crate::domain::department::Roster;
use crate::domain::settings::Settings;
use crate::domain::timestamp::Timestamp;
use crate::error::{Context, Error};
use crate::runtime::dependencies::{Dependency, Platform};
use crate::runtime::secret;
use crate::store::cache::Cache;
use crate::store::directory::items::{ChannelItem, SecretItem};
use crate::store::table::{EXISTS, ItemUpdate, Key, Query, Refused, Table, Values, differing, s};
use crate::store::{from_item, to_attribute, to_item};

/// Items that one query reads; the lists are read to their end.
pub(in crate::store) const MAX_ITEMS_PER_QUERY: i32 = 1_000;

/// Channels that one request to the table reads.
const MAX_CHANNELS_PER_READ: usize = 100;

/// The Directory table.
#[derive(Clone)]
pub struct Directory {
    pub(in crate::store) table: Table,
    channels: Arc<Cache<Channel>>,
    pub(in crate::store) providers: Arc<Cache<Provider>>,
    pub(in crate::store) bots: Arc<Cache<Bot>>,
    pub(in crate::store) settings: Arc<Cache<Settings>>,
    pub(in crate::store) rosters: Arc<Cache<Roster>>,
}

impl Dependency for Directory {
    fn open(platform: &mut Platform) -> Self {
        Self::new(Table::open(platform, "DIRECTORY_TABLE"))
    }
}

pub(in crate::store) fn channel_key(channel_id: &str) -> Key {
    Key::new(format!("CHANNEL#{channel_id}"), "CHANNEL")
}

impl Directory {
    /// The directory in that table.
    pub fn new(table: Table) -> Self {
        Self {
            table,
            channels: Arc::default(),
            providers: Arc::default(),
            bots: Arc::default(),
            settings: Arc::default(),
            rosters: Arc::default(),
        }
    }

    /// A channel, possibly as it was up to 10 s ago. One read, none when cached.
    pub async fn cached_channel(&self, channel_id: &str) -> Result<Option<Arc<Channel>>, Error> {
        match self.channels.get(channel_id) {
            Some(known) => Ok(known),
            None => Ok(self.channels.put(channel_id, self.channel(channel_id).await?)),
        }
    }

    /// The channels of these ids that are there, each possibly as it was up to 10 s ago. A read for each that is not cached,
    /// in one request.
    pub async fn cached_channels(&self, ids: &BTreeSet<&str>) -> Result<HashMap<String, Arc<Channel>>, Error> {
        let (mut found, mut missing) = (HashMap::new(), Vec::new());
        for id in ids {
            match self.channels.get(id) {
                Some(Some(channel)) => drop(found.insert((*id).to_owned(), channel)),
                Some(None) => {}
                None => missing.push(*id),
            }
        }
        for ids in missing.chunks(MAX_CHANNELS_PER_READ) {
            let read = self.read_channels(ids).await?;
            let mut read: HashMap<String, Channel> =
                read.into_iter().map(|channel| (channel.channel_id.clone(), channel)).collect();
            for id in ids {
                if let Some(channel) = self.channels.put(id, read.remove(*id)) {
                    found.insert((*id).to_owned(), channel);
                }
            }
        }
        Ok(found)
    }

    async fn read_channels(&self, ids: &[&str]) -> Result<Vec<Channel>, Error> {
        if let [id] = ids {
            return Ok(self.channel(id).await?.into_iter().collect());
        }
        let items = self.table.batch_get(ids.iter().map(|id| channel_key(id)).collect()).await?;
        items.into_iter().map(|item| from_item::<ChannelItem>(item)?.try_into()).collect()
    }

    /// A channel as it is now. One read.
    pub async fn channel(&self, channel_id: &str) -> Result<Option<Channel>, Error> {
        let item = self.table.get(channel_key(channel_id)).await?;
        item.map(|item| from_item::<ChannelItem>(item)?.try_into()).transpose()
    }

    /// A channel of an account as it is now; another account's does not exist for it. One read.
    pub async fn channel_of(&self, account_id: &str, channel_id: &str) -> Result<Channel, Error> {
        let channel = self.channel(channel_id).await?;
        channel.filter(|channel| channel.account_id == account_id).ok_or(Error::NotFound)
    }

    /// The account's channels, in no order of meaning. They come from an index that may lag by moments.
    pub async fn channels(&self, account_id: &str) -> Result<Vec<Channel>, Error> {
        let query = Query {
            index: Some("by_account"),
            condition: "#account_id = :account AND begins_with(#pk, :channels)",
            values: vec![(":account", s(account_id)), (":channels", s("CHANNEL#"))],
            limit: MAX_ITEMS_PER_QUERY,
            descending: false,
        };
        let items = self.table.query_all(query, usize::MAX).await?;
        items.into_iter().map(|item| from_item::<ChannelItem>(item)?.try_into()).collect()
    }

    /// Makes a channel and returns it with the random string of its address, which is stored as a hash only.
    pub async fn create_channel(
        &self,
        account_id: &str,
        settings: ChannelSettings,
        now: Timestamp,
    ) -> Result<(Channel, String), Error> {
        let address_secret = secret::token()?;
        let channel = Channel {
            channel_id: secret::identifier()?,
            account_id: account_id.to_owned(),
            settings,
            bot_id: None,
            secrets: vec![AddressSecret { hash: secret::hash(&address_secret), valid_until: None }],
            signing_secret: secret::signing_secret()?,
            created_at: now,
        };
        self.table.put(to_item(&ChannelItem::from(&channel))?, true).await.map_err(taken("the channel id is taken"))?;
        Ok((channel, address_secret))
    }

    /// Stores what was changed of a channel's settings, and nothing else of it. One write.
    pub async fn save_channel_settings(&self, before: &Channel, after: &ChannelSettings) -> Result<(), Error> {
        let changed = differing(setting_values(&before.settings)?, setting_values(after)?);
        if changed.is_empty() {
            return Ok(());
        }
        let change = ItemUpdate::setting(channel_key(&before.channel_id), changed, EXISTS);
        Ok(self.table.update(change).await.map(|_| ())?)
    }

    /// Stores the addresses of a channel, if they are still those of `before`. The SDK repeats a request whose answer is
    /// late, so finding the intended addresses there is a success. One write.
    pub async fn save_channel_secrets(&self, before: &Channel, after: &Channel) -> Result<(), Error> {
        let stored =
            |channel: &Channel| to_attribute(&channel.secrets.iter().map(SecretItem::from).collect::<Vec<_>>());
        let change = ItemUpdate {
            key: channel_key(&after.channel_id),
            update: "SET #secrets = :after",
            condition: "#secrets = :before",
            values: vec![(":after", stored(after)?), (":before", stored(before)?)],
        };
        let refused = match self.table.update(change).await {
            Ok(_) => return Ok(()),
            Err(refused) => refused,
        };
        if let Refused::Condition { item: Some(found), .. } = &refused
            && found.get("secrets") == Some(&stored(after)?)
        {
            return Ok(());
        }
        Err(taken("the address is being rotated by somebody else")(refused))
    }

    /// Deletes a channel, which its bot leaves first; its chats stay.
    pub async fn delete_channel(&self, channel: &Channel) -> Result<(), Error> {
        if let Some(bot) = self.bot_in_front_of(channel).await? {
            let mut without = bot.clone();
            without.channel_ids.retain(|channel_id| *channel_id != channel.channel_id);
            self.save_bot(&bot, &without).await?;
        }
        self.table.delete(channel_key(&channel.channel_id)).await.map(|_| ())
    }

    async fn bot_in_front_of(&self, channel: &Channel) -> Result<Option<Bot>, Error> {
        match &channel.bot_id {
            Some(bot_id) => self.bot(bot_id).await,
            None => Ok(None),
        }
    }
}

fn setting_values(settings: &ChannelSettings) -> Result<Values, Error> {
    Ok(vec![
        (":name", s(&*settings.name)),
        (":integrator_url", s(&*settings.integrator_url)),
        (":append_channel_id", to_attribute(&settings.append_channel_id)?),
        (":enabled", to_attribute(&settings.enabled)?),
        (":chunked", to_attribute(&settings.chunked)?),
        (":agent_ids", to_attribute(&settings.agent_ids)?),
        (":department_ids", to_attribute(&settings.department_ids)?),
        (":validation", s(settings.validation.name())),
        (":hidden_error_codes", to_attribute(&settings.hidden_error_codes)?),
        (":shows_markdown", to_attribute(&settings.shows.markdown)?),
        (":shows_buttons", to_attribute(&settings.shows.buttons)?),
    ])
}

pub(in crate::store) fn taken(message: &'static str) -> impl Fn(Refused) -> Error {
    move |refused| match refused {
        Refused::Condition { .. } => Error::Conflict(message),
        Refused::Contended => Error::Unavailable(Context::new("contended item")),
        Refused::Error(error) => error,
    }
}

/// Whether a secret opens a channel now: one of its addresses, in constant time. The same work is done however many
/// there are, and for a channel that does not exist.
pub fn opens(channel: Option<&Channel>, secret: &str, now: Timestamp) -> bool {
    let hash = secret::hash(secret);
    let nothing = [0_u8; 32];
    let known = channel.map_or(&[] as &[_], |channel| channel.secrets.as_slice());
    let live = known.iter().filter(|known| known.valid_until.is_none_or(|until| now < until));
    let padded = live.map(|secret| &secret.hash).chain(std::iter::repeat(&nothing)).take(MAX_OLD_ADDRESSES);
    padded.fold(false, |found, known| found | secret::same(known, &hash))
}
