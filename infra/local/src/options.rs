//! The settings of a host.

use std::collections::BTreeMap;
use std::path::PathBuf;

use axum::Router;

use crate::log::LogSink;

#[derive(Debug, Clone)]
pub struct Options {
    /// Port of the gateway; 0 selects a free port.
    pub port: u16,
    pub storage: HostStorage,
    /// The path of `template.yaml`.
    pub template: PathBuf,
    /// Values that replace the defaults of the template's parameters.
    pub parameters: BTreeMap<String, String>,
    /// The folder of the function binaries, such as `target/debug`.
    pub binaries: PathBuf,
    /// Routes below `/_local/` on the gateway's port. They take precedence over those of the template.
    pub extra_routes: Router,
    /// The destination of the functions' output.
    pub log: LogSink,
}

/// The storage of tables and queues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostStorage {
    /// Nothing persists, so the next host starts empty.
    Memory,
    /// A folder, which is created if it is missing. Only one host can use it at a time.
    Dir(PathBuf),
}
