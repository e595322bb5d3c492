//! The stored form of a widget's settings: the attribute `widget` of a channel's item.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::channels::contacts_form::{
    ContactField, ContactsForm, ContactsFormTime, CustomField, CustomFieldKind,
};
use crate::domain::channels::widget::{
    AllowedSites, FormerService, ReplyTime, WidgetLanguage, WidgetLauncher, WidgetPosition, WidgetSettings, WidgetTheme,
};
use crate::error::Error;

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct WidgetItem {
    color: String,
    color2: Option<String>,
    position: String,
    title: String,
    greeting: Option<String>,
    avatar: Option<String>,
    language: String,
    texts: BTreeMap<String, String>,
    allowed_sites: Vec<String>,
    contacts_form_when: String,
    contacts_form_fields: Vec<String>,
    contacts_form_required: Vec<String>,
    rating: bool,
    sound: bool,
    reply_time: Option<String>,
    moved_from: Option<String>,
    // Items that were stored before the following settings existed do not contain them.
    theme: Option<String>,
    launcher: Option<LauncherItem>,
    typing_preview: Option<bool>,
    #[serde(default)]
    contacts_form_custom_fields: Vec<CustomFieldItem>,
}

#[derive(Serialize, Deserialize)]
struct LauncherItem {
    hidden: bool,
    offset_x: u32,
    offset_y: u32,
    z_index: u32,
}

#[derive(Serialize, Deserialize)]
struct CustomFieldItem {
    key: String,
    label: String,
    #[serde(rename = "type")]
    kind: String,
    options: Vec<String>,
    link: Option<String>,
    required: bool,
}

impl From<&WidgetSettings> for WidgetItem {
    fn from(settings: &WidgetSettings) -> Self {
        let WidgetSettings {
            color,
            color2,
            position,
            title,
            greeting,
            avatar,
            language,
            texts,
            allowed_sites: AllowedSites(allowed_sites),
            contacts_form: ContactsForm { when, fields, required, custom_fields },
            rating,
            sound,
            theme,
            launcher,
            typing_preview,
            reply_time,
            moved_from,
        } = settings.clone();
        let names = |fields: Vec<ContactField>| fields.into_iter().map(|field| field.name().to_owned()).collect();
        Self {
            color,
            color2,
            position: position.name().to_owned(),
            title,
            greeting,
            avatar,
            language: language.name().to_owned(),
            texts,
            allowed_sites,
            contacts_form_when: when.name().to_owned(),
            contacts_form_fields: names(fields),
            contacts_form_required: names(required),
            rating,
            sound,
            reply_time: reply_time.map(|time| time.name().to_owned()),
            moved_from: moved_from.map(|service| service.name().to_owned()),
            theme: Some(theme.name().to_owned()),
            launcher: Some(launcher.into()),
            typing_preview: Some(typing_preview),
            contacts_form_custom_fields: custom_fields.into_iter().map(CustomFieldItem::from).collect(),
        }
    }
}

impl From<WidgetLauncher> for LauncherItem {
    fn from(WidgetLauncher { hidden, offset_x, offset_y, z_index }: WidgetLauncher) -> Self {
        Self { hidden, offset_x, offset_y, z_index }
    }
}

impl From<LauncherItem> for WidgetLauncher {
    fn from(LauncherItem { hidden, offset_x, offset_y, z_index }: LauncherItem) -> Self {
        Self { hidden, offset_x, offset_y, z_index }
    }
}

impl From<CustomField> for CustomFieldItem {
    fn from(CustomField { key, label, kind, is_required }: CustomField) -> Self {
        let (options, link) = (kind.options().to_vec(), kind.link().map(str::to_owned));
        Self { key, label, kind: kind.name().to_owned(), options, link, required: is_required }
    }
}

impl TryFrom<CustomFieldItem> for CustomField {
    type Error = Error;

    fn try_from(item: CustomFieldItem) -> Result<Self, Error> {
        let CustomFieldItem { key, label, kind, options, link, required } = item;
        let kind = CustomFieldKind::from_parts(&kind, options, link).ok_or_else(|| Error::internal("custom field"))?;
        Ok(Self { key, label, kind, is_required: required })
    }
}

impl TryFrom<WidgetItem> for WidgetSettings {
    type Error = Error;

    fn try_from(item: WidgetItem) -> Result<Self, Error> {
        let fields = |names: &[String]| -> Result<Vec<ContactField>, Error> {
            names.iter().map(|name| ContactField::parse(name).ok_or_else(|| Error::internal("contact field"))).collect()
        };
        let custom_fields = item.contacts_form_custom_fields.into_iter().map(CustomField::try_from);
        Ok(Self {
            position: WidgetPosition::parse(&item.position).ok_or_else(|| Error::internal("position"))?,
            contacts_form: ContactsForm {
                when: ContactsFormTime::parse(&item.contacts_form_when).ok_or_else(|| Error::internal("when"))?,
                fields: fields(&item.contacts_form_fields)?,
                required: fields(&item.contacts_form_required)?,
                custom_fields: custom_fields.collect::<Result<_, _>>()?,
            },
            color: item.color,
            color2: item.color2,
            title: item.title,
            greeting: item.greeting,
            avatar: item.avatar,
            language: WidgetLanguage::parse(&item.language).ok_or_else(|| Error::internal("language"))?,
            texts: item.texts,
            allowed_sites: AllowedSites(item.allowed_sites),
            rating: item.rating,
            sound: item.sound,
            theme: optional(item.theme.as_deref(), WidgetTheme::parse, "theme")?.unwrap_or(WidgetTheme::System),
            launcher: item.launcher.map(WidgetLauncher::from).unwrap_or_default(),
            typing_preview: item.typing_preview.unwrap_or(true),
            reply_time: optional(item.reply_time.as_deref(), ReplyTime::parse, "reply time")?,
            moved_from: optional(item.moved_from.as_deref(), FormerService::parse, "former service")?,
        })
    }
}

fn optional<T>(name: Option<&str>, parse: fn(&str) -> Option<T>, attribute: &'static str) -> Result<Option<T>, Error> {
    name.map(|name| parse(name).ok_or_else(|| Error::internal(attribute))).transpose()
}
