//! The keys of the items in the Directory table (docs/design.md, Storage).

use crate::domain::sha256;
use crate::store::table::Key;

/// A prefix of partition keys. The account's id follows it.
pub(in crate::store) const ACCOUNT_PREFIX: &str = "ACCOUNT#";
/// A prefix of partition keys. The channel's id follows it; the item contains the id of the channel's account.
pub(in crate::store) const CHANNEL_PREFIX: &str = "CHANNEL#";
pub(super) const AGENT_PREFIX: &str = "AGENT#";
pub(super) const DEPARTMENT_PREFIX: &str = "DEPARTMENT#";
/// The query of the roster reads the sort keys from agents to departments. Canned replies must not be in this range.
pub(super) const CANNED_REPLY_PREFIX: &str = "REPLY#";

pub(in crate::store) const SETTINGS_SORT_KEY: &str = "SETTINGS";

pub(in crate::store) fn account_partition(account_id: &str) -> String {
    format!("{ACCOUNT_PREFIX}{account_id}")
}

pub(super) fn account_key(account_id: &str) -> Key {
    Key::new(account_partition(account_id), "ACCOUNT")
}

pub(in crate::store) fn settings_key(account_id: &str) -> Key {
    Key::new(account_partition(account_id), SETTINGS_SORT_KEY)
}

/// Returns the key of the trigger rules of the account's widgets. The rules are separate from the settings, because
/// most requests need only the settings, and storing the rules with them would make those reads more expensive.
pub(super) fn widget_rules_key(account_id: &str) -> Key {
    Key::new(account_partition(account_id), "RULES")
}

/// Returns the key of the account's telephony settings. They are separate from the other settings, because they contain
/// the provider's credentials and few requests need them.
pub(super) fn telephony_key(account_id: &str) -> Key {
    Key::new(account_partition(account_id), "TELEPHONY")
}

/// Returns the key of the key with which the account signs the links to its files.
pub(super) fn file_link_key(account_id: &str) -> Key {
    Key::new(account_partition(account_id), "FILE_LINK_KEY")
}

/// Returns the key of the account's key pair for requests to push services.
pub(super) fn web_push_key(account_id: &str) -> Key {
    Key::new(account_partition(account_id), "WEB_PUSH_KEY")
}

pub(super) fn agent_key(account_id: &str, agent_id: u64) -> Key {
    Key::new(account_partition(account_id), format!("{AGENT_PREFIX}{agent_id:010}"))
}

/// Returns the key under which the item of a deleted agent is kept, because chats still refer to the agent.
pub(super) fn former_agent_key(account_id: &str, agent_id: u64) -> Key {
    Key::new(account_partition(account_id), format!("FORMER_AGENT#{agent_id:010}"))
}

pub(super) fn department_key(account_id: &str, department_id: u64) -> Key {
    Key::new(account_partition(account_id), format!("{DEPARTMENT_PREFIX}{department_id:010}"))
}

pub(super) fn canned_reply_key(account_id: &str, reply_id: &str) -> Key {
    Key::new(account_partition(account_id), format!("{CANNED_REPLY_PREFIX}{reply_id}"))
}

/// Returns the key of the item that reserves a shortcut. `shortcut` is the value of
/// [`CannedReply::unique_shortcut`](crate::domain::accounts::canned_reply::CannedReply::unique_shortcut).
pub(super) fn canned_reply_shortcut_key(account_id: &str, shortcut: &str) -> Key {
    Key::new(account_partition(account_id), format!("REPLY_SHORTCUT#{shortcut}"))
}

pub(super) fn login_key(email: &str) -> Key {
    Key::new(format!("LOGIN#{email}"), "LOGIN")
}

pub(in crate::store) fn channel_key(channel_id: &str) -> Key {
    Key::new(format!("{CHANNEL_PREFIX}{channel_id}"), "CHANNEL")
}

pub(in crate::store) fn provider_key(provider_id: &str) -> Key {
    Key::new(format!("PROVIDER#{provider_id}"), "PROVIDER")
}

pub(super) fn bot_key(bot_id: &str) -> Key {
    Key::new(format!("BOT#{bot_id}"), "BOT")
}

/// Returns the key of the item that finds a bot by its token. The key contains a hash of the token, not the token
/// itself.
pub(super) fn bot_token_key(provider_id: &str, token: &str) -> Key {
    Key::new(format!("BOT_TOKEN#{provider_id}#{}", sha256::hex_digest(token)), "BOT_TOKEN")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roster_query_reads_no_canned_replies() {
        let roster = agent_key("acc", 0).sk..=department_key("acc", u64::MAX).sk;
        for key in [
            canned_reply_key("acc", "x"),
            canned_reply_shortcut_key("acc", "x"),
            account_key("acc"),
            telephony_key("acc"),
        ] {
            assert!(!roster.contains(&key.sk), "{}", key.sk);
        }
        assert!(!canned_reply_shortcut_key("acc", "x").sk.starts_with(CANNED_REPLY_PREFIX));
    }
}
