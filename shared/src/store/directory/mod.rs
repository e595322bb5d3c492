//! The Directory table: accounts, agents, departments, channels, bots and settings. These rarely change, so each
//! process caches most of them.

pub mod agents;
pub mod bots;
pub mod channels;
pub mod departments;
pub(in crate::store) mod items;
mod keys;
pub mod settings;

use std::sync::Arc;

use crate::domain::account_settings::AccountSettings;
use crate::domain::bot::{Bot, Provider};
use crate::domain::channel::Channel;
use crate::domain::department::Roster;
use crate::error::{Error, ErrorContext};
use crate::runtime::dependencies::{Dependency, StartupContext};
use crate::store::cache::Cache;
use crate::store::table::{Table, WriteError};

/// The maximum number of items that one query request reads. Longer lists need several requests.
const MAX_ITEMS_PER_QUERY: i32 = 1_000;

/// The Directory table and this process's caches.
#[derive(Clone)]
pub struct Directory {
    pub(in crate::store) table: Table,
    channels: Arc<Cache<Channel>>,
    providers: Arc<Cache<Provider>>,
    bots: Arc<Cache<Bot>>,
    settings: Arc<Cache<AccountSettings>>,
    rosters: Arc<Cache<Roster>>,
}

impl Dependency for Directory {
    fn open(startup: &mut StartupContext) -> Self {
        Self::new(Table::open(startup, "DIRECTORY_TABLE"))
    }
}

impl Directory {
    pub fn new(table: Table) -> Self {
        Self {
            table,
            channels: Arc::default(),
            providers: Arc::default(),
            bots: Arc::default(),
            settings: Arc::default(),
            rosters: Arc::default(),
        }
    }
}

/// Returns a function that turns a failed condition into `Conflict` with this message, and returns all other errors
/// unchanged.
fn conflict_or(message: &'static str) -> impl Fn(WriteError) -> Error {
    move |refused| match refused {
        WriteError::ConditionFailed { .. } => Error::Conflict(message),
        WriteError::Contended => Error::Unavailable(ErrorContext::new("contended item")),
        WriteError::Error(error) => error,
    }
}
