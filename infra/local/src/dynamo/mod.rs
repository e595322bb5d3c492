//! Plays DynamoDB: the engine is the crate `dynoxide-rs`, in this process, on one SQLite file.
//!
//! # Layout
//! - `engine.rs`: the database and the thread that serves it
//! - `tables.rs`: makes the template's tables, or sees that they are there
//! - `contention.rs`: lets writes meet another one, when a test wants it
//! - `proxy.rs`: stands before the engine, allows and counts what each function uses

mod contention;
mod engine;
mod proxy;
mod tables;

pub(crate) use self::engine::Engine;

/// Why the tables cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database cannot be opened.
    #[error("cannot open the table database: {0}")]
    Open(dynoxide::errors::DynoxideError),
    /// The database fails.
    #[error("the table database: {0}")]
    Engine(#[from] dynoxide::errors::DynoxideError),
    /// The database cannot be served.
    #[error("the table database cannot be served: {0}")]
    Serve(#[from] std::io::Error),
    /// The engine's own address makes no URL.
    #[error("the table database has no address: {0}")]
    Address(#[from] axum::http::uri::InvalidUri),
    /// The tables in the data folder are those of another template.
    #[error("{table}: {what} is not as in the template")]
    Outdated {
        /// The table.
        table: String,
        /// Key schema or index.
        what: String,
    },
    /// What the template says is not what the engine's own types can hold.
    #[error("{table}: {source}")]
    Definition {
        /// The table.
        table: String,
        /// Why.
        source: serde_json::Error,
    },
}
