//! The writes that store a visitor and the visitor number (the item that maps the number to the visitor). Updates set
//! only the attributes that have changed, so that concurrent changes to other attributes are preserved.

use std::borrow::Cow;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::chats::chat_search;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::{ProfileSource, Visitor, VisitorField};
use crate::error::Error;
use crate::store::chats::items::{VisitorItem, VisitorNumberItem, WidgetVisitorItem};
use crate::store::chats::{Chats, visitor_key, visitor_number_key};
use crate::store::table::{ExpressionValues, ITEM_EXISTS, ItemUpdate, Key, Write, WriteError, n, s};
use crate::store::{to_attribute, to_item};

#[derive(Clone, Default)]
pub(crate) struct UpdateExpression {
    assignments: Vec<Cow<'static, str>>,
    removals: Vec<Cow<'static, str>>,
    values: ExpressionValues,
}

impl UpdateExpression {
    pub(crate) fn add<const N: usize>(
        &mut self,
        assignments: &'static str,
        values: [(&'static str, AttributeValue); N],
    ) {
        self.assignments.push(assignments.into());
        self.values.extend(values);
    }

    pub(crate) fn remove(&mut self, attribute: &'static str) {
        self.removals.push(attribute.into());
    }

    /// Sets the attribute named after the placeholder (`:name` sets `#name`), or removes it if there is no value.
    fn set_or_remove(&mut self, placeholder: &'static str, value: Option<String>) {
        let attribute = format!("#{}", placeholder.trim_start_matches(':'));
        match value {
            Some(value) => {
                self.assignments.push(format!("{attribute} = {placeholder}").into());
                self.values.push((placeholder, s(value)));
            }
            None => self.removals.push(attribute.into()),
        }
    }

    pub(crate) fn into_update(self, key: Key, condition: &'static str) -> ItemUpdate<String> {
        let mut update = format!("SET {}", self.assignments.join(", "));
        if !self.removals.is_empty() {
            update.push_str(&format!(" REMOVE {}", self.removals.join(", ")));
        }
        ItemUpdate { key, update, condition, values: self.values }
    }
}

pub(crate) fn changed_attributes(visitor: &Visitor) -> Result<UpdateExpression, Error> {
    let Visitor { profile, sources, integrator_values, .. } = visitor;
    let source = |source: Option<ProfileSource>| to_attribute(&source.map(ProfileSource::name));
    let mut set = UpdateExpression::default();
    let widget = WidgetVisitorItem::from(visitor.widget.as_deref().cloned().unwrap_or_default());
    for field in &visitor.changes.fields {
        match field {
            VisitorField::Name => set.add(
                "#profile.#name = :name, #sources.#name = :name_source, #integrator_name = :integrator_name",
                [
                    (":name", to_attribute(&profile.name)?),
                    (":name_source", source(sources.name)?),
                    (":integrator_name", to_attribute(&integrator_values.name)?),
                ],
            ),
            VisitorField::Phone => {
                set.add(
                    "#profile.#phone = :phone, #sources.#phone = :phone_source, #integrator_phone = :integrator_phone",
                    [
                        (":phone", to_attribute(&profile.phone)?),
                        (":phone_source", source(sources.phone)?),
                        (":integrator_phone", to_attribute(&integrator_values.phone)?),
                    ],
                );
                set.set_or_remove(":phone_key", profile.phone.as_deref().and_then(chat_search::phone_key));
            }
            VisitorField::Email => {
                set.add(
                    "#profile.#email = :email, #sources.#email = :email_source, #integrator_email = :integrator_email",
                    [
                        (":email", to_attribute(&profile.email)?),
                        (":email_source", source(sources.email)?),
                        (":integrator_email", to_attribute(&integrator_values.email)?),
                    ],
                );
                set.set_or_remove(":email_key", profile.email.as_deref().and_then(chat_search::email_key));
            }
            VisitorField::Description => set.add(
                "#profile.#description = :description, #sources.#description = :description_source, \
                 #integrator_description = :integrator_description",
                [
                    (":description", to_attribute(&profile.description)?),
                    (":description_source", source(sources.description)?),
                    (":integrator_description", to_attribute(&integrator_values.description)?),
                ],
            ),
            VisitorField::Photo => set.add("#profile.#photo = :photo", [(":photo", to_attribute(&profile.photo)?)]),
            VisitorField::Url => set.add("#profile.#url = :url", [(":url", to_attribute(&profile.url)?)]),
            VisitorField::Blacklisted => {
                set.add("#blacklisted = :blacklisted", [(":blacklisted", to_attribute(&visitor.blacklisted)?)]);
            }
            VisitorField::Session => {
                set.add("#widget.#session = :session", [(":session", to_attribute(&widget.session)?)]);
            }
            VisitorField::Utm => set.add("#widget.#utm = :utm", [(":utm", to_attribute(&widget.utm)?)]),
            VisitorField::PageTitle => {
                set.add("#widget.#page_title = :page_title", [(":page_title", to_attribute(&widget.page_title)?)]);
            }
            VisitorField::Analytics => {
                set.add("#widget.#analytics = :analytics", [(":analytics", to_attribute(&widget.analytics)?)]);
            }
            VisitorField::UserToken => {
                set.add("#widget.#user_token = :user_token", [(":user_token", to_attribute(&widget.user_token)?)]);
            }
            VisitorField::CustomData => {
                set.add("#widget.#custom_data = :custom_data", [(":custom_data", to_attribute(&widget.custom_data)?)]);
            }
            VisitorField::Answers => {
                set.add("#widget.#answers = :answers", [(":answers", to_attribute(&widget.answers)?)]);
            }
            VisitorField::HiddenThrough => {
                let start = to_attribute(&widget.hidden_through)?;
                set.add("#widget.#hidden_through = :hidden_through", [(":hidden_through", start)]);
            }
        }
    }
    Ok(set)
}

/// Returns the update that stores the visitor's changed attributes, or `None` if nothing has changed.
pub(crate) fn visitor_update(visitor: &Visitor) -> Result<Option<ItemUpdate<String>>, Error> {
    if visitor.changes.fields.is_empty() {
        return Ok(None);
    }
    let key = visitor_key(&visitor.channel_id, &visitor.external_id);
    Ok(Some(changed_attributes(visitor)?.into_update(key, ITEM_EXISTS)))
}

/// Returns the same update as a part of a transaction.
pub(crate) fn visitor_update_write(visitor: &Visitor) -> Result<Option<Write>, Error> {
    Ok(visitor_update(visitor)?.map(Write::DynamicUpdate))
}

impl Chats {
    /// Stores the visitor's changed attributes, if there are any.
    pub(crate) async fn store_visitor_changes(&self, visitor: &Visitor) -> Result<(), WriteError> {
        if let Some(update) = visitor_update(visitor)? {
            self.table.update(update).await?;
        }
        Ok(())
    }
}

/// Returns the write that stores a visitor who opens a chat. `previous_chat` is the visitor's most recent chat before
/// the new one. The condition fails if another request has created the visitor or has started a chat for the visitor.
pub(crate) fn visitor_write(visitor: &Visitor, is_new: bool, previous_chat: Option<u64>) -> Result<Write, Error> {
    if is_new {
        return to_item(&VisitorItem::from(visitor)).map(Write::Create);
    }
    let mut set = changed_attributes(visitor)?;
    set.add(
        "#open_chat = :chat, #last_chat = :chat, #recent_chats = :recent_chats, #chats = :chats",
        [
            (":chat", to_attribute(&visitor.open_chat)?),
            (":recent_chats", to_attribute(&visitor.recent_chats)?),
            (":previous_chat", to_attribute(&previous_chat)?),
            (":chats", n(visitor.chats)),
        ],
    );
    set.remove("#expires_at");
    let key = visitor_key(&visitor.channel_id, &visitor.external_id);
    let condition = "attribute_exists(#pk) AND attribute_not_exists(#open_chat) \
                     AND (attribute_not_exists(#last_chat) OR #last_chat = :previous_chat)";
    Ok(Write::DynamicUpdate(set.into_update(key, condition)))
}

/// Returns the write that creates the item of a visitor number, which refers to the visitor's item. In the bot API, the
/// visitor number is the `client_id`.
pub(crate) fn visitor_number_write(visitor: &Visitor) -> Result<Write, Error> {
    let key = visitor_number_key(&visitor.account_id, visitor.number);
    let target = visitor_key(&visitor.channel_id, &visitor.external_id);
    let number = VisitorNumberItem {
        pk: key.pk,
        sk: key.sk,
        visitor_pk: target.pk,
        visitor_sk: target.sk,
        expires_at: visitor.retain_until.map(Timestamp::seconds),
    };
    to_item(&number).map(Write::Create)
}

/// Returns the write that removes the expiry of the visitor number. If the item has already been deleted, the write
/// creates it again.
pub(crate) fn visitor_number_retain_write(visitor: &Visitor) -> Write {
    let target = visitor_key(&visitor.channel_id, &visitor.external_id);
    Write::Update(ItemUpdate {
        key: visitor_number_key(&visitor.account_id, visitor.number),
        update: "SET #visitor_pk = :pk, #visitor_sk = :sk REMOVE #expires_at",
        condition: "",
        values: vec![(":pk", s(target.pk)), (":sk", s(target.sk))],
    })
}
