//! `cargo run --bin contract`: generates docs/openapi.json and docs/asyncapi.json from the types of `shared::wire`.
//! With `--check`, only reports whether the files are current.

mod frame;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::{env, fs};

use serde_json::Value;
use shared::contract::{Document, async_document};
use shared::wire;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let is_check = env::args().any(|argument| argument == "--check");
    let openapi = openapi()?;
    let asyncapi = async_document(frame::asyncapi(), &wire::sockets::socket_api::channels())?;
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

fn openapi() -> Result<Value, Box<dyn Error>> {
    let mut document = Document::new(frame::openapi());
    document.add(&wire::operations());
    document.add_outgoing(&wire::outgoing_operations());
    Ok(document.finish()?)
}
