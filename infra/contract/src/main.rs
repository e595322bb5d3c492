//! `cargo run --bin contract`: generates docs/openapi.json from the types of `shared::wire`. With `--check`, only
//! reports whether the file is current.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::{env, fs};

use serde_json::{Value, json};
use shared::contract::Document;
use shared::wire;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let before = fs::read_to_string(DOCUMENT)?;
    let text = generate(&before)?;
    if text == before {
        return Ok(ExitCode::SUCCESS);
    }
    if env::args().any(|argument| argument == "--check") {
        writeln!(io::stderr(), "docs/openapi.json is not current: run `cargo run --bin contract`")?;
        return Ok(ExitCode::FAILURE);
    }
    fs::write(DOCUMENT, text)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the document in which the operations of [`wire::operations`] replace those of `before`.
fn generate(before: &str) -> Result<String, Box<dyn Error>> {
    let mut document = Document::new(serde_json::from_str(before)?);
    document.add(&wire::operations());
    document.add_outgoing(&wire::outgoing_operations());
    let mut document = document.finish()?;
    remove_unreferenced(&mut document);
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Removes the components that nothing refers to.
fn remove_unreferenced(document: &mut Value) {
    let mut found = BTreeSet::new();
    let mut open: Vec<String> = references(&json!([document["paths"], document["webhooks"]]));
    while let Some(reference) = open.pop() {
        if found.insert(reference.clone()) {
            open.extend(document.pointer(&reference).map(references).unwrap_or_default());
        }
    }
    for section in ["schemas", "responses", "parameters", "requestBodies", "headers"] {
        if let Some(components) = document.pointer_mut(&format!("/components/{section}")).and_then(Value::as_object_mut)
        {
            components.retain(|name, _| found.contains(&format!("/components/{section}/{name}")));
        }
    }
}

/// Returns the JSON pointers to which a part of the document refers.
fn references(part: &Value) -> Vec<String> {
    let fields = part.as_object().into_iter().flatten();
    let own = part.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    let parts = fields.map(|(_, field)| field).chain(part.as_array().into_iter().flatten());
    own.map(str::to_owned).into_iter().chain(parts.flat_map(references)).collect()
}
