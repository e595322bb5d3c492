//! The form in which a widget asks visitors for their contact data and for what else the account wants to know.

use crate::domain::named::named;
use std::collections::BTreeMap;

use crate::domain::chats::chat_side_panel::CustomData;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContactsForm {
    pub when: ContactsFormTime,
    pub fields: Vec<ContactField>,
    /// The fields that must be filled in. They are part of `fields`.
    pub required: Vec<ContactField>,
    pub custom_fields: Vec<CustomField>,
}

impl ContactsForm {
    /// Returns the answers as agents see them, in the order of the form. Answers without a custom field are left out,
    /// because an admin may have removed the field while the visitor was filling in the form.
    pub fn lines_of_answers(&self, answers: &BTreeMap<String, Answer>) -> Vec<CustomData> {
        let lines = self.custom_fields.iter().filter_map(|field| field.line_of_answer(answers.get(&field.key)?));
        lines.collect()
    }
}

impl Default for ContactsForm {
    fn default() -> Self {
        let fields = vec![ContactField::Name, ContactField::Email, ContactField::Phone];
        Self { when: ContactsFormTime::Never, fields, required: Vec::new(), custom_fields: Vec::new() }
    }
}

named! {
    pub enum ContactsFormTime {
        Never = "never",
        BeforeFirstMessage = "before_first_message",
        AfterFirstMessage = "after_first_message",
    }
}

named! {
    pub enum ContactField {
        Name = "name",
        Email = "email",
        Phone = "phone",
    }
}

/// A question of the account. The visitor's answer is shown to agents and webhooks as a line of custom data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomField {
    pub key: String,
    pub label: String,
    pub kind: CustomFieldKind,
    pub is_required: bool,
}

impl CustomField {
    fn line_of_answer(&self, answer: &Answer) -> Option<CustomData> {
        let content = match (&self.kind, answer) {
            (CustomFieldKind::Text | CustomFieldKind::Select { .. }, Answer::Text(text)) => text.clone(),
            (CustomFieldKind::Consent { .. }, Answer::Agreed) => CONSENT.to_owned(),
            (CustomFieldKind::Text | CustomFieldKind::Select { .. }, Answer::Agreed)
            | (CustomFieldKind::Consent { .. }, Answer::Text(_)) => return None,
        };
        let link = self.kind.link().map(str::to_owned);
        Some(CustomData { title: Some(self.label.clone()), content, link, key: Some(self.key.clone()) })
    }
}

/// What agents read if the visitor has ticked the box of a consent field.
const CONSENT: &str = "yes";

/// A visitor's answer to a custom field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Text(String),
    /// The visitor has ticked the box of a consent field.
    Agreed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CustomFieldKind {
    Text,
    /// The visitor chooses one of the options.
    Select {
        options: Vec<String>,
    },
    /// The visitor agrees by ticking a box. The link leads to the text that the visitor agrees to.
    Consent {
        link: Option<String>,
    },
}

impl CustomFieldKind {
    /// The name of this value in the APIs and in stored items.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Select { .. } => "select",
            Self::Consent { .. } => "consent",
        }
    }

    /// Returns the kind with this name. `options` and `link` are used by the kinds that have them.
    pub fn from_parts(name: &str, options: Vec<String>, link: Option<String>) -> Option<Self> {
        match name {
            "text" => Some(Self::Text),
            "select" => Some(Self::Select { options }),
            "consent" => Some(Self::Consent { link }),
            _ => None,
        }
    }

    /// Returns the options of a select field. Other kinds have none.
    pub fn options(&self) -> &[String] {
        match self {
            Self::Select { options } => options,
            Self::Text | Self::Consent { .. } => &[],
        }
    }

    /// Returns the link of a consent field. Other kinds have none.
    pub fn link(&self) -> Option<&str> {
        match self {
            Self::Consent { link } => link.as_deref(),
            Self::Text | Self::Select { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_shown_in_the_order_of_the_form() {
        let field =
            |key: &str, kind| CustomField { key: key.into(), label: key.to_uppercase(), kind, is_required: true };
        let link = Some("https://shop.example/terms".to_owned());
        let custom_fields = vec![
            field("topic", CustomFieldKind::Select { options: vec!["Sales".into()] }),
            field("terms", CustomFieldKind::Consent { link: link.clone() }),
            field("order", CustomFieldKind::Text),
        ];
        let form = ContactsForm { custom_fields, ..ContactsForm::default() };
        let line = |key: &str, content: &str, link| CustomData {
            title: Some(key.to_uppercase()),
            content: content.into(),
            link,
            key: Some(key.into()),
        };
        let text = |text: &str| Answer::Text(text.into());
        let answers =
            [("order", text("7")), ("removed", text("x")), ("terms", Answer::Agreed), ("topic", text("Sales"))];
        let shown = form.lines_of_answers(&answers.map(|(key, answer)| (key.to_owned(), answer)).into());
        assert_eq!(shown, [line("topic", "Sales", None), line("terms", "yes", link), line("order", "7", None)]);
        let of_other_kinds = [("order", Answer::Agreed), ("terms", text("yes"))];
        let shown = form.lines_of_answers(&of_other_kinds.map(|(key, answer)| (key.to_owned(), answer)).into());
        assert_eq!(shown, []);
    }
}
