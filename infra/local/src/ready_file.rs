//! The ready file: everything a script needs to use this host, written when every function can be called.

use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::demo::Demo;
use crate::home::{self, Error};

/// The addresses and keys of a serving host.
#[derive(Debug, Serialize)]
pub struct Ready<'a> {
    base_url: &'a str,
    channel_base_url: String,
    bot_base_url: String,
    socket_url: String,
    operator_key: &'a str,
    /// None where the stack may not call the demo's receivers.
    demo: Option<&'a Demo>,
}

impl<'a> Ready<'a> {
    /// Puts together what is known once the host serves at `base_url`.
    #[must_use]
    pub fn new(base_url: &'a str, operator_key: &'a str, demo: Option<&'a Demo>) -> Self {
        Self {
            base_url,
            channel_base_url: format!("{base_url}/channel"),
            bot_base_url: format!("{base_url}/bot"),
            socket_url: format!("{}/socket", base_url.replacen("http", "ws", 1)),
            operator_key,
            demo,
        }
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|source| Error::File { path: path.to_owned(), source: source.into() })?;
        home::write_private(path, &text)
    }
}

/// Takes away what an earlier run left, or this one wrote, so that nobody connects to a host that is gone.
///
/// # Errors
/// The file is there and cannot be removed.
pub fn clear(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(Error::File { path: path.to_owned(), source }),
    }
}
