//! The ready file is a JSON file that contains everything a script needs to use this host. It is written when all
//! functions can be called, and removed when the host stops in an orderly way.

use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::demo::DemoAccount;
use crate::demo::welcome::{console_url, demo_url};
use crate::file_store::{self, Error};
use crate::host::{FunctionVariables, Host};

#[derive(Debug, Serialize)]
pub struct ReadyFile<'a> {
    base_url: &'a str,
    channel_base_url: String,
    bot_base_url: String,
    socket_url: String,
    console_url: String,
    operator_key: &'a str,
    /// The URL of the demo site. `None` without a demo account.
    demo_url: Option<String>,
    /// The demo account. `None` if the template's parameters do not allow functions to call the demo's receivers.
    demo: Option<&'a DemoAccount>,
    functions: &'a FunctionVariables,
}

impl<'a> ReadyFile<'a> {
    #[must_use]
    pub fn new(host: &'a Host, operator_key: &'a str, demo: Option<&'a DemoAccount>) -> Self {
        let base_url = host.base_url();
        Self {
            base_url,
            channel_base_url: format!("{base_url}/channel"),
            bot_base_url: format!("{base_url}/bot"),
            socket_url: format!("{}/socket", base_url.replacen("http", "ws", 1)),
            console_url: console_url(base_url),
            operator_key,
            demo_url: demo.map(|_| demo_url(base_url)),
            demo,
            functions: host.function_variables(),
        }
    }

    /// Writes the file atomically, so that no script reads an incomplete file.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|source| Error::File { path: path.to_owned(), source: source.into() })?;
        file_store::write_private_file(path, &text)
    }
}

/// Removes the ready file that this run or an earlier one wrote, so that no script connects to a host that has stopped.
/// A missing file is not an error.
pub fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(Error::File { path: path.to_owned(), source }),
    }
}
