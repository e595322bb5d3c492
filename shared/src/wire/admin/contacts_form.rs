//! A widget's contacts form: how admins change it, how it is shown, and the visitors' answers.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::channels::contacts_form::{self, ContactField, ContactsFormTime, CustomField, CustomFieldKind};
use crate::error::Error;
use crate::wire::fields::urls::{WebUrl, WebUrlOrBlank};
use crate::wire::fields::values::{List, Name, Text};

pub(crate) const MAX_CUSTOM_FIELDS: usize = 5;
const MAX_KEY_CHARS: usize = 32;
const MAX_LABEL_CHARS: usize = 100;
const MAX_OPTIONS: usize = 20;
const MAX_CONTACT_FIELDS: usize = 3;
/// The path of the form in the body.
const PATH: &str = "widget.contacts_form";

/// Absent fields and null leave the form unchanged. The fields in required must also be in fields.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct ContactsFormChanges {
    #[schemars(extend("default" = "never"))]
    when: Option<Name<ContactsFormTime>>,
    fields: Option<List<Name<ContactField>, MAX_CONTACT_FIELDS>>,
    required: Option<List<Name<ContactField>, MAX_CONTACT_FIELDS>>,
    /// The keys must differ. A select field needs options.
    custom_fields: Option<List<CustomFormField, MAX_CUSTOM_FIELDS>>,
}

impl ContactsFormChanges {
    /// Returns the changed form.
    pub(crate) fn applied_to(self, before: contacts_form::ContactsForm) -> Result<contacts_form::ContactsForm, Error> {
        let Self { when, fields, required, custom_fields } = self;
        let values = |List(names): List<Name<ContactField>, MAX_CONTACT_FIELDS>| {
            names.into_iter().map(|Name(field)| field).collect::<Vec<_>>()
        };
        let fields = fields.map_or(before.fields, values);
        let required = required.map_or(before.required, values);
        if required.iter().any(|field| !fields.contains(field)) {
            return Err(Error::field(format!("{PATH}.required"), "must name fields that are in fields"));
        }
        Ok(contacts_form::ContactsForm {
            when: when.map_or(before.when, |Name(when)| when),
            fields,
            required,
            custom_fields: custom_fields.map(into_custom_fields).transpose()?.unwrap_or(before.custom_fields),
        })
    }
}

fn into_custom_fields(List(fields): List<CustomFormField, MAX_CUSTOM_FIELDS>) -> Result<Vec<CustomField>, Error> {
    let mut keys = BTreeSet::new();
    let convert = |(index, field): (usize, CustomFormField)| {
        let path = format!("{PATH}.custom_fields[{index}]");
        if !keys.insert(field.key.0.clone()) {
            return Err(Error::field(format!("{path}.key"), "must differ from the other keys"));
        }
        field.into_field(&path)
    };
    fields.into_iter().enumerate().map(convert).collect()
}

/// A question of the account.
#[derive(Clone, Deserialize, JsonSchema)]
struct CustomFormField {
    key: CustomFieldKey,
    label: CustomFieldLabel,
    r#type: CustomFieldType,
    options: Option<List<CustomFieldOption, MAX_OPTIONS>>,
    #[serde(default)]
    link: WebUrlOrBlank,
    #[schemars(extend("default" = false))]
    required: Option<bool>,
}

impl CustomFormField {
    fn into_field(self, path: &str) -> Result<CustomField, Error> {
        let Self { key: CustomFieldKey(key), label: CustomFieldLabel(label), r#type, options, link, required } = self;
        let kind = match r#type {
            CustomFieldType::Text => CustomFieldKind::Text,
            CustomFieldType::Select => {
                let options = options.map_or_else(Vec::new, |List(options)| options);
                if options.is_empty() {
                    return Err(Error::field(format!("{path}.options"), "is required"));
                }
                CustomFieldKind::Select { options: options.into_iter().map(|CustomFieldOption(text)| text).collect() }
            }
            CustomFieldType::Consent => CustomFieldKind::Consent { link: link.0 },
        };
        Ok(CustomField { key, label, kind, is_required: required.unwrap_or(false) })
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(try_from = "Text<MAX_KEY_CHARS>")]
#[schemars(with = "Text<MAX_KEY_CHARS>", inline, extend("pattern" = "^[a-z0-9_]{1,32}$"))]
struct CustomFieldKey(String);

impl TryFrom<Text<MAX_KEY_CHARS>> for CustomFieldKey {
    type Error = &'static str;

    fn try_from(Text(key): Text<MAX_KEY_CHARS>) -> Result<Self, Self::Error> {
        let is_valid = key.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        if is_valid { Ok(Self(key)) } else { Err("must consist of a to z, 0 to 9 and _") }
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(try_from = "Text<MAX_LABEL_CHARS>")]
#[schemars(with = "Text<MAX_LABEL_CHARS>", inline)]
struct CustomFieldLabel(String);

impl TryFrom<Text<MAX_LABEL_CHARS>> for CustomFieldLabel {
    type Error = &'static str;

    fn try_from(Text(label): Text<MAX_LABEL_CHARS>) -> Result<Self, Self::Error> {
        if label.trim().is_empty() { Err("is required") } else { Ok(Self(label)) }
    }
}

/// An option of a select field. White space at its ends is removed.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "Text<MAX_LABEL_CHARS>", inline)]
struct CustomFieldOption(String);

impl TryFrom<String> for CustomFieldOption {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() || text.chars().count() > MAX_LABEL_CHARS {
            return Err(format!("must be a text of at most {MAX_LABEL_CHARS} characters"));
        }
        Ok(Self(text.to_owned()))
    }
}

/// A line of text, a choice of one of the options, or a box to tick.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CustomFieldType {
    Text,
    Select,
    Consent,
}

impl From<&CustomFieldKind> for CustomFieldType {
    fn from(kind: &CustomFieldKind) -> Self {
        match kind {
            CustomFieldKind::Text => Self::Text,
            CustomFieldKind::Select { .. } => Self::Select,
            CustomFieldKind::Consent { .. } => Self::Consent,
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct ContactsForm {
    when: Name<ContactsFormTime>,
    #[schemars(length(max = MAX_CONTACT_FIELDS))]
    fields: Vec<Name<ContactField>>,
    #[schemars(length(max = MAX_CONTACT_FIELDS))]
    required: Vec<Name<ContactField>>,
    #[schemars(length(max = MAX_CUSTOM_FIELDS))]
    custom_fields: Vec<WidgetCustomField>,
}

impl From<&contacts_form::ContactsForm> for ContactsForm {
    fn from(form: &contacts_form::ContactsForm) -> Self {
        let contacts_form::ContactsForm { when, fields, required, custom_fields } = form;
        let names = |fields: &[ContactField]| fields.iter().copied().map(Name).collect();
        Self {
            when: Name(*when),
            fields: names(fields),
            required: names(required),
            custom_fields: custom_fields.iter().map(WidgetCustomField::from).collect(),
        }
    }
}

/// A question of the account. The answer is shown to agents and webhooks as a line of custom data.
#[derive(Serialize, JsonSchema)]
struct WidgetCustomField {
    #[schemars(regex(pattern = "^[a-z0-9_]{1,32}$"))]
    key: String,
    label: String,
    r#type: CustomFieldType,
    /// The options of a select field. Empty for other types.
    #[schemars(length(max = MAX_OPTIONS))]
    options: Vec<String>,
    /// The link of a consent field. Null for other types.
    link: Option<WebUrl>,
    required: bool,
}

impl From<&CustomField> for WidgetCustomField {
    fn from(field: &CustomField) -> Self {
        let CustomField { key, label, kind, is_required } = field;
        Self {
            key: key.clone(),
            label: label.clone(),
            r#type: kind.into(),
            options: kind.options().to_vec(),
            link: kind.link().map(|link| WebUrl(link.to_owned())),
            required: *is_required,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;
    use crate::wire::fields::reader::read;

    #[derive(Deserialize)]
    struct Body {
        widget: Settings,
    }

    #[derive(Deserialize)]
    struct Settings {
        contacts_form: ContactsFormChanges,
    }

    fn apply(form: &Value) -> Result<contacts_form::ContactsForm, Error> {
        let body: Body = read(&json!({ "widget": { "contacts_form": form } }))?;
        body.widget.contacts_form.applied_to(contacts_form::ContactsForm::default())
    }

    fn custom_field(changes: &Value) -> Value {
        let mut field = json!({ "key": "order_no", "label": "Order", "type": "text" });
        field.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        field
    }

    #[test]
    fn form_is_applied_and_shown() {
        let form = json!({
            "when": "after_first_message", "fields": ["phone"], "required": ["phone"],
            "custom_fields": [
                {"key": "order_1", "label": "Order", "type": "text", "options": [], "link": null, "required": true},
                {"key": "topic", "label": "Topic", "type": "select", "options": ["A", "B"], "link": null,
                 "required": false},
                {"key": "terms", "label": "I agree", "type": "consent", "options": [],
                 "link": "https://shop.example/terms", "required": true},
            ],
        });
        assert_eq!(json!(ContactsForm::from(&apply(&form).unwrap())), form);
    }

    #[test]
    fn absent_fields_leave_the_form_unchanged() {
        let before = apply(&json!({ "custom_fields": [custom_field(&json!({}))] })).unwrap();
        let body = json!({ "when": "before_first_message", "custom_fields": null });
        let after = read::<ContactsFormChanges>(&body).unwrap().applied_to(before.clone()).unwrap();
        assert_eq!(after, contacts_form::ContactsForm { when: ContactsFormTime::BeforeFirstMessage, ..before });
    }

    #[test]
    fn error_names_the_invalid_field_of_a_form() {
        let of_custom_field = |changes: &Value| json!({ "custom_fields": [custom_field(changes)] });
        let twice = vec![custom_field(&json!({})); 2];
        for (field, form) in [
            ("contacts_form", json!([])),
            ("contacts_form.when", json!({ "when": "later" })),
            ("contacts_form.fields", json!({ "fields": ["age"] })),
            ("contacts_form.required", json!({ "fields": ["name"], "required": ["email"] })),
            ("contacts_form.custom_fields", json!({ "custom_fields": {} })),
            ("contacts_form.custom_fields", json!({ "custom_fields": vec![custom_field(&json!({})); 6] })),
            ("contacts_form.custom_fields[0]", json!({ "custom_fields": ["x"] })),
            ("contacts_form.custom_fields[1].key", json!({ "custom_fields": twice })),
            ("contacts_form.custom_fields[0].key", of_custom_field(&json!({ "key": "" }))),
            ("contacts_form.custom_fields[0].key", of_custom_field(&json!({ "key": "Order" }))),
            ("contacts_form.custom_fields[0].key", of_custom_field(&json!({ "key": "x".repeat(33) }))),
            ("contacts_form.custom_fields[0].label", of_custom_field(&json!({ "label": " " }))),
            ("contacts_form.custom_fields[0].label", of_custom_field(&json!({ "label": "x".repeat(101) }))),
            ("contacts_form.custom_fields[0].type", of_custom_field(&json!({ "type": null }))),
            ("contacts_form.custom_fields[0].type", of_custom_field(&json!({ "type": "file" }))),
            ("contacts_form.custom_fields[0].options", of_custom_field(&json!({ "type": "select" }))),
            (
                "contacts_form.custom_fields[0].options",
                of_custom_field(&json!({ "type": "select", "options": vec!["x"; 21] })),
            ),
            ("contacts_form.custom_fields[0].options", of_custom_field(&json!({ "type": "select", "options": [" "] }))),
            (
                "contacts_form.custom_fields[0].link",
                of_custom_field(&json!({ "type": "consent", "link": "javascript:alert(1)" })),
            ),
            ("contacts_form.custom_fields[0].required", of_custom_field(&json!({ "required": "yes" }))),
        ] {
            let error = apply(&form).unwrap_err();
            let path = error.invalid_field().unwrap();
            assert_eq!(path.trim_start_matches("widget."), field, "{form}");
        }
    }
}
