use crate::domain::accounts::agent_presence::SocketPresence;
use crate::store::table::Key;
use crate::store::tests::*;

#[tokio::test]
async fn requests_refresh_presence() {
    let Stores { connections, .. } = stores().await;
    let token = connections.create_session(&agent(1, "b@x.y"), &SessionOrigin::default(), NOW).await.unwrap();
    let presence = connections.set_presence("acc", 1, AgentStatus::Online, NOW).await.unwrap();
    let (status, socket) = (AgentStatus::Online, SocketPresence::Unused);
    assert_eq!(presence, Presence { agent_id: 1, status, last_request_at: NOW, socket });
    connections.session(&token, seconds_later(300)).await.unwrap().unwrap();
    let refreshed = connections.presences("acc").await.unwrap();
    assert_eq!(refreshed, [Presence { last_request_at: seconds_later(300), ..presence }]);
    let item = connections.table.get(Key::new("PRESENCE#acc", "0000000001")).await.unwrap().unwrap();
    assert_eq!(item["expires_at"], n(seconds_later(300 + 90 * 24 * 3_600).seconds()), "admins see the last request");
    connections.delete_presence("acc", 1).await.unwrap();
    assert_eq!(connections.presence("acc", 1).await.unwrap(), None);
}

/// Returns the socket presence of an agent whose last socket was opened at `opened_at` and is still open.
fn open_since(opened_at: Timestamp) -> SocketPresence {
    SocketPresence::OpenUntil(opened_at.plus(Duration::from_secs(130 * MINUTE)))
}

async fn socket_presence(connections: &Connections) -> SocketPresence {
    connections.presence("acc", 1).await.unwrap().unwrap().socket
}

#[tokio::test]
async fn presence_follows_the_sockets() {
    let Stores { connections, .. } = stores().await;
    let session = signed_in(&connections).await;
    let first = open_socket(&connections, &session, "one", NOW).await;
    let presence = connections.presence("acc", 1).await.unwrap().unwrap();
    assert_eq!((presence.status, presence.socket), (AgentStatus::Offline, open_since(NOW)), "no status yet");
    connections.set_presence("acc", 1, AgentStatus::Online, NOW).await.unwrap();
    assert_eq!(socket_presence(&connections).await, open_since(NOW), "a new status keeps the sockets");
    let second = open_socket(&connections, &session, "two", NOW).await;
    connections.remove_agent_socket(&first, seconds_later(1)).await.unwrap();
    assert_eq!(socket_presence(&connections).await, open_since(NOW));
    connections.remove_agent_socket(&second, seconds_later(2)).await.unwrap();
    connections.remove_agent_socket(&second, seconds_later(80)).await.unwrap();
    let lost = connections.presences("acc").await.unwrap();
    assert_eq!(lost[0].socket, SocketPresence::LostAt(seconds_later(2)), "a repeated removal changes nothing");
    assert!(lost[0].is_online(seconds_later(91)) && !lost[0].is_online(seconds_later(92)));
    open_socket(&connections, &session, "three", seconds_later(3)).await;
    assert_eq!(socket_presence(&connections).await, open_since(seconds_later(3)));
    connections.delete_presence("acc", 1).await.unwrap();
    let third = connections.socket("three").await.unwrap().unwrap();
    connections.remove_socket(&third, seconds_later(4)).await.unwrap();
    assert_eq!(connections.presence("acc", 1).await.unwrap(), None, "a removal creates no presence");
}

#[tokio::test]
async fn new_status_ends_the_time_limit_of_a_lost_socket() {
    let Stores { connections, .. } = stores().await;
    let session = signed_in(&connections).await;
    let socket = open_socket(&connections, &session, "one", NOW).await;
    connections.remove_agent_socket(&socket, NOW).await.unwrap();
    let presence = connections.set_presence("acc", 1, AgentStatus::Online, seconds_later(1)).await.unwrap();
    assert_eq!(presence.socket, SocketPresence::Unused);
    assert!(presence.is_online(seconds_later(300)), "the agent uses a client without sockets");
}

#[tokio::test]
async fn socket_whose_close_was_not_reported_expires() {
    let Stores { connections, .. } = stores().await;
    let session = signed_in(&connections).await;
    let at = |minute: u64| seconds_later(minute * MINUTE);
    open_socket(&connections, &session, "one", NOW).await;
    connections.set_presence("acc", 1, AgentStatus::Online, at(125)).await.unwrap();
    let presence = connections.presence("acc", 1).await.unwrap().unwrap();
    assert!(presence.is_online(seconds_later(131 * MINUTE + 29)), "it counts as lost after 130 minutes");
    assert!(!presence.is_online(seconds_later(131 * MINUTE + 30)));
    // The agent continues with a client that uses no sockets.
    let presence = connections.set_presence("acc", 1, AgentStatus::Online, at(140)).await.unwrap();
    assert!(presence.socket == SocketPresence::Unused && presence.is_online(at(149)));
}

#[tokio::test]
async fn unreported_close_does_not_hide_the_loss_of_the_last_socket() {
    let Stores { connections, .. } = stores().await;
    let session = signed_in(&connections).await;
    let at = |minute: u64| seconds_later(minute * MINUTE);
    open_socket(&connections, &session, "one", NOW).await;
    let second = open_socket(&connections, &session, "two", at(125)).await;
    connections.set_presence("acc", 1, AgentStatus::Online, at(126)).await.unwrap();
    connections.remove_agent_socket(&second, at(131)).await.unwrap();
    let presence = connections.presence("acc", 1).await.unwrap().unwrap();
    assert!(
        presence.is_online(seconds_later(132 * MINUTE + 29)) && !presence.is_online(seconds_later(132 * MINUTE + 30))
    );
    let third = open_socket(&connections, &session, "three", at(140)).await;
    connections.remove_agent_socket(&third, at(141)).await.unwrap();
    let item = connections.table.get(Key::new("PRESENCE#acc", "0000000001")).await.unwrap().unwrap();
    assert!(!item.contains_key("sockets"), "a new socket removes the expired ones: {item:?}");
}

/// No open socket is lost, and no closed socket remains.
#[tokio::test]
async fn sockets_open_and_close_concurrently() {
    let Stores { connections, .. } = stores().await;
    let session = signed_in(&connections).await;
    let first: Vec<_> = (0..10).map(|n| format!("first-{n}")).collect();
    let opened = first.iter().map(|id| open_socket(&connections, &session, id, NOW));
    let opened = join_all(opened).await;
    let second: Vec<_> = (0..10).map(|n| format!("second-{n}")).collect();
    let open = join_all(second.iter().map(|id| open_socket(&connections, &session, id, seconds_later(1))));
    let close = join_all(opened.iter().map(|socket| connections.remove_agent_socket(socket, seconds_later(1))));
    let (opened, closed) = futures_util::future::join(open, close).await;
    closed.into_iter().for_each(Result::unwrap);
    assert_eq!(socket_presence(&connections).await, open_since(seconds_later(1)));
    let mut remaining = connections.listeners("acc", seconds_later(2)).await.unwrap().sockets;
    remaining.sort_by(|a, b| a.connection_id.cmp(&b.connection_id));
    assert_eq!(remaining, opened);
    join_all(opened.iter().map(|socket| connections.remove_agent_socket(socket, seconds_later(2)))).await;
    assert_eq!(socket_presence(&connections).await, SocketPresence::LostAt(seconds_later(2)));
}
