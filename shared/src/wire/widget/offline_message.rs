//! The offline form.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::contract::{Failure, Operation};
use crate::domain::channels::contacts_form::Answer;
use crate::domain::chats::message_content::truncate_chars;
use crate::domain::text::email_address;
use crate::domain::visitors::visitor::VisitorProfile;
use crate::error::Error;
use crate::wire::channels::message_content::MAX_VISITOR_TEXT_CHARS;
use crate::wire::fields::described::Success;
use crate::wire::fields::values::OptionalText;
use crate::wire::widget::answers::CustomFieldAnswers;
use crate::wire::widget::fields::MAX_CONTACT_CHARS;
use crate::wire::widget::visitor::MAX_DESCRIPTION_CHARS;
use crate::wire::widget::{SAMPLE_TOKEN, VisitorToken, WidgetMessageId};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::post("/widget/{widget_id}/offline-message", "widgetOfflineMessage", "Sends the offline form")
            .describe(
                "The message is added to the open chat, or opens a chat, which starts with the widget's bot or waits \
                 for the agents. Webhooks get offline_message.",
            )
            .body::<OfflineMessageRequest>()
            .example(
                "form",
                "",
                json!({
                    "token": SAMPLE_TOKEN, "message_id": "0c1b7a52-0d0e-4f0e-9a53-1f6f1d2c9b12",
                    "name": "Ada Lovelace", "email": "ada@example.com", "message": "Please write to me tomorrow.",
                }),
            )
            .answers::<Success>(200, "Accepted.")
            .answer_example("ok", None, json!({ "result": "ok" }))
            .fails(&[Failure::IdempotencyKeyReused]),
    ]
}

/// The offline form. It needs an e-mail address or a phone number.
#[derive(Deserialize, JsonSchema)]
pub struct OfflineMessageRequest {
    token: VisitorToken,
    message_id: WidgetMessageId,
    #[serde(default)]
    name: OptionalText<MAX_CONTACT_CHARS>,
    #[serde(default)]
    email: OptionalText<MAX_CONTACT_CHARS>,
    #[serde(default)]
    phone: OptionalText<MAX_CONTACT_CHARS>,
    #[serde(default)]
    description: OptionalText<MAX_DESCRIPTION_CHARS>,
    answers: Option<CustomFieldAnswers>,
    /// Truncated to 1000 characters.
    #[schemars(length(min = 1))]
    message: String,
}

pub struct OfflineMessage {
    pub token: VisitorToken,
    pub message_id: WidgetMessageId,
    pub contacts: VisitorProfile,
    pub answers: Option<BTreeMap<String, Answer>>,
    pub text: String,
}

impl OfflineMessageRequest {
    pub fn checked(self) -> Result<OfflineMessage, Error> {
        let (email, phone) = (self.email.0, self.phone.0);
        if email.is_none() && phone.is_none() {
            return Err(Error::field("email", "or phone is required"));
        }
        if phone.as_deref().is_some_and(|phone| !is_phone(phone)) {
            return Err(Error::field("phone", "must be a phone number"));
        }
        if self.message.trim().is_empty() {
            return Err(Error::field("message", "is required"));
        }
        let contacts = VisitorProfile {
            name: self.name.0,
            email: email.as_deref().map(checked_email).transpose()?,
            phone,
            description: self.description.0,
            ..VisitorProfile::default()
        };
        Ok(OfflineMessage {
            token: self.token,
            message_id: self.message_id,
            contacts,
            answers: self.answers.map(|CustomFieldAnswers(answers)| answers),
            text: truncate_chars(&self.message, MAX_VISITOR_TEXT_CHARS),
        })
    }
}

fn checked_email(text: &str) -> Result<String, Error> {
    let email = email_address::parse(text).ok_or_else(|| Error::field("email", "must be an e-mail address"))?;
    Ok(email.to_owned())
}

/// Whether a text looks like a phone number. Only obvious mistakes are rejected.
fn is_phone(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    digits >= 3 && text.chars().all(|c| c.is_ascii_digit() || c.is_whitespace() || "+-()./#*".contains(c))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::Value;

    use super::*;
    use crate::wire::fields::reader::read;

    #[test]
    fn offline_message_needs_a_way_to_answer() {
        let parse = |body: &Value| read::<OfflineMessageRequest>(body)?.checked();
        let valid = json!({ "token": "t", "message_id": "m", "message": "Hi", "email": " ada@x.example " });
        assert_eq!(parse(&valid).unwrap().contacts.email.as_deref(), Some("ada@x.example"));
        for (field, change) in [
            ("token", json!({ "token": null })),
            ("message_id", json!({ "message_id": "" })),
            ("message_id", json!({ "message_id": "x".repeat(65) })),
            ("message", json!({ "message": " " })),
            ("email", json!({ "email": null })),
            ("email", json!({ "email": "ada" })),
            ("email", json!({ "email": "a b@x.example" })),
            ("phone", json!({ "phone": "call me" })),
            ("phone", json!({ "phone": "1" })),
        ] {
            let mut body = valid.clone();
            body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            assert_eq!(parse(&body).err().unwrap().invalid_field(), Some(field), "{change}");
        }
        let by_phone = json!({ "token": "t", "message_id": "m", "message": "Hi", "phone": "+31 (6) 12-34" });
        assert!(parse(&by_phone).is_ok());
    }
}
