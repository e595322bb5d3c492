//! Parses admins' changes to a widget's contacts form, and returns the form as JSON.

use serde_json::{Value, json};

use crate::domain::contacts_form::{ContactField, ContactsForm, ContactsFormTime, CustomField, CustomFieldKind};
use crate::error::Error;
use crate::wire::json_fields::Fields;

pub(super) const MAX_CUSTOM_FIELDS: usize = 5;
const MAX_KEY_CHARS: usize = 32;
const MAX_LABEL_CHARS: usize = 100;
const MAX_OPTIONS: usize = 20;

/// Applies the object `contacts_form` of a widget's settings. Absent fields and null leave the form unchanged.
pub(super) fn apply_contacts_form(fields: Fields<'_>, mut form: ContactsForm) -> Result<ContactsForm, Error> {
    let Some(fields) = fields.optional_object("contacts_form", "widget.contacts_form")? else { return Ok(form) };
    let times = "never, before_first_message, after_first_message";
    form.when = fields.enumerated("when", times, ContactsFormTime::parse)?.unwrap_or(form.when);
    let names = "of name, email, phone";
    form.fields = fields.list("fields", 3, names, ContactField::parse)?.unwrap_or(form.fields);
    form.required = fields.list("required", 3, names, ContactField::parse)?.unwrap_or(form.required);
    if form.required.iter().any(|field| !form.fields.contains(field)) {
        return Err(fields.invalid("required", "must name fields that are in fields"));
    }
    form.custom_fields = parse_custom_fields(fields)?.unwrap_or(form.custom_fields);
    Ok(form)
}

fn parse_custom_fields(fields: Fields<'_>) -> Result<Option<Vec<CustomField>>, Error> {
    let Some(value) = fields.value("custom_fields") else { return Ok(None) };
    let list = value.as_array().filter(|list| list.len() <= MAX_CUSTOM_FIELDS);
    let invalid =
        || fields.invalid("custom_fields", format_args!("must be a list of at most {MAX_CUSTOM_FIELDS} objects"));
    let mut parsed: Vec<CustomField> = Vec::new();
    for (index, item) in list.ok_or_else(invalid)?.iter().enumerate() {
        let path = format!("widget.contacts_form.custom_fields[{index}]");
        let item = Fields::of_item(item, &path)?;
        let field = parse_custom_field(item)?;
        if parsed.iter().any(|other| other.key == field.key) {
            return Err(item.invalid("key", "must differ from the other keys"));
        }
        parsed.push(field);
    }
    Ok(Some(parsed))
}

fn parse_custom_field(fields: Fields<'_>) -> Result<CustomField, Error> {
    let key = fields.required_text("key", MAX_KEY_CHARS)?;
    if !key.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')) {
        return Err(fields.invalid("key", "must consist of a to z, 0 to 9 and _"));
    }
    let label = fields.text("label", MAX_LABEL_CHARS)?.ok_or_else(|| fields.invalid("label", "is required"))?;
    let name = fields.required_text("type", MAX_KEY_CHARS)?;
    let options = fields.list("options", MAX_OPTIONS, "texts of at most 100 characters", parse_option)?;
    let kind = CustomFieldKind::from_parts(&name, options.unwrap_or_default(), fields.url("link")?);
    let kind = kind.ok_or_else(|| fields.invalid("type", "must be one of text, select, consent"))?;
    if let CustomFieldKind::Select { options } = &kind
        && options.is_empty()
    {
        return Err(fields.invalid("options", "is required"));
    }
    Ok(CustomField { key, label, kind, is_required: fields.boolean("required")?.unwrap_or(false) })
}

fn parse_option(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty() && text.chars().count() <= MAX_LABEL_CHARS).then(|| text.to_owned())
}

pub(super) fn contacts_form_json(form: &ContactsForm) -> Value {
    let ContactsForm { when, fields, required, custom_fields } = form;
    let names = |fields: &[ContactField]| fields.iter().map(|field| json!(field.name())).collect::<Value>();
    let custom_fields: Value = custom_fields.iter().map(custom_field_json).collect();
    json!({
        "when": when.name(), "fields": names(fields), "required": names(required), "custom_fields": custom_fields,
    })
}

fn custom_field_json(field: &CustomField) -> Value {
    let CustomField { key, label, kind, is_required } = field;
    json!({
        "key": key, "label": label, "type": kind.name(), "options": kind.options(), "link": kind.link(),
        "required": is_required,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn apply(form: &Value) -> Result<ContactsForm, Error> {
        let settings = json!({ "contacts_form": form });
        apply_contacts_form(Fields::of(&settings)?, ContactsForm::default())
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
        assert_eq!(contacts_form_json(&apply(&form).unwrap()), form);
    }

    #[test]
    fn absent_fields_leave_the_form_unchanged() {
        let before = apply(&json!({ "custom_fields": [custom_field(&json!({}))] })).unwrap();
        let body = json!({ "contacts_form": { "when": "before_first_message", "custom_fields": null } });
        let after = apply_contacts_form(Fields::of(&body).unwrap(), before.clone()).unwrap();
        assert_eq!(after, ContactsForm { when: ContactsFormTime::BeforeFirstMessage, ..before });
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
