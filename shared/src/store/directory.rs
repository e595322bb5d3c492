//! The Directory table: accounts, channels, agents, logins. It changes slowly, so channels are cached.

use std::sync::Arc;

use super::cache::Cache;
use super::directory_items::{AccountItem, AgentItem, ChannelItem, LoginItem, SecretItem};
use super::table::{Change, Key, Query, Refused, STILL_THERE, Table, Values, Write, differing, n, s};
use super::{from_item, to_attribute, to_item};
use crate::domain::account::Agent;
use crate::domain::bot::{Bot, Provider};
use crate::domain::channel::{AddressSecret, Channel, ChannelSettings, MOST_ADDRESSES};
use crate::domain::department::Roster;
use crate::domain::settings::Settings;
use crate::domain::timestamp::Timestamp;
use crate::error::{Context, Error};
use crate::resource::{Platform, Resource};
use crate::secret;

/// The most channels or agents an account lists.
pub(super) const LISTED: i32 = 1_000;

/// The Directory table.
#[derive(Clone)]
pub struct Directory {
    pub(super) table: Table,
    channels: Arc<Cache<Channel>>,
    pub(super) providers: Arc<Cache<Provider>>,
    pub(super) bots: Arc<Cache<Bot>>,
    pub(super) settings: Arc<Cache<Settings>>,
    pub(super) rosters: Arc<Cache<Roster>>,
}

/// What a login refers to.
#[derive(PartialEq, Eq)]
pub struct Login {
    /// The agent's account.
    pub account_id: String,
    /// The agent.
    pub agent_id: u64,
    /// See [`crate::password`].
    pub password_hash: String,
}

impl Resource for Directory {
    fn open(platform: &mut Platform) -> Self {
        Self::new(Table::open(platform, "DIRECTORY_TABLE"))
    }
}

pub(super) fn channel_key(channel_id: &str) -> Key {
    Key::new(format!("CHANNEL#{channel_id}"), "CHANNEL")
}

pub(super) fn agent_key(account_id: &str, agent_id: u64) -> Key {
    Key::new(format!("ACCOUNT#{account_id}"), format!("AGENT#{agent_id:010}"))
}

fn account_key(account_id: &str) -> Key {
    Key::new(format!("ACCOUNT#{account_id}"), "ACCOUNT")
}

fn login_key(email: &str) -> Key {
    Key::new(format!("LOGIN#{email}"), "LOGIN")
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
            limit: LISTED,
            descending: false,
        };
        let items = self.table.query(query).await?;
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
        let change = Change::setting(channel_key(&before.channel_id), changed, STILL_THERE);
        Ok(self.table.update(change).await.map(|_| ())?)
    }

    /// Stores the addresses of a channel, if they are still those of `before`. The SDK repeats a request whose answer is
    /// late, so finding the intended addresses there is a success. One write.
    pub async fn save_channel_secrets(&self, before: &Channel, after: &Channel) -> Result<(), Error> {
        let stored =
            |channel: &Channel| to_attribute(&channel.secrets.iter().map(SecretItem::from).collect::<Vec<_>>());
        let change = Change {
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

    /// Opens an account with its first agent, all or nothing.
    pub async fn create_account(&self, name: &str, admin: &Agent, password_hash: &str) -> Result<(), Error> {
        let key = account_key(&admin.account_id);
        let created_at = admin.created_at.0;
        let (name, agents) = (name.to_owned(), admin.agent_id);
        let account = AccountItem { pk: key.pk, sk: key.sk, name, agents, departments: 0, created_at };
        let writes = [Write::Create(to_item(&account)?)].into_iter().chain(agent_writes(admin, password_hash)?);
        self.table.transact(writes.collect()).await.map_err(taken("the e-mail is taken"))
    }

    /// The next agent id of an account. One write.
    pub async fn next_agent_id(&self, account_id: &str) -> Result<u64, Error> {
        Ok(self.count(account_id, "ADD #agents :one").await?.agents)
    }

    /// Adds `:one` to a counter of an account. One write.
    pub(super) async fn count(&self, account_id: &str, update: &'static str) -> Result<AccountItem, Error> {
        let change =
            Change { key: account_key(account_id), update, condition: STILL_THERE, values: vec![(":one", n(1))] };
        from_item(self.table.update(change).await?)
    }

    /// Stores a new agent with their login, all or nothing.
    pub async fn create_agent(&self, agent: &Agent, password_hash: &str) -> Result<(), Error> {
        let writes = agent_writes(agent, password_hash)?;
        self.table.transact(writes.into()).await.map_err(taken("the e-mail is taken"))
    }

    /// An agent of the account, who must exist. One read.
    pub async fn agent_of(&self, account_id: &str, agent_id: u64) -> Result<Agent, Error> {
        self.agent(account_id, agent_id).await?.ok_or(Error::NotFound)
    }

    /// An agent of the account. One read.
    pub async fn agent(&self, account_id: &str, agent_id: u64) -> Result<Option<Agent>, Error> {
        let item = self.table.get(agent_key(account_id, agent_id)).await?;
        item.map(|item| from_item::<AgentItem>(item)?.into_agent(account_id)).transpose()
    }

    /// The account's agents, by id.
    pub async fn agents(&self, account_id: &str) -> Result<Vec<Agent>, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :account AND begins_with(#sk, :agents)",
            values: vec![(":account", s(format!("ACCOUNT#{account_id}"))), (":agents", s("AGENT#"))],
            limit: LISTED,
            descending: false,
        };
        let items = self.table.query(query).await?;
        items.into_iter().map(|item| from_item::<AgentItem>(item)?.into_agent(account_id)).collect()
    }

    /// Stores what was changed of an agent; with another e-mail or password also the login, all or nothing. Who is being
    /// deleted stays so. One write, or a transaction.
    pub async fn save_agent(&self, before: &Agent, after: &Agent, password: Option<&str>) -> Result<(), Error> {
        let changed = differing(agent_values(before)?, agent_values(after)?);
        let key = agent_key(&after.account_id, after.agent_id);
        let agent = (!changed.is_empty()).then(|| Change::setting(key, changed, STILL_THERE));
        let has_moved = before.email != after.email;
        if !has_moved && password.is_none() {
            return match agent {
                Some(agent) => Ok(self.table.update(agent).await.map(|_| ())?),
                None => Ok(()),
            };
        }
        let password_hash = match password {
            Some(password) => crate::password::hash(password)?,
            None => self.login(&before.email).await?.ok_or(Error::NotFound)?.password_hash,
        };
        let mut writes: Vec<_> = agent.map(Write::Composed).into_iter().collect();
        if has_moved {
            writes.push(Write::Create(to_item(&login_item(after, &password_hash))?));
            writes.push(Write::Delete(login_key(&before.email)));
        } else {
            writes.push(Write::Change(Change {
                key: login_key(&after.email),
                update: "SET #password_hash = :hash",
                condition: STILL_THERE,
                values: vec![(":hash", s(password_hash))],
            }));
        }
        match self.table.transact(writes).await {
            Err(Refused::Condition { index: 1, .. }) if has_moved => Err(Error::Conflict("the e-mail is taken")),
            saved => Ok(saved?),
        }
    }

    /// Takes away an agent's login, so that nobody signs in as somebody who is to go.
    pub async fn delete_login(&self, agent: &Agent) -> Result<(), Error> {
        self.table.delete(login_key(&agent.email)).await.map(|_| ())
    }

    /// Deletes an agent, last of all that is theirs: until then a repeated request finds them and goes on.
    pub async fn delete_agent(&self, agent: &Agent) -> Result<(), Error> {
        self.table.delete(agent_key(&agent.account_id, agent.agent_id)).await.map(|_| ())
    }

    /// The login of an e-mail. One read.
    pub async fn login(&self, email: &str) -> Result<Option<Login>, Error> {
        let Some(item) = self.table.get(login_key(email)).await? else {
            return Ok(None);
        };
        let LoginItem { pk: _, sk: _, account_id, agent_id, password_hash } = from_item(item)?;
        Ok(Some(Login { account_id, agent_id, password_hash }))
    }
}

fn agent_writes(agent: &Agent, password_hash: &str) -> Result<[Write; 2], Error> {
    let login = to_item(&login_item(agent, password_hash))?;
    Ok([Write::Create(to_item(&AgentItem::from(agent))?), Write::Create(login)])
}

fn agent_values(agent: &Agent) -> Result<Values, Error> {
    Ok(vec![
        (":name", s(&*agent.name)),
        (":email", s(&*agent.email)),
        (":phone", to_attribute(&agent.phone)?),
        (":photo", to_attribute(&agent.photo)?),
        (":role", s(agent.role.name())),
    ])
}

fn setting_values(settings: &ChannelSettings) -> Result<Values, Error> {
    Ok(vec![
        (":name", s(&*settings.name)),
        (":integrator_url", s(&*settings.integrator_url)),
        (":chunked", to_attribute(&settings.chunked)?),
        (":agent_ids", to_attribute(&settings.agent_ids)?),
        (":department_ids", to_attribute(&settings.department_ids)?),
        (":validation", s(settings.validation.name())),
        (":hidden_error_codes", to_attribute(&settings.hidden_error_codes)?),
        (":shows_markdown", to_attribute(&settings.shows.markdown)?),
        (":shows_buttons", to_attribute(&settings.shows.buttons)?),
    ])
}

fn login_item(agent: &Agent, password_hash: &str) -> LoginItem {
    let key = login_key(&agent.email);
    let account_id = agent.account_id.clone();
    LoginItem { pk: key.pk, sk: key.sk, account_id, agent_id: agent.agent_id, password_hash: password_hash.to_owned() }
}

pub(super) fn taken(message: &'static str) -> impl Fn(Refused) -> Error {
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
    let padded = live.map(|secret| &secret.hash).chain(std::iter::repeat(&nothing)).take(MOST_ADDRESSES);
    padded.fold(false, |found, known| found | secret::same(known, &hash))
}
