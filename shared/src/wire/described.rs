//! The fields of bodies that hand-written readers and writers handle: the specification's parts A, B and C, and calls.
//! These types only describe the fields for the generated documents.

use schemars::{JsonSchema, json_schema};
use serde::Serialize;

use crate::wire::values::inline_schema;

#[derive(Serialize, JsonSchema)]
pub struct Success {
    pub result: ResultOk,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResultOk {
    Ok,
}

/// A blank value counts as absent.
#[derive(Default)]
pub struct ShortText;

inline_schema!(ShortText, "ShortText", json_schema!({ "type": ["string", "null"], "maxLength": 1000 }));

pub struct WebUrl;

inline_schema!(
    WebUrl,
    "WebUrl",
    json_schema!({
        "type": "string", "format": "uri", "maxLength": 4096, "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://",
    })
);

/// A blank value counts as absent.
#[derive(Default)]
pub struct WebUrlOrBlank;

inline_schema!(
    WebUrlOrBlank,
    "WebUrlOrBlank",
    json_schema!({
        "type": ["string", "null"], "maxLength": 4096, "pattern": "^(\\s*$|[Hh][Tt][Tt][Pp][Ss]?://)",
    })
);

pub struct Uuid;

inline_schema!(Uuid, "Uuid", json_schema!({ "type": "string", "format": "uuid" }));

pub struct DigitString;

inline_schema!(DigitString, "DigitString", json_schema!({ "type": "string", "pattern": "^[0-9]+$" }));
