//! The stored forms of a visitor and of the visitor number: items in the Chats table.

use serde::{Deserialize, Serialize};

use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::{
    OverriddenIntegratorValues, ProfileSource, ProfileSources, Visitor, VisitorChanges, VisitorProfile,
};
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
    /// This field and the next three store the last values that the integrator sent. Each is stored only if someone
    /// else has corrected the corresponding profile field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    integrator_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    integrator_phone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    integrator_email: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    integrator_description: Option<String>,
    #[serde(default)]
    chats: u64,
    #[serde(default)]
    blacklisted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open_chat: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_chat: Option<u64>,
    /// When the visitor expires, as Unix time in seconds. `None` means that a chat is open or that the visitor never
    /// expires. This is the table's TTL attribute.
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
            integrator_values:
                OverriddenIntegratorValues {
                    name: integrator_name,
                    phone: integrator_phone,
                    email: integrator_email,
                    description: integrator_description,
                },
            chats,
            blacklisted,
            open_chat,
            last_chat,
            retain_until,
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
            integrator_name,
            integrator_phone,
            integrator_email,
            integrator_description,
            chats,
            blacklisted,
            open_chat,
            last_chat,
            expires_at: retain_until.map(Timestamp::seconds),
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
            integrator_values: OverriddenIntegratorValues {
                name: item.integrator_name,
                phone: item.integrator_phone,
                email: item.integrator_email,
                description: item.integrator_description,
            },
            chats: item.chats,
            blacklisted: item.blacklisted,
            open_chat: item.open_chat,
            last_chat: item.last_chat,
            retain_until: item.expires_at.map(Timestamp::from_seconds),
            changes: VisitorChanges::default(),
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

impl From<ProfileSources> for SourcesItem {
    fn from(sources: ProfileSources) -> Self {
        let ProfileSources { name, phone, email, description } = sources;
        let store = |source: Option<ProfileSource>| source.map(|source| source.name().to_owned());
        Self { name: store(name), phone: store(phone), email: store(email), description: store(description) }
    }
}

impl From<SourcesItem> for ProfileSources {
    fn from(item: SourcesItem) -> Self {
        let SourcesItem { name, phone, email, description } = item;
        let read = |source: Option<String>| source.as_deref().and_then(ProfileSource::parse);
        Self { name: read(name), phone: read(phone), email: read(email), description: read(description) }
    }
}

/// The item that maps a visitor number to the visitor. It stores the key of the visitor's item.
#[derive(Serialize, Deserialize)]
pub(in crate::store) struct VisitorNumberItem {
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

impl From<&VisitorProfile> for ProfileItem {
    fn from(profile: &VisitorProfile) -> Self {
        let VisitorProfile { name, phone, email, photo, url, description } = profile.clone();
        Self { name, phone, email, photo, url, description }
    }
}

impl From<ProfileItem> for VisitorProfile {
    fn from(item: ProfileItem) -> Self {
        let ProfileItem { name, phone, email, photo, url, description } = item;
        Self { name, phone, email, photo, url, description }
    }
}
