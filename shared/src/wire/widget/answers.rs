//! A visitor's answers to the custom fields of the contacts form.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::domain::channels::contacts_form::Answer;
use crate::wire::admin::contacts_form::MAX_CUSTOM_FIELDS;

const MAX_ANSWER_CHARS: usize = 1_000;

/// A visitor's answers to custom fields, by key. An answer that is blank, false or null counts as absent.
#[derive(Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub(super) struct CustomFieldAnswers(pub BTreeMap<String, Answer>);

impl TryFrom<Map<String, Value>> for CustomFieldAnswers {
    type Error = String;

    fn try_from(fields: Map<String, Value>) -> Result<Self, String> {
        let answer = |(key, value)| {
            let answer = match value {
                Value::Null | Value::Bool(false) => None,
                Value::Bool(true) => Some(Answer::Agreed),
                Value::String(text) if text.trim().is_empty() => None,
                Value::String(text) if text.chars().count() <= MAX_ANSWER_CHARS => Some(Answer::Text(text)),
                Value::String(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => return None,
            };
            Some((key, answer))
        };
        let answers = Some(fields).filter(|fields| fields.len() <= MAX_CUSTOM_FIELDS);
        let answers: Option<Vec<_>> = answers.and_then(|fields| fields.into_iter().map(answer).collect());
        let invalid = || {
            format!(
                "must be an object of at most {MAX_CUSTOM_FIELDS} texts of at most {MAX_ANSWER_CHARS} characters, or \
                 true"
            )
        };
        let answers = answers.ok_or_else(invalid)?.into_iter();
        Ok(Self(answers.filter_map(|(key, answer)| Some((key, answer?))).collect()))
    }
}

impl JsonSchema for CustomFieldAnswers {
    fn schema_name() -> Cow<'static, str> {
        "CustomFieldAnswers".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "maxProperties": MAX_CUSTOM_FIELDS,
            "additionalProperties": { "type": ["string", "boolean", "null"], "maxLength": MAX_ANSWER_CHARS },
            "description": "The visitor's answers to the custom fields of the contacts form, by key; true for a ticked \
                            box. They replace the earlier answers. Agents see them as lines of custom data, and \
                            webhooks get them as visitor.answers. Keys that the form does not have are ignored.",
        })
    }
}
