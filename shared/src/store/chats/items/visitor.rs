//! A visitor, and what leads from a visitor's number to the visitor.

use serde::{Deserialize, Serialize};

use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::{Changes, Profile, Said, Source, Sources, Visitor};
use crate::store::chats::visitor_key;

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct VisitorItem {
    pk: String,
    sk: String,
    account_id: String,
    channel_id: String,
    external_id: String,
    number: u64,
    profile: ProfileItem,
    #[serde(default)]
    sources: SourcesItem,
    /// What the integrator said before somebody corrected it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said_phone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said_email: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said_description: Option<String>,
    #[serde(default)]
    chats: u64,
    #[serde(default)]
    blacklisted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open_chat: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_chat: Option<u64>,
    /// For the table's own deletion, while no chat is open: seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

impl From<&Visitor> for VisitorItem {
    fn from(visitor: &Visitor) -> Self {
        let Visitor {
            account_id,
            channel_id,
            external_id,
            number,
            profile,
            sources,
            said: Said { name: said_name, phone: said_phone, email: said_email, description: said_description },
            chats,
            blacklisted,
            open_chat,
            last_chat,
            keep_until,
            changes: _,
        } = visitor.clone();
        let key = visitor_key(&channel_id, &external_id);
        Self {
            pk: key.pk,
            sk: key.sk,
            account_id,
            channel_id,
            external_id,
            number,
            profile: ProfileItem::from(&profile),
            sources: SourcesItem::from(sources),
            said_name,
            said_phone,
            said_email,
            said_description,
            chats,
            blacklisted,
            open_chat,
            last_chat,
            expires_at: keep_until.map(Timestamp::seconds),
        }
    }
}

impl From<VisitorItem> for Visitor {
    fn from(item: VisitorItem) -> Self {
        Self {
            account_id: item.account_id,
            channel_id: item.channel_id,
            external_id: item.external_id,
            number: item.number,
            profile: item.profile.into(),
            sources: item.sources.into(),
            said: Said {
                name: item.said_name,
                phone: item.said_phone,
                email: item.said_email,
                description: item.said_description,
            },
            chats: item.chats,
            blacklisted: item.blacklisted,
            open_chat: item.open_chat,
            last_chat: item.last_chat,
            keep_until: item.expires_at.map(Timestamp::from_seconds),
            changes: Changes::default(),
        }
    }
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(in crate::store) struct SourcesItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

impl From<Sources> for SourcesItem {
    fn from(sources: Sources) -> Self {
        let Sources { name, phone, email, description } = sources;
        let store = |source: Option<Source>| source.map(|source| source.name().to_owned());
        Self { name: store(name), phone: store(phone), email: store(email), description: store(description) }
    }
}

impl From<SourcesItem> for Sources {
    fn from(item: SourcesItem) -> Self {
        let SourcesItem { name, phone, email, description } = item;
        let read = |source: Option<String>| source.as_deref().and_then(Source::parse);
        Self { name: read(name), phone: read(phone), email: read(email), description: read(description) }
    }
}

/// Leads from a visitor's number to the visitor.
#[derive(Serialize, Deserialize)]
pub(in crate::store) struct NumberItem {
    pub pk: String,
    pub sk: String,
    pub visitor_pk: String,
    pub visitor_sk: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(in crate::store) struct ProfileItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    photo: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

impl From<&Profile> for ProfileItem {
    fn from(profile: &Profile) -> Self {
        let Profile { name, phone, email, photo, url, description } = profile.clone();
        Self { name, phone, email, photo, url, description }
    }
}

impl From<ProfileItem> for Profile {
    fn from(item: ProfileItem) -> Self {
        let ProfileItem { name, phone, email, photo, url, description } = item;
        Self { name, phone, email, photo, url, description }
    }
}
