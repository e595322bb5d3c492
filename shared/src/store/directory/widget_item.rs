//! The stored form of a widget's settings: the attribute `widget` of a channel's item.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::widget::{
    AllowedSites, ContactField, ContactsForm, ContactsFormTime, WidgetPosition, WidgetSettings,
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
            contacts_form: ContactsForm { when, fields, required },
            rating,
            sound,
        } = settings.clone();
        let names = |fields: Vec<ContactField>| fields.into_iter().map(|field| field.name().to_owned()).collect();
        Self {
            color,
            color2,
            position: position.name().to_owned(),
            title,
            greeting,
            avatar,
            language,
            texts,
            allowed_sites,
            contacts_form_when: when.name().to_owned(),
            contacts_form_fields: names(fields),
            contacts_form_required: names(required),
            rating,
            sound,
        }
    }
}

impl TryFrom<WidgetItem> for WidgetSettings {
    type Error = Error;

    fn try_from(item: WidgetItem) -> Result<Self, Error> {
        let fields = |names: &[String]| -> Result<Vec<ContactField>, Error> {
            names.iter().map(|name| ContactField::parse(name).ok_or_else(|| Error::internal("contact field"))).collect()
        };
        Ok(Self {
            position: WidgetPosition::parse(&item.position).ok_or_else(|| Error::internal("position"))?,
            contacts_form: ContactsForm {
                when: ContactsFormTime::parse(&item.contacts_form_when).ok_or_else(|| Error::internal("when"))?,
                fields: fields(&item.contacts_form_fields)?,
                required: fields(&item.contacts_form_required)?,
            },
            color: item.color,
            color2: item.color2,
            title: item.title,
            greeting: item.greeting,
            avatar: item.avatar,
            language: item.language,
            texts: item.texts,
            allowed_sites: AllowedSites(item.allowed_sites),
            rating: item.rating,
            sound: item.sound,
        })
    }
}
