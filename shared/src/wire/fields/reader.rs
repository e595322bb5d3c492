//! Reads a JSON body or the query of a request into a type of the contract. Unknown fields are ignored, and null counts
//! as absent. An error contains the path of the invalid field, but never its value, which could be a secret or a
//! message text. serde_json's own errors quote the value, so this module has a deserializer of its own.

use std::fmt::Display;

use serde::de::{self, DeserializeOwned, DeserializeSeed, Expected, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::map::Iter;
use serde_json::{Map, Value};

use crate::domain::text::digits::parse_canonical_number;
use crate::error::Error;

/// Reads a body. Fails if the body is not a JSON object or if a field is invalid.
pub fn read<T: DeserializeOwned>(body: &Value) -> Result<T, Error> {
    if !body.is_object() {
        return Err(Error::body("the body must be a JSON object"));
    }
    T::deserialize(Reader { value: body, is_query: false }).map_err(Problem::into_error)
}

/// Reads the parameters of a query, whose values are texts. A number must be in its canonical form.
pub fn read_query<T: DeserializeOwned>(parameters: impl IntoIterator<Item = (String, String)>) -> Result<T, Error> {
    let fields: Map<String, Value> = parameters.into_iter().map(|(name, text)| (name, Value::String(text))).collect();
    T::deserialize(Reader { value: &Value::Object(fields), is_query: true }).map_err(Problem::into_error)
}

/// An invalid field: its path, which is empty for the body itself, and what is expected of it.
#[derive(Debug)]
pub(crate) struct Problem {
    path: String,
    expected: String,
    /// Whether the value must be an object.
    is_object: bool,
}

impl Problem {
    pub(crate) fn new(expected: impl Display) -> Self {
        Self { path: String::new(), expected: expected.to_string(), is_object: false }
    }

    fn not_an_object() -> Self {
        Self { is_object: true, ..Self::new("must be an object") }
    }

    fn required() -> Self {
        Self::new("is required")
    }

    fn inside(mut self, name: &str) -> Self {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{name}{separator}{}", self.path);
        self
    }

    /// If an item that is not an object is invalid, the path is that of its list, because clients show one message for
    /// a list of texts or numbers.
    fn in_item(mut self, index: usize) -> Self {
        if self.path.is_empty() && self.is_object {
            self.path = format!("[{index}]");
            return self;
        }
        if self.path.is_empty() {
            return Self::new(format_args!("item {} {}", index + 1, self.expected));
        }
        self.path = format!("[{index}].{}", self.path);
        self
    }

    fn into_error(self) -> Error {
        if self.path.is_empty() { Error::body(self.expected) } else { Error::field(self.path, self.expected) }
    }
}

impl Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.path, self.expected)
    }
}

impl std::error::Error for Problem {}

impl de::Error for Problem {
    fn custom<T: Display>(expected: T) -> Self {
        Self::new(expected)
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format_args!("must be {expected}"))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format_args!("must be {expected}"))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format_args!("must be one of {}", expected.join(", ")))
    }

    fn missing_field(name: &'static str) -> Self {
        Self::required().inside(name)
    }
}

#[derive(Clone, Copy)]
struct Reader<'de> {
    value: &'de Value,
    /// Whether the value is a parameter of a query, so that a number or a boolean is a text.
    is_query: bool,
}

impl<'de> Reader<'de> {
    /// Fails with `expected` unless the value is missing, which is reported as such.
    fn invalid<T>(self, expected: &str) -> Result<T, Problem> {
        if self.value.is_null() { Err(Problem::required()) } else { Err(Problem::new(expected)) }
    }

    fn whole_number(self) -> Option<i128> {
        if self.is_query {
            return self.value.as_str().and_then(parse_canonical_number).map(i128::from);
        }
        self.value.as_u64().map(i128::from).or_else(|| self.value.as_i64().map(i128::from))
    }
}

macro_rules! whole_numbers {
    ($($method:ident => $visit:ident: $type:ty,)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
            match self.whole_number().and_then(|number| <$type>::try_from(number).ok()) {
                Some(number) => visitor.$visit(number),
                None => self.invalid("must be a whole number"),
            }
        }
    )+};
}

impl<'de> de::Deserializer<'de> for Reader<'de> {
    type Error = Problem;

    whole_numbers! {
        deserialize_u8 => visit_u8: u8,
        deserialize_u16 => visit_u16: u16,
        deserialize_u32 => visit_u32: u32,
        deserialize_u64 => visit_u64: u64,
        deserialize_i8 => visit_i8: i8,
        deserialize_i16 => visit_i16: i16,
        deserialize_i32 => visit_i32: i32,
        deserialize_i64 => visit_i64: i64,
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), _, _) => visitor.visit_u64(number),
                (_, Some(number), _) => visitor.visit_i64(number),
                (_, _, Some(number)) => visitor.visit_f64(number),
                (None, None, None) => self.invalid("must be a number"),
            },
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(_) => self.deserialize_seq(visitor),
            Value::Object(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let in_query = if self.is_query { self.value.as_str().and_then(|text| text.parse().ok()) } else { None };
        match self.value.as_bool().or(in_query) {
            Some(value) => visitor.visit_bool(value),
            None => self.invalid("must be true or false"),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.value.as_f64() {
            Some(number) => visitor.visit_f64(number),
            None => self.invalid("must be a number"),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.value.as_str() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => self.invalid("must be a string"),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.value.as_array() {
            Some(items) => visitor.visit_seq(Items { items: items.iter(), index: 0 }),
            None => self.invalid("must be a list"),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.value.as_object() {
            Some(fields) => {
                visitor.visit_map(Entries { entries: fields.iter(), current: None, is_query: self.is_query })
            }
            None if self.value.is_null() => Err(Problem::required()),
            None => Err(Problem::not_an_object()),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        match self.value.as_str() {
            Some(name) => visitor.visit_enum(de::value::BorrowedStrDeserializer::new(name)),
            None => self.invalid(&format!("must be one of {}", variants.join(", "))),
        }
    }

    /// Each part of a tuple reads the whole value, so that several bodies can have fields in common. An error names its
    /// field, which it would not with `serde(flatten)`.
    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_seq(Parts { whole: self, left: len })
    }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple_struct identifier ignored_any
    }
}

struct Parts<'de> {
    whole: Reader<'de>,
    left: usize,
}

impl<'de> de::SeqAccess<'de> for Parts<'de> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Problem> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        seed.deserialize(self.whole).map(Some)
    }
}

struct Items<'de> {
    items: std::slice::Iter<'de, Value>,
    index: usize,
}

impl<'de> de::SeqAccess<'de> for Items<'de> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Problem> {
        let Some(value) = self.items.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        let item = seed.deserialize(Reader { value, is_query: false });
        item.map(Some).map_err(|problem| problem.in_item(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Entries<'de> {
    entries: Iter<'de>,
    current: Option<(&'de str, &'de Value)>,
    is_query: bool,
}

impl<'de> de::MapAccess<'de> for Entries<'de> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Problem> {
        let Some((name, value)) = self.entries.next() else { return Ok(None) };
        self.current = Some((name, value));
        seed.deserialize(de::value::BorrowedStrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Problem> {
        let (name, value) = self.current.take().ok_or_else(Problem::required)?;
        let value = seed.deserialize(Reader { value, is_query: self.is_query });
        value.map_err(|problem| problem.inside(name))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, Debug)]
    struct Outer {
        name: String,
        count: Option<u32>,
        inner: Option<Inner>,
        list: Option<Vec<Inner>>,
    }

    #[derive(Deserialize, Debug)]
    struct Inner {
        flag: bool,
    }

    #[test]
    fn error_names_the_path_of_the_field_and_not_its_value() {
        for (field, body) in [
            (Some("name"), json!({})),
            (Some("name"), json!({ "name": null })),
            (Some("name"), json!({ "name": 7 })),
            (Some("count"), json!({ "name": "secret", "count": "secret" })),
            (Some("count"), json!({ "name": "secret", "count": -1 })),
            (Some("count"), json!({ "name": "secret", "count": 1.5 })),
            (Some("inner"), json!({ "name": "secret", "inner": "secret" })),
            (Some("inner.flag"), json!({ "name": "secret", "inner": {} })),
            (Some("inner.flag"), json!({ "name": "secret", "inner": { "flag": "secret" } })),
            (Some("list"), json!({ "name": "secret", "list": {} })),
            (Some("list[1].flag"), json!({ "name": "secret", "list": [{ "flag": true }, { "flag": 0 }] })),
            (None, json!([])),
        ] {
            let error = read::<Outer>(&body).unwrap_err();
            assert_eq!(error.invalid_field(), field, "{body}");
            let error_of_a_part = read::<(Value, Outer)>(&body).unwrap_err();
            assert_eq!(error_of_a_part.invalid_field(), field, "{body}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn unknown_fields_are_ignored_and_null_counts_as_absent() {
        let body = json!({ "name": "a", "count": null, "inner": { "flag": true }, "unknown": { "a": [1] } });
        let Outer { name, count, inner, list } = read(&body).unwrap();
        assert_eq!((&*name, count), ("a", None));
        assert!(inner.unwrap().flag && list.is_none());
    }

    #[test]
    fn query_contains_numbers_as_texts() {
        let query = |count: &str| {
            let parameters = [("name", "7"), ("count", count)].map(|(name, text)| (name.to_owned(), text.to_owned()));
            read_query::<Outer>(parameters)
        };
        assert_eq!(query("12").unwrap().count, Some(12));
        for invalid in ["", "012", "x", "-1", "1.0", "99999999999999999999"] {
            assert_eq!(query(invalid).unwrap_err().invalid_field(), Some("count"), "{invalid}");
        }
    }
}
