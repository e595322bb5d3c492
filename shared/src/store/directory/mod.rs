//! The Directory table: accounts, agents, departments, channels, bots and their providers, settings (including those of
//! telephony), canned replies, and the audit log of their changes. Most of this data rarely changes, so each process
//! caches the part that messages need.

pub mod accounts;
pub mod agents;
mod assignment_items;
pub mod audit_log;
mod bot_settings_item;
pub mod bots;
mod business_hours;
pub mod canned_replies;
pub mod channels;
pub mod departments;
mod email_settings_item;
mod file_link_keys;
mod file_settings_item;
mod inbox_items;
pub(in crate::store) mod items;
pub(in crate::store) mod keys;
pub mod settings;
mod signing_secrets;
pub mod telephony;
mod web_push_keys;
pub(in crate::store) mod widget_item;

use std::sync::Arc;

use serde_json::Value;

use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::accounts::audit::AuditedRequest;
use crate::domain::accounts::department::Roster;
use crate::domain::bots::bot::{Bot, Provider};
use crate::domain::calls::telephony::Telephony;
use crate::domain::channels::channel::Channel;
use crate::domain::files::file_link::FileLinkKey;
use crate::error::{Error, ErrorContext};
use crate::runtime::dependencies::{Dependency, StartupContext};
use crate::store::cache::Cache;
use crate::store::table::{Table, WriteError};

/// The maximum number of items that one request of a query reads. Longer lists need several requests.
const MAX_ITEMS_PER_QUERY: i32 = 1_000;

#[derive(Clone)]
pub struct Directory {
    pub(in crate::store) table: Table,
    channels: Arc<Cache<Channel>>,
    providers: Arc<Cache<Provider>>,
    bots: Arc<Cache<Bot>>,
    settings: Arc<Cache<AccountSettings>>,
    rosters: Arc<Cache<Roster>>,
    widget_rules: Arc<Cache<Value>>,
    /// The request whose changes the audit log records. `None` means that changes are not recorded.
    audited_request: Option<AuditedRequest>,
    telephony: Arc<Cache<Telephony>>,
    file_link_keys: Arc<Cache<FileLinkKey>>,
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
            widget_rules: Arc::default(),
            audited_request: None,
            telephony: Arc::default(),
            file_link_keys: Arc::default(),
        }
    }
}

/// Returns a function that converts write errors: a failed condition to `Conflict` with `message`, and a contended item
/// to `Unavailable`. It returns all other errors unchanged.
fn conflict_or(message: &'static str) -> impl Fn(WriteError) -> Error {
    move |refused| match refused {
        WriteError::ConditionFailed { .. } => Error::Conflict(message),
        WriteError::Contended => Error::Unavailable(ErrorContext::new("contended item")),
        WriteError::Error(error) => error,
    }
}
