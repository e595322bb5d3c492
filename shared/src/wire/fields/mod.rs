//! How bodies and queries are read, and the types of their fields.

pub mod described;
pub mod json_fields;
pub mod json_parser;
pub(crate) mod query_parameters;
pub mod reader;
pub mod urls;
pub mod values;
