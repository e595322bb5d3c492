use std::collections::BTreeMap;

use crate::domain::accounts::agent_presence::SocketPresence;
use crate::domain::accounts::assignment::{Assignment, AssignmentMode, AssignmentRule};
use crate::runtime::table_stream::ItemChange;
use crate::store::table_changes::{ChatItemChange, TableChange, parse_change};
use crate::store::tests::*;

async fn all_items(stores: &Stores) -> BTreeMap<String, Item> {
    let scan = |table: &str| stores.client.scan().table_name(table).consistent_read(true).send();
    let tables = join_all(["directory", "chats", "connections"].map(scan)).await;
    let items = tables.into_iter().flat_map(|page| page.unwrap().items.unwrap());
    items.map(|item| (format!("{:?} {:?}", item["pk"], item["sk"]), item)).collect()
}

/// Runs an action and returns the parsed changes of the items that the action has changed, one for each item. A stream
/// would report each write to an item separately.
async fn changes_of(stores: &Stores, action: impl Future<Output = ()>) -> Vec<(String, TableChange)> {
    let before = all_items(stores).await;
    action.await;
    let after = all_items(stores).await;
    let keys: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change = |key: &&String| ItemChange { before: before.get(*key).cloned(), after: after.get(*key).cloned() };
    let changed = keys.iter().map(change).filter(|change| change.before != change.after);
    changed.filter_map(|change| parse_change(change).unwrap()).collect()
}

/// Returns the changes to chats. Checks that all of them concern chat 1.
fn chat_changes(changes: Vec<(String, TableChange)>) -> Vec<ChatItemChange> {
    let chat_change = |(account_id, change): (String, TableChange)| match change {
        TableChange::Chat { chat_id, change } => {
            assert_eq!((account_id.as_str(), chat_id), ("acc", 1));
            Some(change)
        }
        _ => None,
    };
    changes.into_iter().filter_map(chat_change).collect()
}

#[tokio::test]
async fn new_message_is_a_change_of_header_and_timeline() {
    let stores = stores().await;
    let opened = changes_of(&stores, async { _ = stores.visitor_writes("v", "hi", NOW).await.unwrap() }).await;
    let [entry, header, visitor] = &chat_changes(opened)[..] else { panic!("three changes") };
    let stored = stores.chats.entry("acc", 1, 1).await.unwrap().unwrap();
    assert_eq!(*entry, ChatItemChange::Entry { before: None, after: Box::new(stored) });
    let after_first = stores.chat_header(1).await;
    assert_eq!(*header, ChatItemChange::Header { before: None, after: Some(Box::new(after_first.clone())) });
    assert!(matches!(visitor, ChatItemChange::Visitor { before: None, after } if after.open_chat == Some(1)));
    let next = changes_of(&stores, async { _ = stores.visitor_writes("v", "again", NOW).await.unwrap() }).await;
    let [_, header] = &chat_changes(next)[..] else { panic!("two changes") };
    let (before, after) = (Some(Box::new(after_first)), Some(Box::new(stores.chat_header(1).await)));
    assert_eq!(*header, ChatItemChange::Header { before, after });
}

#[tokio::test]
async fn changed_entry_and_panel_have_their_earlier_values() {
    let stores = stores().await;
    let seq = stores.chat_with_pending_message().await;
    let before = stores.chats.entry("acc", 1, seq).await.unwrap().unwrap();
    let deliver = async {
        let attempt = Attempt { at: NOW, status: Some(200), duration_ms: 1, error: None, answer: None };
        let delivery = before.delivery.clone().unwrap();
        assert!(
            stores.chats.record_attempt(&before, &delivery, &attempt, (&DeliveryUpdate::Delivered, &[])).await.unwrap()
        );
    };
    let [change] = &chat_changes(changes_of(&stores, deliver).await)[..] else { panic!("one change") };
    let after = Box::new(stores.chats.entry("acc", 1, seq).await.unwrap().unwrap());
    assert_eq!(*change, ChatItemChange::Entry { before: Some(Box::new(before)), after });
    let chat = stores.chat_header(1).await;
    let update = PanelUpdate { enable_assign: Some(true), ..PanelUpdate::default() };
    let panel = async { stores.chats.update_panel(&chat, &update).await.unwrap() };
    let after = Box::new(Panel { enable_assign: true, ..Panel::default() });
    let expected = ChatItemChange::Panel { before: Box::default(), after };
    assert_eq!(chat_changes(changes_of(&stores, panel).await), [expected]);
}

#[tokio::test]
async fn presence_and_ended_sessions_belong_to_their_account() {
    let stores = stores().await;
    let connections = &stores.connections;
    let session = signed_in(connections).await;
    let socket = async { drop(open_socket(connections, &session, "one", NOW).await) };
    let opened = changes_of(&stores, socket).await;
    let socket = SocketPresence::OpenUntil(seconds_later(130 * MINUTE));
    let presence = Presence { agent_id: 1, status: AgentStatus::Offline, last_request_at: NOW, socket };
    let expected = TableChange::Presence { before: None, after: Some(Box::new(presence)) };
    assert_eq!(opened, [("acc".to_owned(), expected)], "the items of the socket are not reported");
    let ended = changes_of(&stores, async { connections.end_sessions("acc", 1).await.unwrap() }).await;
    assert_eq!(ended, [("acc".to_owned(), TableChange::SessionEnded { session_id: session.id })]);
}

#[tokio::test]
async fn settings_include_agents_and_channels() {
    let stores = account_with_four_agents().await;
    let settings = ("acc".to_owned(), TableChange::Directory { begins_assignment: false });
    let new_channel = async {
        stores.directory.create_channel("acc", channel().settings, NOW).await.unwrap();
    };
    assert_eq!(changes_of(&stores, new_channel).await, std::slice::from_ref(&settings));
    let department = async {
        stores
            .directory
            .create_department("acc", Department { name: "Sales".into(), agent_ids: vec![2], ..Department::default() })
            .await
            .unwrap();
    };
    assert!(changes_of(&stores, department).await.iter().all(|change| *change == settings));
}

#[tokio::test]
async fn only_the_first_assignment_begins_one() {
    let stores = account_with_four_agents().await;
    let begins = async |capacity: Option<u32>| {
        let rule = AssignmentRule { mode: AssignmentMode::LeastBusy, offer: None };
        let assignment = capacity.map(|capacity| Assignment { rule, capacity });
        let edit = async {
            let set = |settings: &mut AccountSettings| {
                settings.assignment = assignment;
                Ok(())
            };
            stores.directory.edit_settings("acc", set).await.unwrap();
        };
        changes_of(&stores, edit)
            .await
            .contains(&("acc".to_owned(), TableChange::Directory { begins_assignment: true }))
    };
    let table = [(None, false), (Some(3), true), (Some(4), false), (None, false), (Some(4), true)];
    for (capacity, expected) in table {
        assert_eq!(begins(capacity).await, expected, "{capacity:?}");
    }
}
