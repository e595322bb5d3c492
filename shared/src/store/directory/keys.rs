//! The keys of the items in the Directory table (docs/design.md, Storage).

use crate::domain::sha256;
use crate::store::table::Key;

/// The prefix of agents' sort keys.
pub(super) const AGENT_PREFIX: &str = "AGENT#";
/// The prefix of departments' sort keys.
pub(super) const DEPARTMENT_PREFIX: &str = "DEPARTMENT#";

/// Returns the partition that contains the account's own item, its settings, its agents and its departments.
pub(super) fn account_partition(account_id: &str) -> String {
    format!("ACCOUNT#{account_id}")
}

pub(super) fn account_key(account_id: &str) -> Key {
    Key::new(account_partition(account_id), "ACCOUNT")
}

pub(super) fn settings_key(account_id: &str) -> Key {
    Key::new(account_partition(account_id), "SETTINGS")
}

/// Returns the key of the widget's trigger rules. The rules have their own item because the settings are read for every
/// message, and storing the rules with them would make that read more expensive.
pub(super) fn widget_rules_key(account_id: &str) -> Key {
    Key::new(account_partition(account_id), "RULES")
}

pub(super) fn agent_key(account_id: &str, agent_id: u64) -> Key {
    Key::new(account_partition(account_id), format!("{AGENT_PREFIX}{agent_id:010}"))
}

/// Returns the key of a deleted agent's item, which is kept because chats still refer to the agent.
pub(super) fn former_agent_key(account_id: &str, agent_id: u64) -> Key {
    Key::new(account_partition(account_id), format!("FORMER_AGENT#{agent_id:010}"))
}

pub(super) fn department_key(account_id: &str, department_id: u64) -> Key {
    Key::new(account_partition(account_id), format!("{DEPARTMENT_PREFIX}{department_id:010}"))
}

pub(super) fn login_key(email: &str) -> Key {
    Key::new(format!("LOGIN#{email}"), "LOGIN")
}

pub(super) fn channel_key(channel_id: &str) -> Key {
    Key::new(format!("CHANNEL#{channel_id}"), "CHANNEL")
}

pub(super) fn provider_key(provider_id: &str) -> Key {
    Key::new(format!("PROVIDER#{provider_id}"), "PROVIDER")
}

pub(super) fn bot_key(bot_id: &str) -> Key {
    Key::new(format!("BOT#{bot_id}"), "BOT")
}

/// Returns the key of a bot token's item. It contains a hash of the token, not the token itself.
pub(super) fn bot_token_key(provider_id: &str, token: &str) -> Key {
    Key::new(format!("BOT_TOKEN#{provider_id}#{}", sha256::hex_digest(token)), "BOT_TOKEN")
}
