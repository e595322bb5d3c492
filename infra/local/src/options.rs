//! What a host needs to know.

use std::collections::BTreeMap;
use std::path::PathBuf;

use axum::Router;

use crate::log::LogSink;

/// What a host needs to know.
#[derive(Debug, Clone)]
pub struct Options {
    /// Port of the gateway; 0 takes a free one.
    pub port: u16,
    /// Where tables and queues are kept.
    pub storage: Storage,
    /// The path to `template.yaml`.
    pub template: PathBuf,
    /// Values for the template's parameters, instead of their defaults.
    pub parameters: BTreeMap<String, String>,
    /// The folder with the functions' binaries, such as `target/debug`.
    pub binaries: PathBuf,
    /// More routes on the gateway's port, below `/_local/`. They come before the template's.
    pub extra: Router,
    /// Where the output of the functions goes.
    pub log: LogSink,
}

/// Where tables and queues are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Storage {
    /// Nowhere: the next host starts empty.
    Memory,
    /// In a folder, which is made when it is missing. One host at a time.
    Dir(PathBuf),
}
