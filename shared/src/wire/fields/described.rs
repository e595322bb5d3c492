//! The fields of bodies that hand-written readers and writers handle: the specification's parts A, B and C, and calls.
//! These types only describe the fields for the generated documents.

use schemars::{JsonSchema, json_schema};
use serde::Serialize;

use crate::wire::fields::values::inline_schema;

#[derive(Serialize, JsonSchema)]
pub struct Success {
    pub result: ResultOk,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResultOk {
    Ok,
}

pub struct Uuid;

inline_schema!(Uuid, "Uuid", json_schema!({ "type": "string", "format": "uuid" }));

pub struct DigitString;

inline_schema!(DigitString, "DigitString", json_schema!({ "type": "string", "pattern": "^[0-9]+$" }));
