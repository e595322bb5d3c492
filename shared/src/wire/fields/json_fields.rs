//! Validates a JSON body field by field, so that each error contains the path of the invalid field. Unknown fields are
//! ignored, and null counts as absent.

use serde_json::{Map, Value};

use crate::domain::text::link_detection;
use crate::error::Error;

#[derive(Clone, Copy)]
pub struct Fields<'a> {
    object: &'a Map<String, Value>,
    /// The path of the object in the body. It is empty for the body itself.
    path: &'a str,
    /// Whether invalid optional texts, URLs and numbers count as absent. If not, they make the whole body invalid.
    /// Other invalid fields, such as objects and lists, always make it invalid.
    lenient: bool,
}

impl<'a> Fields<'a> {
    /// Fails if the body is not a JSON object.
    pub fn of(body: &'a Value) -> Result<Self, Error> {
        let object = body.as_object().ok_or_else(|| Error::body("the body must be a JSON object"))?;
        Ok(Self { object, path: "", lenient: false })
    }

    pub fn with_lenient(self, lenient: bool) -> Self {
        Self { lenient, ..self }
    }

    pub fn is_lenient(&self) -> bool {
        self.lenient
    }

    /// Returns the path of a field as it appears in error responses, such as `sender.id`.
    pub fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// Creates an error that names the field, such as `sender.id must be a string`.
    pub fn invalid(&self, name: &str, expected: impl std::fmt::Display) -> Error {
        Error::field(self.path(name), expected)
    }

    /// Returns the value of a field, or `None` if the field is absent or null.
    pub fn value(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// Returns a required object, which must be at the top level of the body.
    pub fn object(&self, name: &'a str) -> Result<Fields<'a>, Error> {
        let value = self.value(name).ok_or_else(|| self.invalid(name, "is required"))?;
        let object = value.as_object().ok_or_else(|| self.invalid(name, "must be an object"))?;
        Ok(Self { object, path: name, lenient: self.lenient })
    }

    /// Returns the fields of a nested value, such as a list item, which must be an object. `path` is the path of the
    /// object in the body.
    pub fn of_item(item: &'a Value, path: &'a str) -> Result<Self, Error> {
        let object = item.as_object().ok_or_else(|| Error::field(path, "must be an object"))?;
        Ok(Self { object, path, lenient: false })
    }

    /// Returns an optional list of at most `max_items` strings, each of which `parse` converts. `expected` describes
    /// the items in the error message.
    pub fn list<T>(
        &self,
        name: &str,
        max_items: usize,
        expected: &str,
        parse: fn(&str) -> Option<T>,
    ) -> Result<Option<Vec<T>>, Error> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let list = value.as_array().filter(|list| list.len() <= max_items);
        let items: Option<Vec<T>> = list.and_then(|list| list.iter().map(|item| parse(item.as_str()?)).collect());
        let invalid = || self.invalid(name, format_args!("must be a list of at most {max_items} {expected}"));
        items.map(Some).ok_or_else(invalid)
    }

    /// Returns a required, non-empty string of at most `max_chars` characters.
    pub fn required_text(&self, name: &str, max_chars: usize) -> Result<String, Error> {
        let text = self.strict_text(name, max_chars)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| self.invalid(name, "is required"))
    }

    /// Returns an optional string of at most `max_chars` characters. A blank string counts as absent.
    pub fn text(&self, name: &str, max_chars: usize) -> Result<Option<String>, Error> {
        Ok(self.optional(self.strict_text(name, max_chars))?.filter(|text| !is_blank(text)))
    }

    /// Returns an optional string of at most `max_chars` characters. A blank string counts as absent. A number of any
    /// length is converted to a string.
    pub fn text_or_number(&self, name: &str, max_chars: usize) -> Result<Option<String>, Error> {
        match self.value(name) {
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            _ => self.text(name, max_chars),
        }
    }

    fn strict_text(&self, name: &str, max_chars: usize) -> Result<Option<String>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let text = value.as_str().ok_or_else(|| self.invalid(name, "must be a string"))?;
        if text.chars().count() > max_chars {
            return Err(self.invalid(name, format_args!("must have at most {max_chars} characters")));
        }
        Ok(Some(text.to_owned()))
    }

    pub fn required_url(&self, name: &str) -> Result<String, Error> {
        self.strict_url(name)?.ok_or_else(|| self.invalid(name, "is required"))
    }

    /// Returns an optional http or https URL. A blank string counts as absent.
    pub fn url(&self, name: &str) -> Result<Option<String>, Error> {
        self.optional(self.strict_url(name))
    }

    fn strict_url(&self, name: &str) -> Result<Option<String>, Error> {
        let Some(text) = self.strict_text(name, MAX_URL_CHARS)?.filter(|text| !is_blank(text)) else {
            return Ok(None);
        };
        if link_detection::is_web_url(&text) {
            Ok(Some(text))
        } else {
            Err(self.invalid(name, "must be an http:// or https:// URL"))
        }
    }

    /// Returns a required integer from 1 to 2^53 - 1.
    pub fn required_positive(&self, name: &str) -> Result<u64, Error> {
        self.strict_positive(name)?.ok_or_else(|| self.invalid(name, "is required"))
    }

    /// Returns an optional integer from 1 to 2^53 - 1.
    pub fn positive(&self, name: &str) -> Result<Option<u64>, Error> {
        self.optional(self.strict_positive(name))
    }

    fn strict_positive(&self, name: &str) -> Result<Option<u64>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let number = value.as_u64().filter(|number| (1..=MAX_INTEGER).contains(number));
        number.map(Some).ok_or_else(|| self.invalid(name, format_args!("must be an integer from 1 to {MAX_INTEGER}")))
    }

    /// Returns an optional number from `-max` to `max`.
    pub fn number(&self, name: &str, max: f64) -> Result<Option<f64>, Error> {
        self.optional(self.strict_number(name, max))
    }

    pub fn required_number(&self, name: &str, max: f64) -> Result<f64, Error> {
        self.strict_number(name, max)?.ok_or_else(|| self.invalid(name, "is required"))
    }

    fn strict_number(&self, name: &str, max: f64) -> Result<Option<f64>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let number = value.as_f64().filter(|number| number.abs() <= max);
        // Numbers that are very close to zero are stored as zero, because DynamoDB rejects the smallest of them.
        let number = number.map(|number| if number.abs() < ROUNDED_TO_ZERO_BELOW { 0.0 } else { number });
        number.map(Some).ok_or_else(|| self.invalid(name, format_args!("must be a number from -{max} to {max}")))
    }

    pub fn boolean(&self, name: &str) -> Result<Option<bool>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        value.as_bool().map(Some).ok_or_else(|| self.invalid(name, "must be true or false"))
    }

    /// Returns the result for an optional field. If `lenient` is true, replaces an error with `None`.
    fn optional<T>(&self, result: Result<Option<T>, Error>) -> Result<Option<T>, Error> {
        if self.lenient { Ok(result.unwrap_or(None)) } else { result }
    }
}

const ROUNDED_TO_ZERO_BELOW: f64 = 1e-9;

pub const MAX_URL_CHARS: usize = 4_096;
/// 2^53 - 1. Up to this limit, a parser that uses floating-point numbers represents every integer exactly.
const MAX_INTEGER: u64 = (1 << 53) - 1;

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
