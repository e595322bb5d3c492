use std::collections::{BTreeMap, BTreeSet};

use crate::domain::list_change::{ListChange, ListChanges};
use crate::domain::socket::{AgentSocket, ChatList, Socket, Subscription};
use crate::store::connections::subscriptions::{Listeners, list_changes_from_item};
use crate::store::tests::*;

fn shown(lists: &[ChatList], open_chat: Option<u64>) -> Subscription {
    Subscription { lists: lists.to_vec(), open_chat }
}

/// Subscribes a socket, as the event of its frame does.
async fn subscribe(connections: &Connections, connection_id: &str, shown: Subscription) -> AgentSocket {
    let Some(Socket::Agent(socket)) = connections.socket(connection_id).await.unwrap() else { panic!("no socket") };
    connections.subscribe(&socket, shown.clone()).await.unwrap();
    AgentSocket { subscription: Some(shown), ..socket }
}

async fn ids(sockets: impl Future<Output = Result<Vec<AgentSocket>, Error>>) -> Vec<String> {
    sockets.await.unwrap().into_iter().map(|socket| socket.connection_id).collect()
}

#[tokio::test]
async fn subscriber_is_found_by_account_agent_and_chat() {
    let Stores { connections, .. } = stores().await;
    let session = signed_in(&connections).await;
    let plain = open_socket(&connections, &session, "plain", NOW).await;
    open_socket(&connections, &session, "one", NOW).await;
    let first = subscribe(&connections, "one", shown(&[ChatList::Waiting], Some(7))).await;
    let expected = Listeners { sockets: vec![plain], lists_pushed_at: Some(Timestamp(0)), has_web_push: false };
    assert_eq!(connections.listeners("acc", NOW).await.unwrap(), expected);
    assert_eq!(connections.subscribers("acc", NOW).await.unwrap(), [first]);
    assert_eq!(ids(connections.agent_subscribers("acc", 1, NOW)).await, ["one"]);
    assert_eq!(ids(connections.agent_subscribers("acc", 2, NOW)).await, [""; 0]);
    assert_eq!(ids(connections.chat_subscribers("acc", 7, NOW)).await, ["one"]);
    let second = subscribe(&connections, "one", shown(&[ChatList::Bot], Some(8))).await;
    assert_eq!(connections.subscribers("acc", NOW).await.unwrap(), std::slice::from_ref(&second));
    assert_eq!(connections.socket("one").await.unwrap(), Some(Socket::Agent(second)));
    assert_eq!(ids(connections.chat_subscribers("acc", 7, NOW)).await, [""; 0]);
    assert_eq!(ids(connections.chat_subscribers("acc", 8, NOW)).await, ["one"]);
}

#[tokio::test]
async fn closed_subscriber_leaves_no_items() {
    let Stores { connections, client, .. } = stores().await;
    let session = signed_in(&connections).await;
    open_socket(&connections, &session, "one", NOW).await;
    let socket = subscribe(&connections, "one", shown(&[ChatList::Waiting], Some(7))).await;
    assert_eq!(connections.session_sockets("acc", &session.id, NOW).await.unwrap(), std::slice::from_ref(&socket));
    connections.remove_agent_socket(&socket, NOW).await.unwrap();
    let items = client.scan().table_name("connections").send().await.unwrap().items.unwrap();
    assert!(!format!("{items:?}").contains("\"one\""), "{items:?}");
    connections.subscribe(&socket, shown(&[], Some(9))).await.unwrap();
    assert_eq!(ids(connections.chat_subscribers("acc", 9, NOW)).await, [""; 0], "the socket has been closed");
}

#[tokio::test]
async fn account_has_subscribers_until_the_last_socket_expires() {
    let Stores { connections, .. } = stores().await;
    let session = signed_in(&connections).await;
    assert!(connections.listeners("acc", NOW).await.unwrap().is_empty());
    open_socket(&connections, &session, "one", NOW).await;
    open_socket(&connections, &session, "two", seconds_later(10)).await;
    subscribe(&connections, "two", shown(&[], None)).await;
    subscribe(&connections, "one", shown(&[], None)).await;
    let is_empty = async |seconds| connections.listeners("acc", seconds_later(seconds)).await.unwrap().is_empty();
    assert!(!is_empty(130 * MINUTE + 5).await);
    assert!(is_empty(130 * MINUTE + 10).await);
}

#[tokio::test]
async fn lists_are_pushed_once_a_second() {
    let Stores { connections, .. } = stores().await;
    assert!(!connections.claim_list_push("acc", NOW).await.unwrap(), "nobody has subscribed");
    let session = signed_in(&connections).await;
    open_socket(&connections, &session, "one", NOW).await;
    subscribe(&connections, "one", shown(&[], None)).await;
    let at = |ms| NOW.plus(Duration::from_millis(ms));
    for (ms, is_due) in [(0, true), (999, false), (1_000, true), (1_999, false)] {
        assert_eq!(connections.claim_list_push("acc", at(ms)).await.unwrap(), is_due, "{ms}");
    }
    connections.record_list_push("acc", at(2_500)).await.unwrap();
    assert!(!connections.claim_list_push("acc", at(3_400)).await.unwrap());
    assert_eq!(connections.listeners("acc", NOW).await.unwrap().lists_pushed_at, Some(at(2_500)));
}

#[tokio::test]
async fn stored_changes_are_read_from_the_stream() {
    let Stores { connections, client, .. } = stores().await;
    let change = ListChange { is_row_changed: true, visitor_messages: BTreeSet::from([3, 4]) };
    let changes = ListChanges(BTreeMap::from([(7, change), (8, ListChange::default())]));
    connections.put_list_changes("acc", &changes, NOW).await.unwrap();
    let items = client.scan().table_name("connections").send().await.unwrap().items.unwrap();
    let [item] = <[_; 1]>::try_from(items).unwrap();
    assert_eq!(list_changes_from_item(item).unwrap(), changes);
}
