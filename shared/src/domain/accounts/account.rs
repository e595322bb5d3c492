//! Accounts as the operator sees them.

use crate::domain::named::named;
use crate::domain::timestamp::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub account_id: String,
    pub name: String,
    pub created_at: Timestamp,
    pub suspended_at: Option<Timestamp>,
    /// When the operator ordered the deletion of the account.
    pub deleting_since: Option<Timestamp>,
}

named! {
    pub enum AccountState {
        Active = "active",
        Suspended = "suspended",
        Deleting = "deleting",
    }
}

impl Account {
    pub fn state(&self) -> AccountState {
        match (self.deleting_since, self.suspended_at) {
            (Some(_), _) => AccountState::Deleting,
            (None, Some(_)) => AccountState::Suspended,
            (None, None) => AccountState::Active,
        }
    }
}

/// How far the deletion of an account has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletionProgress {
    pub started_at: Timestamp,
    pub phase: DeletionPhase,
    /// The number of items that have been deleted so far.
    pub deleted_items: u64,
}

named! {
    /// The steps of a deletion, in their order. Each phase deletes the account's items in one table.
    ///
    /// First, the items by which requests find the account are deleted: logins, channels and bots. Nothing can be
    /// stored for the account afterwards, so the later phases find everything. The account's own items are deleted
    /// last.
    pub enum DeletionPhase {
        Directory = "directory",
        Connections = "connections",
        Chats = "chats",
        Account = "account",
    }
}

impl DeletionPhase {
    /// Returns the next phase, or `None` after the last one.
    pub(crate) fn next(self) -> Option<Self> {
        match self {
            Self::Directory => Some(Self::Connections),
            Self::Connections => Some(Self::Chats),
            Self::Chats => Some(Self::Account),
            Self::Account => None,
        }
    }
}
