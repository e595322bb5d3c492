//! The stored forms of a visitor and of the visitor number: items in the Chats table.

use serde::{Deserialize, Serialize};

use crate::domain::chats::chat_search;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::{
    OverriddenIntegratorValues, ProfileSource, ProfileSources, Visitor, VisitorChanges, VisitorProfile,
};
use crate::store::chats::items::widget_visitor::WidgetVisitorItem;
use crate::store::chats::visitor_key;

#[derive(Serialize, Deserialize)]
pub(crate) struct VisitorItem {
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    widget: Option<WidgetVisitorItem>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    merged_with: Vec<u64>,
    #[serde(default)]
    blacklisted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open_chat: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_chat: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    recent_chats: Vec<u64>,
    /// The visitor's sort key in the `by_email` index. `None` if the visitor has no e-mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    email_key: Option<String>,
    /// The visitor's sort key in the `by_phone` index. `None` if the visitor has no phone number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phone_key: Option<String>,
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
            widget,
            merged_with,
            blacklisted,
            open_chat,
            last_chat,
            recent_chats,
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
            email_key: profile.email.as_deref().and_then(chat_search::email_key),
            phone_key: profile.phone.as_deref().and_then(chat_search::phone_key),
            profile: ProfileItem::from(&profile),
            sources: SourcesItem::from(sources),
            integrator_name,
            integrator_phone,
            integrator_email,
            integrator_description,
            chats,
            widget: widget.map(|widget| WidgetVisitorItem::from(*widget)),
            merged_with,
            blacklisted,
            open_chat,
            last_chat,
            recent_chats,
            expires_at: retain_until.map(Timestamp::seconds),
        }
    }
}

impl From<VisitorItem> for Visitor {
    fn from(item: VisitorItem) -> Self {
        // A visitor that was stored before the list of recent chats was introduced has only `last_chat`.
        let recent_chats =
            if item.recent_chats.is_empty() { item.last_chat.into_iter().collect() } else { item.recent_chats };
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
            widget: item.widget.map(|widget| Box::new(widget.into())),
            merged_with: item.merged_with,
            blacklisted: item.blacklisted,
            open_chat: item.open_chat,
            last_chat: item.last_chat,
            recent_chats,
            retain_until: item.expires_at.map(Timestamp::from_seconds),
            changes: VisitorChanges::default(),
        }
    }
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(crate) struct SourcesItem {
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

#[derive(Serialize, Deserialize)]
pub(crate) struct VisitorNumberItem {
    pub pk: String,
    pub sk: String,
    pub visitor_pk: String,
    pub visitor_sk: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(crate) struct ProfileItem {
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
