//! `cargo run --bin contract`: generates docs/openapi.json and docs/asyncapi.json from the types of `shared::wire`. With
//! `--check`, only reports whether the files are current.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::{env, fs};

use serde_json::{Value, json};
use shared::contract::{Document, async_document};
use shared::wire;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let is_check = env::args().any(|argument| argument == "--check");
    let openapi = openapi()?;
    let asyncapi = async_document(asyncapi_frame(), &wire::socket_api::channels(), &openapi);
    let mut code = ExitCode::SUCCESS;
    for (name, document) in [("openapi.json", openapi), ("asyncapi.json", asyncapi)] {
        let (path, text) = (format!("{DOCS}/{name}"), serde_json::to_string_pretty(&document)? + "\n");
        if fs::read_to_string(&path).is_ok_and(|before| before == text) {
            continue;
        }
        if is_check {
            writeln!(io::stderr(), "docs/{name} is not current: run `cargo run --bin contract`")?;
            code = ExitCode::FAILURE;
        } else {
            fs::write(&path, text)?;
        }
    }
    Ok(code)
}

/// Returns the OpenAPI document, in which the operations of [`wire::operations`] replace those of the file.
fn openapi() -> Result<Value, Box<dyn Error>> {
    let before = fs::read_to_string(format!("{DOCS}/openapi.json"))?;
    let mut document = Document::new(serde_json::from_str(&before)?);
    document.add(&wire::operations());
    document.add_outgoing(&wire::outgoing_operations());
    Ok(document.finish()?)
}

/// Returns the AsyncAPI document without its channels.
fn asyncapi_frame() -> Value {
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "Switchboard",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The frames of the sockets, and the requests that the service sends to customers' servers. \
                            The HTTP API is described in openapi.json.",
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "defaultContentType": "application/json",
        "servers": {
            "sockets": {
                "host": "example.execute-api.eu-central-1.amazonaws.com",
                "protocol": "wss",
                "description": "The WebSocket API. Its URL is in the response to a request for a ticket.",
            },
            "customer": {
                "host": "customer.example",
                "protocol": "https",
                "description": "A customer's server. Requests are signed (Standard Webhooks).",
            },
        },
    })
}
