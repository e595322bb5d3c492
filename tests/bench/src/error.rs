//! The error of the benchmarks.

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Driver(#[from] cost::Error),
    #[error(transparent)]
    Api(#[from] local::api_client::Error),
    #[error(transparent)]
    Host(#[from] local::Error),
    #[error(transparent)]
    Random(#[from] local::random_and_digest::RandomError),
    #[error("cannot read the queues: {0}")]
    Queues(#[from] local::sqs::Error),
    #[error("{0}: {1}")]
    File(String, std::io::Error),
    #[error("the network or a process failed: {0}")]
    Io(#[from] std::io::Error),
    #[error("a request failed: {0}")]
    Http(#[from] reqwest::Error),
    #[error("not the expected JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Histogram(#[from] hdrhistogram::CreationError),
    #[error("the socket failed: {0}")]
    Socket(String),
    #[error("a task failed: {0}")]
    Task(#[from] tokio::task::JoinError),
    /// A measured program or the service did something unexpected.
    #[error("{0}")]
    Unexpected(String),
}

impl Error {
    pub(crate) fn unexpected(reason: impl Into<String>) -> Self {
        Self::Unexpected(reason.into())
    }
}
