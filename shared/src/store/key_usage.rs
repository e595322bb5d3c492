//! Returns the partitions of the tables and indexes that the service's operations read and write. The tool `infra/keys`
//! uses them to estimate how a load is spread. The keys come from the functions that the stores use.

use crate::domain::time_zone::Day;
use crate::store::chats::delivery::due_index::{Backlog, closed_chats_partition};
use crate::store::chats::report_counters::report_counters_key;
use crate::store::chats::visitors::new_chat_rate_limit::opened_chats_key;
use crate::store::chats::{counters_key, header_key, listing_key, visitor_key, visitor_number_key};
use crate::store::connections::presence::presence_key;
use crate::store::connections::request_rate_limit::request_count_key;
use crate::store::connections::sessions::sessions_partition;
use crate::store::connections::sockets::account_sockets_partition;
use crate::store::connections::subscriptions::{
    agent_subscribers_partition, changed_chats_partition, chat_subscribers_partition, subscribers_partition,
};
use crate::store::directory::keys::{channel_key, provider_key, settings_key};
use crate::store::table::Key;

pub fn chat(account_id: &str, chat_id: u64) -> String {
    header_key(account_id, chat_id).pk
}

pub fn visitor(channel_id: &str, external_id: &str) -> String {
    visitor_key(channel_id, external_id).pk
}

/// Returns the partition of the item that maps a number to a visitor.
pub fn visitor_number(account_id: &str, number: u64) -> String {
    visitor_number_key(account_id, number).pk
}

/// Returns the partition of the counters that assign an account's chat numbers and visitor numbers.
pub fn counters(account_id: &str) -> String {
    counters_key(account_id).pk
}

/// Returns the partition that stores how many chats a channel has opened in each rate window.
pub fn opened_chats(channel_id: &str) -> String {
    opened_chats_key(channel_id, 0).pk
}

pub fn report_counters(account_id: &str, day: Day, channel_id: &str, chat_id: u64) -> String {
    report_counters_key(account_id, day, channel_id, chat_id).pk
}

/// Returns the partition key and the sort key of the counters' item. The load on a single item is estimated separately,
/// because DynamoDB can move the items of a partition key to different physical partitions but cannot split an item.
pub fn report_counters_item(account_id: &str, day: Day, channel_id: &str, chat_id: u64) -> String {
    let Key { pk, sk } = report_counters_key(account_id, day, channel_id, chat_id);
    format!("{pk} {sk}")
}

/// Returns the partition of the index `listing` that contains an account's chats in this state.
pub fn listing(account_id: &str, state: &str) -> String {
    listing_key(account_id, state)
}

/// Returns the partition of the index `due` that contains the pending deliveries or the idle check of a chat.
pub fn due(backlog: Backlog, chat_id: u64) -> String {
    backlog.partition_of(chat_id)
}

/// Returns the partition of the index `due` that contains an account's closed chats.
pub fn closed_chats(account_id: &str) -> String {
    closed_chats_partition(account_id)
}

pub fn sessions(account_id: &str, agent_id: u64) -> String {
    sessions_partition(account_id, agent_id)
}

pub fn presence(account_id: &str) -> String {
    presence_key(account_id, 0).pk
}

pub fn account_sockets(account_id: &str) -> String {
    account_sockets_partition(account_id)
}

/// Returns the partition of the account's sockets whose clients have said what they show.
pub fn subscribers(account_id: &str) -> String {
    subscribers_partition(account_id)
}

pub fn agent_subscribers(account_id: &str, agent_id: u64) -> String {
    agent_subscribers_partition(account_id, agent_id)
}

pub fn chat_subscribers(account_id: &str, chat_id: u64) -> String {
    chat_subscribers_partition(account_id, chat_id)
}

/// Returns the partition of the item with the changes of an account's lists.
pub fn changed_chats(account_id: &str) -> String {
    changed_chats_partition(account_id)
}

/// Returns the partition that contains the number of a bot's requests in each rate window.
pub fn bot_requests(bot_id: &str) -> String {
    request_count_key(bot_id, 0).pk
}

pub fn channel(channel_id: &str) -> String {
    channel_key(channel_id).pk
}

/// Returns the partition of an account's settings, agents and departments.
pub fn settings(account_id: &str) -> String {
    settings_key(account_id).pk
}

pub fn provider(provider_id: &str) -> String {
    provider_key(provider_id).pk
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::chats::{entry_key, panel_key};

    #[test]
    fn all_items_of_a_chat_are_in_its_partition() {
        let partition = chat("acc", 7);
        assert_eq!([entry_key("acc", 7, 1).pk, panel_key("acc", 7).pk], [&*partition; 2]);
    }
}
