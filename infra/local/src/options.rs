//! A host's settings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use axum::Router;

use crate::log::LogSink;

#[derive(Debug, Clone)]
pub struct Options {
    /// The gateway's port. If it is 0, a free port is selected.
    pub port: u16,
    pub storage: HostStorage,
    pub template: PathBuf,
    /// The values that override the defaults of the template's parameters, by parameter name.
    pub parameters: BTreeMap<String, String>,
    /// The folder that contains the function binaries, such as `target/debug`.
    pub binaries: PathBuf,
    /// The delay before the functions' requests to `DynamoDB` and SQS are handled. It simulates AWS, where a request
    /// takes a few milliseconds.
    pub store_latency: Duration,
    /// Routes below `/_local/` and `/demo` on the gateway's port. They take precedence over those of the template.
    pub extra_routes: Router,
    pub log: LogSink,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostStorage {
    /// The data is lost when the host stops.
    Memory,
    /// The data is stored in this folder, which is created if it is missing. Only one host at a time can use it.
    Dir(PathBuf),
}
