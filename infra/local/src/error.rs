//! The errors that can occur when a host starts or its functions are called. Each message is a single line.

use std::io;
use std::path::PathBuf;

use crate::aws::iam::AccessDenied;
use crate::host::Busy;
use crate::random_and_digest::RandomError;
use crate::{dynamo, lambda, s3, sqs, template};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot read {}: {source}", path.display())]
    ReadTemplate { path: PathBuf, source: io::Error },
    /// The template is invalid. `source` contains the line number.
    #[error("{} {source}", path.display())]
    Template { path: PathBuf, source: template::Error },
    #[error("{logical_id}: there is no binary {}; build the functions first", path.display())]
    MissingBinary {
        /// The name of the function in the template.
        logical_id: String,
        /// The path where the binary is expected.
        path: PathBuf,
    },
    #[error("cannot serve on port {port}: {source}{}", free_port_hint(*port))]
    Port { port: u16, source: io::Error },
    #[error("cannot use the data folder {}: {source}", path.display())]
    DataFolder { path: PathBuf, source: io::Error },
    #[error("another host is using the data folder {}", .0.display())]
    DataFolderInUse(PathBuf),
    /// The data folder contains files from an earlier run that this host cannot open or that do not match the template.
    #[error("{source}; remove the data folder {} or name another one", path.display())]
    UnusableData { path: PathBuf, source: Box<Error> },
    #[error("cannot start processes: {0}")]
    ProcessStart(io::Error),
    #[error("cannot keep what customers receive: {0}")]
    CustomerAws(io::Error),
    #[error("cannot keep sent e-mails: {0}")]
    SentEmails(io::Error),
    #[error("cannot set the clock: {0}")]
    Clock(io::Error),
    /// [`Host::advance_to_next_message`](crate::Host::advance_to_next_message) has waited for too long.
    #[error("the host is still busy: {0}")]
    StillBusy(Busy),
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error(transparent)]
    Tables(#[from] dynamo::Error),
    #[error(transparent)]
    Queues(#[from] sqs::Error),
    #[error(transparent)]
    Objects(#[from] s3::StorageError),
    /// A function's role lacks a permission that its event source mapping needs.
    #[error("{logical_id}: {denied}")]
    MissingPermission {
        /// The name of the function in the template.
        logical_id: String,
        denied: AccessDenied,
    },
    #[error("{function}: {error}")]
    Invocation { function: String, error: lambda::InvocationError },
    #[error("{function}: its result is not JSON: {source}")]
    InvalidResult { function: String, source: serde_json::Error },
    #[error("{0} has no schedule")]
    NoSchedule(String),
}

/// Returns a hint to select a free port, or an empty string if port 0 was requested.
fn free_port_hint(port: u16) -> &'static str {
    if port == 0 { "" } else { "; --port 0 takes a free one" }
}
