//! Channels in the Directory table. The secrets in their endpoint URLs are stored as hashes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use crate::domain::bots::bot::Bot;
use crate::domain::channels::channel::{
    Channel, ChannelKind, ChannelSettings, EndpointSecret, KindSettings, MAX_ENDPOINT_SECRETS,
};
use crate::domain::channels::signing_secret::SigningSecrets;
use crate::domain::deliveries::outage::OutageStatus;
use crate::domain::sha256;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets;
use crate::store::directory::audit_log::attribute_names;
use crate::store::directory::business_hours::BusinessHoursItem;
use crate::store::directory::items::{ChannelItem, EndpointSecretItem};
use crate::store::directory::keys::channel_key;
use crate::store::directory::widget_item::WidgetItem;
use crate::store::directory::{Directory, MAX_ITEMS_PER_QUERY, conflict_or};
use crate::store::table::{
    ExpressionValues, ITEM_EXISTS, ItemUpdate, Query, Write, WriteError, WriteResult, changed_values, n, s,
};
use crate::store::{from_item, to_attribute, to_item};

const MAX_CHANNELS_PER_READ: usize = 100;

impl Directory {
    /// Returns the channel; the data may be up to 10 seconds old.
    pub async fn cached_channel(&self, channel_id: &str) -> Result<Option<Arc<Channel>>, Error> {
        match self.channels.get(channel_id) {
            Some(cached) => Ok(cached),
            None => self.fresh_channel(channel_id).await,
        }
    }

    /// Reads the channel again and caches it.
    pub(crate) async fn fresh_channel(&self, channel_id: &str) -> Result<Option<Arc<Channel>>, Error> {
        Ok(self.channels.put(channel_id, self.channel(channel_id).await?))
    }

    /// Returns the channel that an endpoint URL belongs to. Fails with `NotFound` if the channel does not exist or the
    /// secret is not valid. A cached channel without this secret is read again, because the secret may be new; each
    /// process does this at most five times a second for a channel.
    pub async fn channel_at_endpoint(
        &self,
        channel_id: &str,
        secret: &str,
        now: Timestamp,
    ) -> Result<Arc<Channel>, Error> {
        let cached = self.channels.get(channel_id);
        let was_cached = cached.is_some();
        let mut channel = match cached {
            Some(cached) => cached,
            None => self.fresh_channel(channel_id).await?,
        };
        let is_valid =
            |channel: Option<&Channel>| has_valid_secret(channel.map_or(&[], |channel| &*channel.secrets), secret, now);
        let mut is_open = is_valid(channel.as_deref());
        // A channel that does not exist is treated like one with another secret, so that the time of the response does
        // not tell them apart.
        if !is_open && was_cached && self.channels.allows_reread(channel_id) {
            channel = self.fresh_channel(channel_id).await?;
            is_open = is_valid(channel.as_deref());
        }
        channel.filter(|_| is_open).ok_or(Error::NotFound)
    }

    /// Returns the channels with these ids, in a map by channel id. Channels that do not exist are left out. The data
    /// may be up to 10 seconds old.
    pub(crate) async fn cached_channels(&self, ids: &BTreeSet<&str>) -> Result<HashMap<String, Arc<Channel>>, Error> {
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

    pub async fn channel(&self, channel_id: &str) -> Result<Option<Channel>, Error> {
        let item = self.table.get(channel_key(channel_id)).await?;
        item.map(|item| from_item::<ChannelItem>(item)?.try_into()).transpose()
    }

    /// Fails with `NotFound` if the channel does not exist or belongs to another account.
    pub async fn channel_of_account(&self, account_id: &str, channel_id: &str) -> Result<Channel, Error> {
        let channel = self.channel(channel_id).await?;
        channel.filter(|channel| channel.account_id == account_id).ok_or(Error::NotFound)
    }

    /// Returns the account's channels in no particular order. They are read from an index that is updated with a short
    /// delay.
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

    /// Creates a channel. Returns the channel and, for an API channel, the secret in its endpoint URL; only a hash of
    /// the secret is stored.
    pub async fn create_channel(
        &self,
        account_id: &str,
        settings: ChannelSettings,
        now: Timestamp,
    ) -> Result<(Channel, Option<String>), Error> {
        let (endpoint_secret, signing_secrets) = match settings.kind() {
            ChannelKind::Api => {
                let signing_secret = random_ids_and_secrets::random_signing_secret()?;
                (Some(random_ids_and_secrets::random_token()?), SigningSecrets::new(signing_secret))
            }
            ChannelKind::Widget => (None, SigningSecrets::default()),
        };
        let hash = endpoint_secret.as_ref().map(sha256::digest);
        let channel = Channel {
            channel_id: random_ids_and_secrets::random_identifier()?,
            account_id: account_id.to_owned(),
            settings,
            bot_id: None,
            secrets: hash.into_iter().map(EndpointSecret::new).collect(),
            signing_secrets,
            created_at: now,
            outage_status: OutageStatus::default(),
        };
        let write = Write::Create(to_item(&ChannelItem::from(&channel))?);
        let change = audited_change(AuditAction::Created, &channel);
        let written = self.commit(account_id, vec![write], vec![change]).await;
        written.map_err(conflict_or("the channel id is taken"))?;
        Ok((channel, endpoint_secret))
    }

    /// Stores the changed settings of a channel and preserves its other attributes.
    pub async fn save_channel_settings(&self, before: &Channel, after: &ChannelSettings) -> Result<(), Error> {
        let changed = changed_values(setting_values(&before.settings)?, setting_values(after)?);
        if changed.is_empty() {
            return Ok(());
        }
        let change = audited_change(AuditAction::Changed, before).with_fields(attribute_names(&changed));
        let item_update = ItemUpdate::set_attributes(channel_key(&before.channel_id), changed, ITEM_EXISTS);
        let written = self.commit(&before.account_id, vec![Write::DynamicUpdate(item_update)], vec![change]).await;
        written.on_condition_failed(Error::NotFound)
    }

    /// Replaces a channel's endpoint secrets if they are still those of `before`. Finding the new secrets already
    /// stored counts as success, because the SDK repeats requests that time out.
    pub async fn save_channel_secrets(&self, before: &Channel, after: &Channel) -> Result<(), Error> {
        let secrets_attribute =
            |channel: &Channel| to_attribute(&channel.secrets.iter().map(EndpointSecretItem::from).collect::<Vec<_>>());
        let item_update = ItemUpdate {
            key: channel_key(&after.channel_id),
            update: "SET #secrets = :after",
            condition: "#secrets = :before",
            values: vec![(":after", secrets_attribute(after)?), (":before", secrets_attribute(before)?)],
        };
        let change = audited_change(AuditAction::Rotated, after).with_fields(["endpoint"]);
        let error = match self.commit(&after.account_id, vec![Write::Update(item_update)], vec![change]).await {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        if let WriteError::ConditionFailed { item: Some(found), .. } = &error
            && found.get("secrets") == Some(&secrets_attribute(after)?)
        {
            return Ok(());
        }
        Err(conflict_or("the address is being rotated by another request")(error))
    }

    /// Stores what an outage of the integrator means for the channel. Does nothing if the channel does not exist.
    pub async fn save_channel_outage(&self, channel: &Channel, status: OutageStatus) -> Result<(), Error> {
        let item_update = ItemUpdate {
            key: channel_key(&channel.channel_id),
            update: "SET #outage_status = :status",
            condition: ITEM_EXISTS,
            values: vec![(":status", s(status.name()))],
        };
        let change = audited_change(AuditAction::Changed, channel).with_fields(["outage"]);
        let written = self.commit(&channel.account_id, vec![Write::Update(item_update)], vec![change]).await;
        written.condition().map(|_| ())
    }

    /// Unassigns the channel's bot and then deletes the channel. The channel's chats are kept.
    pub async fn delete_channel(&self, channel: &Channel) -> Result<(), Error> {
        if let Some(bot) = self.assigned_bot(channel).await? {
            let mut after = bot.clone();
            after.channel_ids.retain(|channel_id| *channel_id != channel.channel_id);
            self.save_bot(&bot, &after).await?;
        }
        let change = audited_change(AuditAction::Deleted, channel);
        self.delete_audited(&channel.account_id, channel_key(&channel.channel_id), change).await
    }

    async fn assigned_bot(&self, channel: &Channel) -> Result<Option<Bot>, Error> {
        match &channel.bot_id {
            Some(bot_id) => self.bot(bot_id).await,
            None => Ok(None),
        }
    }
}

pub(super) fn audited_change(action: AuditAction, channel: &Channel) -> AuditedChange {
    AuditedChange::named(action, AuditedKind::Channel, &*channel.channel_id, &channel.settings.name)
}

fn setting_values(settings: &ChannelSettings) -> Result<ExpressionValues, Error> {
    let ChannelSettings { name, enabled, agent_ids, department_ids, business_hours, specific } = settings;
    let mut values = vec![
        (":name", s(&**name)),
        (":enabled", to_attribute(enabled)?),
        (":agent_ids", to_attribute(agent_ids)?),
        (":department_ids", to_attribute(department_ids)?),
        (":business_hours", to_attribute(&business_hours.as_ref().map(BusinessHoursItem::from))?),
    ];
    match specific {
        KindSettings::Api(api) => values.extend([
            (":integrator_url", to_attribute(&api.integrator_url)?),
            (":append_channel_id", to_attribute(&api.append_channel_id)?),
            (":chunked", to_attribute(&api.chunked)?),
            (":validation", s(api.validation.name())),
            (":hidden_error_codes", to_attribute(&api.hidden_error_codes)?),
            (":shows_markdown", to_attribute(&api.rich_support.markdown)?),
            (":shows_buttons", to_attribute(&api.rich_support.buttons)?),
            (":late_delivery", to_attribute(&api.delivery.late_delivery)?),
            (":strict_order", to_attribute(&api.delivery.strict_order)?),
            (":rehearsal_percent", n(api.rehearsal_percent)),
        ]),
        KindSettings::Widget(widget) => values.push((":widget", to_attribute(&WidgetItem::from(&**widget))?)),
    }
    Ok(values)
}

/// Returns whether the secret is one of these and still valid. The time that the check takes does not reveal the number
/// of secrets, which is zero for an endpoint that does not exist.
pub(in crate::store) fn has_valid_secret(secrets: &[EndpointSecret], secret: &str, now: Timestamp) -> bool {
    let hash = sha256::digest(secret);
    let padding = [0_u8; 32];
    let valid = secrets.iter().filter(|secret| secret.valid_until.is_none_or(|until| now < until));
    let padded = valid.map(|secret| &secret.hash).chain(std::iter::repeat(&padding)).take(MAX_ENDPOINT_SECRETS);
    padded.fold(false, |is_valid, stored| is_valid | random_ids_and_secrets::equals_in_constant_time(stored, &hash))
}
