//! The errors of the local DynamoDB. Each message is a single line.

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot open the table database: {0}")]
    Open(dynoxide::errors::DynoxideError),
    #[error("the table database: {0}")]
    Engine(#[from] dynoxide::errors::DynoxideError),
    /// The database cannot be prepared for streams.
    #[error("the table database: {0}")]
    Streams(#[from] rusqlite::Error),
    #[error("{0} has no stream")]
    NoStream(String),
    /// The engine's thread or listener cannot be started.
    #[error("the table database cannot be served: {0}")]
    Serve(#[from] std::io::Error),
    /// A stored table has a key schema or an index that differs from the template.
    #[error("{table}: {difference} is not as in the template")]
    Outdated { table: String, difference: String },
    /// The engine cannot represent the template's table definition.
    #[error("{table}: {source}")]
    Definition { table: String, source: serde_json::Error },
}
