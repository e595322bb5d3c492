//! JSON bodies in which no object repeats a key (specification, Errors: "a duplicated parameter"); of a repeated key
//! `serde_json` alone takes the last value.

use std::cell::RefCell;
use std::fmt::{self, Display, Formatter};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::domain::content::cut;
use crate::error::Error;

/// Characters of the place of a repeated key in an error.
const MAX_PLACE_CHARS: usize = 255;

/// Reads a body. The error names the key that is repeated, by its place in the body.
pub fn parse(text: &str) -> Result<Value, Error> {
    let repeated = RefCell::default();
    let mut input = serde_json::Deserializer::from_str(text);
    let read = Node { place: &Place::Body, repeated: &repeated }.deserialize(&mut input);
    let value = read.and_then(|value| input.end().map(|()| value));
    // The parser's message tells the place and what it expected, never what was there.
    let value = value.map_err(|error| Error::body(format!("the body is not valid JSON: {error}")))?;
    match repeated.into_inner() {
        None => Ok(value),
        Some(place) => Err(Error::field(cut(&place, MAX_PLACE_CHARS), "is repeated")),
    }
}

/// Where a value is in the body.
enum Place<'a> {
    Body,
    Field(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl Display for Place<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body => Ok(()),
            Self::Field(Self::Body, name) => f.write_str(name),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// A value that is being read. The first repeated key is noted, so that what is no JSON at all is still told so.
struct Node<'a> {
    place: &'a Place<'a>,
    repeated: &'a RefCell<Option<String>>,
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
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

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let Self { place, repeated } = self;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Node { place: &Place::Item(place, list.len()), repeated })? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let Self { place, repeated } = self;
        let mut object = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let here = Place::Field(place, &name);
            let value = entries.next_value_seed(Node { place: &here, repeated })?;
            if object.contains_key(&name) {
                repeated.borrow_mut().get_or_insert_with(|| here.to_string());
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
    fn repeated_key_is_named_by_its_place() {
        let table = [
            (r#"{"a": 1, "b": 2, "a": 1}"#, "a"),
            (r#"{"a": {"b": 1, "c": 2, "b": 3}}"#, "a.b"),
            (r#"{"a": {"b": [1, {"c": 1}, {"c": 1, "c": 2}]}}"#, "a.b[2].c"),
            (r#"{"a": 1, "\u0061": 2}"#, "a"),
            (r#"[{"a": 1}, {"b": {}, "b": {}}]"#, "[1].b"),
            (r#"{"a": {"x": 1, "x": 2}, "a": 1}"#, "a.x"),
        ];
        for (body, place) in table {
            let error = parse(body).unwrap_err();
            assert_eq!((error.status(), error.wrong_field()), (400, Some(place)), "{body}");
            assert_eq!(error.to_string(), format!("{place} is repeated"));
        }
        let long = format!(r#"{{"{0}": 1, "{0}": 2}}"#, "x".repeat(10_000));
        assert_eq!(parse(&long).unwrap_err().wrong_field().unwrap().len(), MAX_PLACE_CHARS);
    }

    #[test]
    fn body_that_is_no_json_is_refused_as_a_whole() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        for body in [r#"{"a": 1, "a": 2"#, "{", "{} {}", "1e999", "{'a': 1}", &deep] {
            let error = parse(body).unwrap_err();
            assert_eq!((error.status(), error.wrong_field()), (400, None), "{body:.20}");
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
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
        fn value_without_repeated_keys_is_read_as_serde_json_reads_it(value in json()) {
            let text = value.to_string();
            prop_assert_eq!(parse(&text).unwrap(), serde_json::from_str::<Value>(&text).unwrap());
        }
    }
}
