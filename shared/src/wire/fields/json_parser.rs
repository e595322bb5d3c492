//! A JSON parser that rejects objects with duplicate keys (specification, Errors: "a duplicated parameter"). The
//! default parser of `serde_json` accepts a duplicate key and uses its last value.

use std::cell::RefCell;
use std::fmt::{self, Display, Formatter};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::domain::chats::message_content::truncate_chars;
use crate::error::Error;

/// The maximum length of a duplicate key's path in an error response.
const MAX_PATH_CHARS: usize = 255;
/// The largest integer up to which all integers have an exact value as a floating-point number: 2^53 - 1.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Parses a body. If an object in the body contains a duplicate key, the error contains the path of that key.
pub fn parse(text: &str) -> Result<Value, Error> {
    let duplicate = RefCell::default();
    let mut input = serde_json::Deserializer::from_str(text);
    let parsed = ValueSeed { path: &JsonPath::Body, duplicate: &duplicate }.deserialize(&mut input);
    let value = parsed.and_then(|value| input.end().map(|()| value));
    // The error message contains the position of the error and what the parser expected, but no part of the body.
    let value = value.map_err(|error| Error::body(format!("the body is not valid JSON: {error}")))?;
    match duplicate.into_inner() {
        None => Ok(value),
        Some(path) => Err(Error::field(truncate_chars(&path, MAX_PATH_CHARS), "is repeated")),
    }
}

/// The path of a value in the body, such as `message.buttons[0].text`.
enum JsonPath<'a> {
    Body,
    Field(&'a JsonPath<'a>, &'a str),
    Item(&'a JsonPath<'a>, usize),
}

impl Display for JsonPath<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body => Ok(()),
            Self::Field(Self::Body, name) => f.write_str(name),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Deserializes the value at `path`. The first duplicate key is recorded in `duplicate` and does not stop the parser.
/// If a syntax error follows, only the syntax error is reported.
struct ValueSeed<'a> {
    path: &'a JsonPath<'a>,
    duplicate: &'a RefCell<Option<String>>,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    /// A number without a fraction, such as `12.0`, is an integer. Some JSON libraries write every number like this.
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        if value.fract() == 0.0 && value.abs() <= MAX_EXACT_INTEGER {
            return Ok(Value::from(value as i64));
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let Self { path, duplicate } = self;
        let mut list = Vec::new();
        while let Some(item) =
            items.next_element_seed(ValueSeed { path: &JsonPath::Item(path, list.len()), duplicate })?
        {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let Self { path, duplicate } = self;
        let mut object = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let child = JsonPath::Field(path, &name);
            let value = entries.next_value_seed(ValueSeed { path: &child, duplicate })?;
            if object.contains_key(&name) {
                duplicate.borrow_mut().get_or_insert_with(|| child.to_string());
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn duplicate_key_is_named_by_its_path() {
        let table = [
            (r#"{"a": 1, "b": 2, "a": 1}"#, "a"),
            (r#"{"a": {"b": 1, "c": 2, "b": 3}}"#, "a.b"),
            (r#"{"a": {"b": [1, {"c": 1}, {"c": 1, "c": 2}]}}"#, "a.b[2].c"),
            (r#"{"a": 1, "\u0061": 2}"#, "a"),
            (r#"[{"a": 1}, {"b": {}, "b": {}}]"#, "[1].b"),
            (r#"{"a": {"x": 1, "x": 2}, "a": 1}"#, "a.x"),
        ];
        for (body, path) in table {
            let error = parse(body).unwrap_err();
            assert_eq!((error.status(), error.invalid_field()), (400, Some(path)), "{body}");
            assert_eq!(error.to_string(), format!("{path} is repeated"));
        }
        let long = format!(r#"{{"{0}": 1, "{0}": 2}}"#, "x".repeat(10_000));
        assert_eq!(parse(&long).unwrap_err().invalid_field().unwrap().len(), MAX_PATH_CHARS);
    }

    #[test]
    fn number_without_a_fraction_is_an_integer() {
        for (text, number) in [("12.0", Value::from(12)), ("-3e2", Value::from(-300)), ("-0.0", Value::from(0))] {
            assert_eq!(parse(text).unwrap(), number, "{text}");
        }
        assert_eq!(parse("9007199254740991.0").unwrap().as_u64(), Some(9_007_199_254_740_991));
        for text in ["0.5", "9007199254740992.0", "1e300"] {
            assert!(parse(text).unwrap().is_f64(), "{text}");
        }
    }

    #[test]
    fn syntax_error_names_no_field() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        for body in [r#"{"a": 1, "a": 2"#, "{", "{} {}", "1e999", "{'a': 1}", &deep] {
            let error = parse(body).unwrap_err();
            assert_eq!((error.status(), error.invalid_field()), (400, None), "{body:.20}");
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_filter("a number with a fraction", |number| number.fract() != 0.0).prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(".*", inner, 0..4).prop_map(|fields| fields.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn body_without_duplicate_keys_parses_as_in_serde_json(value in json()) {
            let text = value.to_string();
            prop_assert_eq!(parse(&text).unwrap(), serde_json::from_str::<Value>(&text).unwrap());
        }
    }
}
