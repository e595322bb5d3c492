//! The types of fields. A field's bounds are in its type, so the reader and the OpenAPI document agree on them.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::domain::chats::message_content::truncate_chars;
use crate::domain::named::Named;
use crate::domain::timestamp::Timestamp;

/// 2^53 - 1. Up to this limit, a parser that uses floating-point numbers represents every integer exactly.
pub(crate) const MAX_INTEGER: u64 = (1 << 53) - 1;

/// Implements `JsonSchema` with an inline schema, which appears where the type is used instead of in a component.
macro_rules! inline_schema {
    ([$($generics:tt)*] $type:ty, $name:expr, $schema:expr) => {
        impl<$($generics)*> ::schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                $schema
            }
        }
    };
    ($type:ty, $name:expr, $schema:expr) => {
        inline_schema!([] $type, $name, $schema);
    };
}

pub(in crate::wire) use inline_schema;

/// A non-empty string of at most `MAX` characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Text<const MAX: usize>(pub String);

impl<'de, const MAX: usize> Deserialize<'de> for Text<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let AnyText(text) = AnyText::<MAX>::deserialize(deserializer)?;
        if text.is_empty() { Err(D::Error::custom("is required")) } else { Ok(Self(text)) }
    }
}

inline_schema!([const MAX: usize] Text<MAX>, format!("Text{MAX}"), json_schema!({
    "type": "string", "minLength": 1, "maxLength": MAX,
}));

/// A string of at most `MAX` characters. It can be empty or blank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct AnyText<const MAX: usize>(pub String);

impl<'de, const MAX: usize> Deserialize<'de> for AnyText<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.chars().count() > MAX {
            return Err(D::Error::custom(format_args!("must have at most {MAX} characters")));
        }
        Ok(Self(text))
    }
}

inline_schema!([const MAX: usize] AnyText<MAX>, format!("AnyText{MAX}"), json_schema!({
    "type": "string", "maxLength": MAX,
}));

/// An optional string of at most `MAX` characters. A blank string counts as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionalText<const MAX: usize>(pub Option<String>);

impl<'de, const MAX: usize> Deserialize<'de> for OptionalText<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Option::<AnyText<MAX>>::deserialize(deserializer)?;
        Ok(Self(text.map(|AnyText(text)| text).filter(|text| !text.trim().is_empty())))
    }
}

inline_schema!([const MAX: usize] OptionalText<MAX>, format!("OptionalText{MAX}"), json_schema!({
    "type": ["string", "null"], "maxLength": MAX,
}));

/// An optional string that is truncated to `MAX` characters. A blank string counts as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truncated<const MAX: usize>(pub Option<String>);

impl<'de, const MAX: usize> Deserialize<'de> for Truncated<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?.filter(|text| !text.trim().is_empty());
        Ok(Self(text.map(|text| truncate_chars(&text, MAX))))
    }
}

inline_schema!([const MAX: usize] Truncated<MAX>, format!("Truncated{MAX}"), json_schema!({
    "type": ["string", "null"], "description": format!("Truncated to {MAX} characters."),
}));

/// A text of at most `MAX` characters that is not blank, or a number, which becomes a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextOrNumber<const MAX: usize>(pub String);

impl<'de, const MAX: usize> Deserialize<'de> for TextOrNumber<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let OptionalTextOrNumber(text) = OptionalTextOrNumber::<MAX>::deserialize(deserializer)?;
        text.map(Self).ok_or_else(|| D::Error::custom("is required"))
    }
}

inline_schema!([const MAX: usize] TextOrNumber<MAX>, format!("TextOrNumber{MAX}"), json_schema!({
    "type": ["string", "number"], "minLength": 1, "maxLength": MAX,
}));

/// An optional text of at most `MAX` characters, or a number, which becomes a text. A blank text counts as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionalTextOrNumber<const MAX: usize>(pub Option<String>);

impl<'de, const MAX: usize> Deserialize<'de> for OptionalTextOrNumber<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(Self(None)),
            Value::Number(number) => Ok(Self(Some(number.to_string()))),
            Value::String(text) if text.chars().count() > MAX => {
                Err(D::Error::custom(format_args!("must have at most {MAX} characters")))
            }
            Value::String(text) => Ok(Self(Some(text).filter(|text| !text.trim().is_empty()))),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => Err(D::Error::custom("must be a string")),
        }
    }
}

inline_schema!([const MAX: usize] OptionalTextOrNumber<MAX>, format!("OptionalTextOrNumber{MAX}"), json_schema!({
    "type": ["string", "number", "null"], "maxLength": MAX,
}));

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Whole<const MIN: u64, const MAX: u64>(pub u64);

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u64::deserialize(deserializer)?;
        let invalid = || D::Error::custom(format_args!("must be a whole number from {MIN} to {MAX}"));
        if (MIN..=MAX).contains(&number) { Ok(Self(number)) } else { Err(invalid()) }
    }
}

inline_schema!([const MIN: u64, const MAX: u64] Whole<MIN, MAX>, format!("Whole{MIN}To{MAX}"), json_schema!({
    "type": "integer", "minimum": MIN, "maximum": MAX,
}));

impl<const MIN: u64, const MAX: u64> Whole<MIN, MAX> {
    /// `MAX` must be a 32-bit number.
    pub fn to_u32(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }
}

/// A number that the service assigns. Numbers are sequential, starting from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct SequentialNumber(pub u64);

impl<'de> Deserialize<'de> for SequentialNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Whole::<1, MAX_INTEGER>::deserialize(deserializer).map(|Whole(number)| Self(number))
    }
}

impl JsonSchema for SequentialNumber {
    fn schema_name() -> Cow<'static, str> {
        "SequentialNumber".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "format": "int64", "description": "Sequential from 1." })
    }
}

/// A point in time in Unix seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct UnixSeconds(pub u64);

impl From<Timestamp> for UnixSeconds {
    fn from(time: Timestamp) -> Self {
        Self(time.seconds())
    }
}

impl JsonSchema for UnixSeconds {
    fn schema_name() -> Cow<'static, str> {
        "UnixSeconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0, "format": "int64", "description": "Unix seconds." })
    }
}

/// A list of at most `MAX` items.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct List<T, const MAX: usize>(pub Vec<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for List<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Vec::<T>::deserialize(deserializer)?;
        if items.len() > MAX {
            return Err(D::Error::custom(format_args!("must be a list of at most {MAX} items")));
        }
        Ok(Self(items))
    }
}

impl<T: JsonSchema, const MAX: usize> JsonSchema for List<T, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("ListOf{}", T::schema_name()).into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "maxItems": MAX, "items": schemas.subschema_for::<T>() })
    }
}

/// A change to a field that can be cleared. An absent field stays unchanged, and null clears it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Change<T> {
    #[default]
    Unchanged,
    Cleared,
    Set(T),
}

impl<T> Change<T> {
    /// Returns the new value of a field whose value was `before`.
    pub fn applied_to(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Unchanged => before,
            Self::Cleared => None,
            Self::Set(value) => Some(value),
        }
    }

    /// Returns `None` if the field is unchanged, and `Some(None)` if it is cleared.
    pub fn into_option(self) -> Option<Option<T>> {
        match self {
            Self::Unchanged => None,
            Self::Cleared => Some(None),
            Self::Set(value) => Some(Some(value)),
        }
    }

    /// Returns the new value of a field that null resets to its default.
    pub fn applied_or_reset(self, before: T, default: T) -> T {
        match self {
            Self::Unchanged => before,
            Self::Cleared => default,
            Self::Set(value) => value,
        }
    }

    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Change<U> {
        match self {
            Self::Unchanged => Change::Unchanged,
            Self::Cleared => Change::Cleared,
            Self::Set(value) => Change::Set(convert(value)),
        }
    }

    pub fn try_map<U, E>(self, convert: impl FnOnce(T) -> Result<U, E>) -> Result<Change<U>, E> {
        Ok(match self {
            Self::Unchanged => Change::Unchanged,
            Self::Cleared => Change::Cleared,
            Self::Set(value) => Change::Set(convert(value)?),
        })
    }
}

impl<T> Change<Option<T>> {
    /// A blank value clears the field too.
    pub fn flatten(self) -> Change<T> {
        match self {
            Self::Unchanged => Change::Unchanged,
            Self::Cleared | Self::Set(None) => Change::Cleared,
            Self::Set(Some(value)) => Change::Set(value),
        }
    }
}

/// The field needs `#[serde(default)]`, so that an absent field is unchanged.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<T>::deserialize(deserializer)?.map_or(Self::Cleared, Self::Set))
    }
}

impl<T: JsonSchema> JsonSchema for Change<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("ChangeOf{}", T::schema_name()).into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        Option::<T>::json_schema(schemas)
    }
}

/// A value of an enumeration of the domain, which is written and read by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<T>(pub T);

impl<T> From<T> for Name<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T: Named> Serialize for Name<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de, T: Named> Deserialize<'de> for Name<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOf<T>(PhantomData<T>);

        impl<T: Named> serde::de::Visitor<'_> for OneOf<T> {
            type Value = Name<T>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "one of {}", T::names().join(", "))
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Name<T>, E> {
                let invalid = || E::invalid_value(serde::de::Unexpected::Other("name"), &self);
                T::parse(name).map(Name).ok_or_else(invalid)
            }
        }

        deserializer.deserialize_any(OneOf(PhantomData))
    }
}

impl<T: Named> JsonSchema for Name<T> {
    fn schema_name() -> Cow<'static, str> {
        T::TYPE_NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": T::names() })
    }
}

/// An optional field of a change whose value cannot be null, because it cannot be cleared. The field needs
/// `#[serde(default)]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotNull<T>(pub Option<T>);

impl<T> Default for NotNull<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for NotNull<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(|value| Self(Some(value)))
    }
}

impl<T: JsonSchema> JsonSchema for NotNull<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        T::json_schema(schemas)
    }
}

/// A field that the service leaves out if it has no value, so that it is never null. The field needs
/// `#[serde(skip_serializing_if = "Optional::is_absent")]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Optional<T>(pub Option<T>);

impl<T> Optional<T> {
    pub fn is_absent(&self) -> bool {
        self.0.is_none()
    }
}

impl<T> Default for Optional<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: JsonSchema> JsonSchema for Optional<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        T::json_schema(schemas)
    }
}

/// A field that a request must contain, but that can be null. The field needs
/// `#[serde(deserialize_with = "Nullable::deserialize")]`, because serde reads an absent field as null otherwise.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(transparent)]
pub struct Nullable<T>(pub Option<T>);

impl<T: JsonSchema> JsonSchema for Nullable<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Nullable{}", T::schema_name()).into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        Option::<T>::json_schema(schemas)
    }
}

/// A field that a request must not contain, because it cannot be changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fixed;

impl<'de> Deserialize<'de> for Fixed {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("cannot be changed"))
    }
}

inline_schema!(Fixed, "Fixed", Schema::from(false));

/// The constant true: whether something happened that the response reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct True;

impl Serialize for True {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(true)
    }
}

inline_schema!(True, "True", json_schema!({ "type": "boolean", "const": true }));

/// The constant false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct False;

impl Serialize for False {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(false)
    }
}

inline_schema!(False, "False", json_schema!({ "type": "boolean", "const": false }));

/// The version of the protocol of the sockets and of the widget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtocolVersion;

impl ProtocolVersion {
    const NUMBER: u64 = 1;
}

impl Serialize for ProtocolVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(Self::NUMBER)
    }
}

inline_schema!(ProtocolVersion, "ProtocolVersion", json_schema!({ "type": "integer", "const": Self::NUMBER }));

/// The cursor of the next page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct NextCursor(pub Option<String>);

/// Any JSON object, which the service passes on unread.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct AnyObject(pub serde_json::Map<String, Value>);

inline_schema!(AnyObject, "AnyObject", json_schema!({ "type": "object" }));

/// Any JSON value, which the service passes on unread.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct AnyValue(pub Value);

inline_schema!(AnyValue, "AnyValue", json_schema!({}));
