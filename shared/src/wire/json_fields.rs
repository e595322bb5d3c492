//! Reading a JSON body field by field, so that an error names the field. Unknown fields are ignored; null
//! counts as absent.

use crate::domain::link;
use crate::error::Error;
use serde_json::{Map, Value};
use url::Url;

/// A JSON object that is being read.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    object: &'a Map<String, Value>,
    /// Where the object is in the body: empty for the body itself.
    path: &'a str,
    /// Drop optional fields that are wrong instead of refusing the body.
    lenient: bool,
}

impl<'a> Fields<'a> {
    /// The body itself.
    pub fn of(body: &'a Value) -> Result<Self, Error> {
        let object = body.as_object().ok_or_else(|| Error::body("the body must be a JSON object"))?;
        Ok(Self { object, path: "", lenient: false })
    }

    /// The same, tolerant of wrong optional fields where `lenient`.
    pub fn tolerant(self, lenient: bool) -> Self {
        Self { lenient, ..self }
    }

    /// Whether wrong optional fields are dropped.
    pub fn is_lenient(&self) -> bool {
        self.lenient
    }

    /// The name of a field in an error.
    pub fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// The refusal of a field.
    pub fn refuse(&self, name: &str, expected: impl std::fmt::Display) -> Error {
        Error::field(self.path(name), expected)
    }

    /// The value of a field; none when absent or null.
    pub fn value(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// Whether a field is there, null or not.
    pub fn has(&self, name: &str) -> bool {
        self.object.contains_key(name)
    }

    /// A required object, whose place in the body is its name.
    pub fn object(&self, name: &'a str) -> Result<Fields<'a>, Error> {
        let value = self.value(name).ok_or_else(|| self.refuse(name, "is required"))?;
        let object = value.as_object().ok_or_else(|| self.refuse(name, "must be an object"))?;
        Ok(Self { object, path: name, lenient: self.lenient })
    }

    /// A required, non-empty string of at most `longest` characters.
    pub fn required_text(&self, name: &str, longest: usize) -> Result<String, Error> {
        let text = self.strict_text(name, longest)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| self.refuse(name, "is required"))
    }

    /// An optional string of at most `longest` characters; a blank one is absent.
    pub fn text(&self, name: &str, longest: usize) -> Result<Option<String>, Error> {
        Ok(self.exact_text(name, longest)?.filter(|text| !is_blank(text)))
    }

    /// An optional string of at most `longest` characters, blank or not.
    pub fn exact_text(&self, name: &str, longest: usize) -> Result<Option<String>, Error> {
        self.optional(self.strict_text(name, longest))
    }

    /// An optional string of at most `longest` characters, which may also be given as a number.
    pub fn text_or_number(&self, name: &str, longest: usize) -> Result<Option<String>, Error> {
        match self.value(name) {
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            _ => self.text(name, longest),
        }
    }

    fn strict_text(&self, name: &str, longest: usize) -> Result<Option<String>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let text = value.as_str().ok_or_else(|| self.refuse(name, "must be a string"))?;
        if text.chars().count() > longest {
            return Err(self.refuse(name, format_args!("must have at most {longest} characters")));
        }
        Ok(Some(text.to_owned()))
    }

    /// A required http or https URL.
    pub fn required_url(&self, name: &str) -> Result<String, Error> {
        self.strict_url(name)?.ok_or_else(|| self.refuse(name, "is required"))
    }

    /// An optional http or https URL; a blank one is absent.
    pub fn url(&self, name: &str) -> Result<Option<String>, Error> {
        self.optional(self.strict_url(name))
    }

    fn strict_url(&self, name: &str) -> Result<Option<String>, Error> {
        let Some(text) = self.strict_text(name, MAX_URL_CHARS)?.filter(|text| !is_blank(text)) else {
            return Ok(None);
        };
        if link::is_web(&text) { Ok(Some(text)) } else { Err(self.refuse(name, "must be an http:// or https:// URL")) }
    }

    /// An optional http or https URL as it will be called: normalised, and without a fragment, which is never sent.
    pub fn target(&self, name: &str) -> Result<Option<Url>, Error> {
        let Some(text) = self.strict_url(name)? else { return Ok(None) };
        self.normalised(name, &text).map(Some)
    }

    /// The same of a text that stands for the field.
    pub fn normalised(&self, name: &str, text: &str) -> Result<Url, Error> {
        self.refuse_control(name, text)?;
        let url = Url::parse(text).ok().filter(|_| link::is_web(text));
        let mut url = url.ok_or_else(|| self.refuse(name, "must be an http:// or https:// URL"))?;
        url.set_fragment(None);
        if url.as_str().chars().count() > MAX_URL_CHARS {
            return Err(self.refuse(name, format_args!("must have at most {MAX_URL_CHARS} characters when normalised")));
        }
        Ok(url)
    }

    /// Refuses a text with control characters.
    pub fn refuse_control(&self, name: &str, text: &str) -> Result<(), Error> {
        let has_control = text.chars().any(char::is_control);
        if has_control { Err(self.refuse(name, "must not contain control characters")) } else { Ok(()) }
    }

    /// A required positive integer.
    pub fn required_positive(&self, name: &str) -> Result<u64, Error> {
        self.strict_positive(name)?.ok_or_else(|| self.refuse(name, "is required"))
    }

    /// An optional positive integer.
    pub fn positive(&self, name: &str) -> Result<Option<u64>, Error> {
        self.optional(self.strict_positive(name))
    }

    fn strict_positive(&self, name: &str) -> Result<Option<u64>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let number = value.as_u64().filter(|number| (1..=MAX_INTEGER).contains(number));
        number.map(Some).ok_or_else(|| self.refuse(name, format_args!("must be an integer from 1 to {MAX_INTEGER}")))
    }

    /// An optional real number from `-most` to `most`.
    pub fn number(&self, name: &str, most: f64) -> Result<Option<f64>, Error> {
        self.optional(self.strict_number(name, most))
    }

    /// A required real number from `-most` to `most`.
    pub fn required_number(&self, name: &str, most: f64) -> Result<f64, Error> {
        self.strict_number(name, most)?.ok_or_else(|| self.refuse(name, "is required"))
    }

    fn strict_number(&self, name: &str, most: f64) -> Result<Option<f64>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let number = value.as_f64().filter(|number| number.abs() <= most);
        // Smaller ones are below what the store can hold, and mean nothing.
        let number = number.map(|number| if number.abs() < MIN_NUMBER { 0.0 } else { number });
        number.map(Some).ok_or_else(|| self.refuse(name, format_args!("must be a number from -{most} to {most}")))
    }

    /// An optional boolean.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        value.as_bool().map(Some).ok_or_else(|| self.refuse(name, "must be true or false"))
    }

    /// An optional list of whole numbers.
    pub fn integers(&self, name: &str, most: usize) -> Result<Option<Vec<i64>>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let list = value.as_array().filter(|list| list.len() <= most);
        let numbers: Option<Vec<i64>> = list.and_then(|list| list.iter().map(Value::as_i64).collect());
        numbers.map(Some).ok_or_else(|| self.refuse(name, format_args!("must be a list of at most {most} integers")))
    }

    /// One of the names that `parse` knows.
    pub fn one_of<T>(&self, name: &str, names: &str, parse: fn(&str) -> Option<T>) -> Result<Option<T>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let known = value.as_str().and_then(parse);
        known.map(Some).ok_or_else(|| self.refuse(name, format_args!("must be one of {names}")))
    }

    fn optional<T>(&self, read: Result<Option<T>, Error>) -> Result<Option<T>, Error> {
        if self.lenient { Ok(read.unwrap_or(None)) } else { read }
    }
}

/// The smallest number that is not nothing.
const MIN_NUMBER: f64 = 1e-9;

/// Characters of an address.
pub const MAX_URL_CHARS: usize = 4_096;
/// The largest integer that every JSON parser reads exactly.
const MAX_INTEGER: u64 = (1 << 53) - 1;

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
