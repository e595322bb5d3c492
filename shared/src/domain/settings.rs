//! What an admin decides for a whole account.

use super::webhook::Webhook;

/// The settings of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Who is told of chats and calls.
    pub webhooks: Vec<Webhook>,
}
