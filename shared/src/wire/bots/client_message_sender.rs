//! What a bot is told about the visitor (specification, table B1). The specification's fields are always sent; the
//! others only if the account's admin allows it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::bots::bot_settings::VisitorData;
use crate::domain::chats::chat_side_panel::CustomData;
use crate::domain::visitors::visitor::{Visitor, VisitorProfile};
use crate::domain::visitors::widget_visitor::WidgetVisitor;
use crate::wire::fields::values::{Optional, SequentialNumber};
use crate::wire::webhooks::webhook_event::CustomDataItem;

/// The visitor. Fields whose value is unknown or not allowed by the bot's `visitor_data` are absent.
#[derive(Serialize, JsonSchema)]
pub struct ClientMessageSender {
    id: SequentialNumber,
    name: String,
    /// The address of the page.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    url: Optional<String>,
    has_contacts: bool,
    /// `external_id`: the integrator's id of the visitor, of an API channel.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    external_id: Optional<String>,
    /// `contacts`.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    email: Optional<String>,
    /// `contacts`.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    phone: Optional<String>,
    /// `user_token`: the visitor's id in the account's systems, of a widget.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    user_token: Optional<String>,
    /// `page`: its title.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    page_title: Optional<String>,
    /// `page`: the page from which the visitor came to the site.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    referrer: Optional<String>,
    /// `custom_data`: what the page and the contacts form have set.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    custom_data: Optional<Vec<CustomDataItem>>,
    /// `language`: of the visitor's browser, such as pt-BR.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    language: Optional<String>,
}

impl ClientMessageSender {
    pub fn new(visitor: &Visitor, allowed: &[VisitorData]) -> Self {
        let VisitorProfile { phone, email, .. } = &visitor.profile;
        let widget = visitor.widget.as_deref();
        let text = |data, text: Option<&String>| Optional(text.filter(|_| allowed.contains(&data)).cloned());
        let external_id = Some(&visitor.external_id).filter(|_| widget.is_none());
        let of_widget = |field: fn(&WidgetVisitor) -> Option<&String>| widget.and_then(field);
        Self {
            id: SequentialNumber(visitor.number),
            name: visitor.profile.display_name().to_owned(),
            url: Optional(visitor.profile.page().map(str::to_owned)),
            has_contacts: phone.is_some() || email.is_some(),
            external_id: text(VisitorData::ExternalId, external_id),
            email: text(VisitorData::Contacts, email.as_ref()),
            phone: text(VisitorData::Contacts, phone.as_ref()),
            user_token: text(VisitorData::UserToken, of_widget(|widget| widget.user_token.as_ref())),
            page_title: text(VisitorData::Page, of_widget(|widget| widget.page_title.as_ref())),
            referrer: text(VisitorData::Page, of_widget(|widget| widget.session.referrer.as_ref())),
            custom_data: Optional(widget.filter(|_| allowed.contains(&VisitorData::CustomData)).and_then(custom_data)),
            language: text(VisitorData::Language, of_widget(|widget| widget.session.language.as_ref())),
        }
    }
}

/// Returns `None` if there is no data.
fn custom_data(widget: &WidgetVisitor) -> Option<Vec<CustomDataItem>> {
    let lines: Vec<&CustomData> = widget.custom_data.iter().chain(&widget.answers).collect();
    (!lines.is_empty()).then(|| lines.into_iter().map(CustomDataItem::from).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::named::Named;
    use crate::wire::sample_data;

    fn extra_fields(visitor: &Visitor, allowed: &[VisitorData]) -> Value {
        let mut sender = json!(ClientMessageSender::new(visitor, allowed));
        let fields = sender.as_object_mut().unwrap();
        for name in ["id", "name", "url", "has_contacts"] {
            fields.remove(name);
        }
        sender
    }

    #[test]
    fn bot_gets_only_the_data_that_is_allowed() {
        let known = sample_data::visitor();
        assert_eq!(extra_fields(&known, &[]), json!({}));
        let VisitorProfile { email, phone, .. } = known.profile.clone();
        assert_eq!(extra_fields(&known, &[VisitorData::Contacts]), json!({ "email": email, "phone": phone }));
        assert_eq!(extra_fields(&known, &[VisitorData::ExternalId]), json!({ "external_id": known.external_id }));
    }

    #[test]
    fn bot_gets_what_a_widget_knows() {
        let line = CustomData { title: None, content: "gold".into(), link: None, key: Some("plan".into()) };
        let mut widget = WidgetVisitor {
            user_token: Some("u-1".into()),
            page_title: Some("Cart".into()),
            custom_data: vec![line],
            ..WidgetVisitor::default()
        };
        widget.session.language = Some("pt-BR".into());
        let visitor = Visitor { widget: Some(Box::new(widget)), ..sample_data::visitor() };
        let mut fields = extra_fields(&visitor, VisitorData::ALL);
        for name in ["email", "phone"] {
            fields.as_object_mut().unwrap().remove(name);
        }
        let custom_data = json!([{ "title": null, "content": "gold", "link": null, "key": "plan" }]);
        let expected = json!({
            "user_token": "u-1", "page_title": "Cart", "custom_data": custom_data, "language": "pt-BR",
        });
        assert_eq!(fields, expected, "the id of a widget's visitor is a hash that means nothing to a bot");
    }
}
