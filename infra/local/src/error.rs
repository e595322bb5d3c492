//! What keeps a host from serving, or a caller from getting a result.

use std::io;
use std::path::PathBuf;

use crate::permission::Denied;
use crate::{dynamo, lambda, sqs, template};

/// Why the host does not do what was asked; always one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The template cannot be read from disk.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The template.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A mistake in the template.
    #[error("{} {source}", path.display())]
    Template {
        /// The template.
        path: PathBuf,
        /// The mistake and its line.
        source: template::Error,
    },
    /// A function has no binary.
    #[error("{logical_id}: there is no binary {}; build the functions first", path.display())]
    NoBinary {
        /// The function's name in the template.
        logical_id: String,
        /// Where its binary should be.
        path: PathBuf,
    },
    /// The port cannot be had.
    #[error("cannot serve on port {port}: {source}{}", way_out(*port))]
    Port {
        /// The port.
        port: u16,
        /// What the system said.
        source: io::Error,
    },
    /// The data folder cannot be used.
    #[error("cannot use the data folder {}: {source}", path.display())]
    Data {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another host uses the data folder.
    #[error("another host is using the data folder {}", .0.display())]
    DataInUse(PathBuf),
    /// What an earlier run left in the data folder cannot be used.
    #[error("{source}; remove the data folder {} or name another one", path.display())]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<Error>,
    },
    /// The system starts no process.
    #[error("cannot start processes: {0}")]
    Processes(io::Error),
    /// The tables cannot be served.
    #[error(transparent)]
    Tables(#[from] dynamo::Error),
    /// The queues cannot be served.
    #[error(transparent)]
    Queues(#[from] sqs::Error),
    /// Lambda may not consume a queue in the name of the function that the queue feeds.
    #[error("{logical_id}: {denied}")]
    Role {
        /// The function's name in the template.
        logical_id: String,
        /// What its role lacks.
        denied: Denied,
    },
    /// An invocation failed.
    #[error("{function}: {failure}")]
    Invoke {
        /// The function.
        function: String,
        /// Why.
        failure: lambda::Failure,
    },
    /// A result that is not JSON.
    #[error("{function}: its result is not JSON: {source}")]
    Result {
        /// The function.
        function: String,
        /// Why.
        source: serde_json::Error,
    },
    /// `run_schedule` of a function without one.
    #[error("{0} has no schedule")]
    NoSchedule(String),
}

/// A port that was asked for may be somebody else's.
fn way_out(port: u16) -> &'static str {
    if port == 0 { "" } else { "; --port 0 takes a free one" }
}
