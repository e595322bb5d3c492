use crate::domain::socket::{AgentSocket, MAX_SOCKETS_PER_AGENT, MAX_SOCKETS_PER_VISITOR, Socket, VisitorSocket};
use crate::store::connections::sockets::SocketState;
use crate::store::tests::*;

#[tokio::test]
async fn ticket_opens_one_socket() {
    let Stores { connections, client, .. } = stores().await;
    let session = signed_in(&connections).await;
    let ticket = connections.create_socket_ticket(&session, NOW).await.unwrap();
    assert_eq!(ticket.len(), 43, "256 bits in base64");
    let items = client.scan().table_name("connections").send().await.unwrap().items.unwrap();
    assert!(!format!("{items:?}").contains(&ticket), "only its hash is stored");
    let open = async |ticket: &str, id: &str, now| connections.open_socket(ticket, id, now).await.unwrap();
    assert_eq!(open("guessed", "one", NOW).await, None);
    let socket = open(&ticket, "one", seconds_later(59)).await.unwrap();
    let expected = AgentSocket {
        account_id: "acc".into(),
        connection_id: "one".into(),
        agent_id: 1,
        is_admin: true,
        session_id: session.id.clone(),
        opened_at: seconds_later(59),
        expires_at: seconds_later(59 + 130 * MINUTE),
        subscription: None,
    };
    assert_eq!(socket, Socket::Agent(expected.clone()));
    assert!(socket.may_be_opening(seconds_later(68)) && !socket.may_be_opening(seconds_later(69)));
    assert_eq!(open(&ticket, "two", seconds_later(59)).await, None, "a ticket is used once");
    let late = connections.create_socket_ticket(&session, NOW).await.unwrap();
    assert_eq!(open(&late, "three", seconds_later(60)).await, None, "a ticket expires");
    assert_eq!(connections.listeners("acc", NOW).await.unwrap().sockets, [expected]);
    assert_eq!(connections.listeners("other", NOW).await.unwrap().sockets, []);
}

#[tokio::test]
async fn ticket_used_twice_concurrently_opens_one_socket() {
    let Stores { connections, .. } = stores().await;
    let session = signed_in(&connections).await;
    let ticket = connections.create_socket_ticket(&session, NOW).await.unwrap();
    let ids: Vec<_> = (0..10).map(|n| n.to_string()).collect();
    let opened = join_all(ids.iter().map(|id| connections.open_socket(&ticket, id, NOW))).await;
    assert_eq!(opened.into_iter().filter(|opened| opened.as_ref().unwrap().is_some()).count(), 1);
}

#[tokio::test]
async fn ticket_of_an_ended_session_opens_nothing() {
    let Stores { connections, .. } = stores().await;
    let session = signed_in(&connections).await;
    let ticket = connections.create_socket_ticket(&session, NOW).await.unwrap();
    connections.end_sessions("acc", 1).await.unwrap();
    assert_eq!(connections.open_socket(&ticket, "one", NOW).await.unwrap(), None);
    assert_eq!(connections.listeners("acc", NOW).await.unwrap().sockets, []);
    assert_eq!(connections.socket("one").await.unwrap(), None);
}

#[tokio::test]
async fn socket_belongs_to_its_session_until_it_is_removed() {
    let Stores { connections, .. } = stores().await;
    let (first, second) = (signed_in(&connections).await, signed_in(&connections).await);
    let one = open_socket(&connections, &first, "one", NOW).await;
    let two = open_socket(&connections, &second, "two", NOW).await;
    assert_eq!(connections.socket("one").await.unwrap(), Some(Socket::Agent(one.clone())));
    assert_eq!(connections.session_of_socket(&one, NOW).await.unwrap().unwrap().agent.agent_id, 1);
    assert_eq!(connections.session_sockets("acc", &first.id, NOW).await.unwrap(), std::slice::from_ref(&one));
    connections.remove_agent_socket(&one, NOW).await.unwrap();
    assert_eq!(connections.socket("one").await.unwrap(), None);
    assert_eq!(connections.listeners("acc", NOW).await.unwrap().sockets, std::slice::from_ref(&two));
    let expired = seconds_later(131 * MINUTE);
    assert_eq!(
        connections.listeners("acc", expired).await.unwrap().sockets,
        [],
        "the table deletes expired items late"
    );
    connections.end_sessions("acc", 1).await.unwrap();
    assert!(connections.session_of_socket(&two, NOW).await.unwrap().is_none());
}

#[tokio::test]
async fn tickets_of_an_agent_are_limited() {
    let Stores { connections, .. } = stores().await;
    for _ in 0..30 {
        connections.count_socket_ticket("acc", 1, NOW).await.unwrap();
    }
    assert!(matches!(connections.count_socket_ticket("acc", 1, NOW).await, Err(Error::RateLimited(_))));
    connections.count_socket_ticket("acc", 2, NOW).await.unwrap();
    connections.count_socket_ticket("acc", 1, seconds_later(10)).await.unwrap();
}

#[tokio::test]
async fn visitor_opens_sockets_apart_from_those_of_agents() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let (visitor, connections) = (stores.visitor("v").await, &stores.connections);
    let ticket = connections.create_visitor_socket_ticket(&visitor, NOW).await.unwrap();
    let socket = connections.open_socket(&ticket, "one", NOW).await.unwrap().unwrap();
    let expected = VisitorSocket {
        account_id: "acc".into(),
        channel_id: "CH".into(),
        external_id: "v".into(),
        connection_id: "one".into(),
        opened_at: NOW,
    };
    assert_eq!(socket, Socket::Visitor(expected.clone()));
    assert_eq!(connections.open_socket(&ticket, "two", NOW).await.unwrap(), None, "a ticket is used once");
    assert_eq!(connections.socket("one").await.unwrap().as_ref(), Some(&socket));
    assert_eq!(connections.visitor_sockets("CH", "v", NOW).await.unwrap(), [expected]);
    assert_eq!(connections.listeners("acc", NOW).await.unwrap().sockets, []);
    assert_eq!(connections.visitor_sockets("CH", "w", NOW).await.unwrap(), []);
    assert_eq!(
        connections.visitor_sockets("CH", "v", seconds_later(DAY)).await.unwrap(),
        [],
        "its close was not reported"
    );
    connections.remove_socket(&socket, NOW).await.unwrap();
    assert_eq!(connections.visitor_sockets("CH", "v", NOW).await.unwrap(), []);
    assert_eq!(connections.socket("one").await.unwrap(), None);
}

#[tokio::test]
async fn missed_push_is_recorded_for_open_sockets_only() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let (visitor, connections) = (stores.visitor("v").await, &stores.connections);
    let ticket = connections.create_visitor_socket_ticket(&visitor, NOW).await.unwrap();
    let socket = connections.open_socket(&ticket, "one", NOW).await.unwrap().unwrap();
    let state = |has_missed_push| Some(SocketState { socket: socket.clone(), has_missed_push });
    assert_eq!(connections.socket_state("one").await.unwrap(), state(false));
    connections.record_missed_push("one").await.unwrap();
    assert_eq!(connections.socket_state("one").await.unwrap(), state(true));
    connections.remove_socket(&socket, NOW).await.unwrap();
    connections.record_missed_push("one").await.unwrap();
    assert_eq!(connections.socket_state("one").await.unwrap(), None);
}

#[tokio::test]
async fn sockets_of_a_visitor_are_limited() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let (visitor, connections) = (stores.visitor("v").await, &stores.connections);
    let open = async |connection_id: &str, now| {
        let ticket = connections.create_visitor_socket_ticket(&visitor, now).await.unwrap();
        connections.open_socket(&ticket, connection_id, now).await.unwrap()
    };
    for n in 0..MAX_SOCKETS_PER_VISITOR {
        assert!(open(&format!("socket {n}"), NOW).await.is_some());
    }
    assert_eq!(open("one more", NOW).await, None);
    let first = connections.socket("socket 0").await.unwrap().unwrap();
    connections.remove_socket(&first, NOW).await.unwrap();
    assert!(open("after a close", NOW).await.is_some());
    assert!(open("after the others have expired", seconds_later(DAY)).await.is_some());
}

#[tokio::test]
async fn sockets_of_an_agent_are_limited() {
    let Stores { connections, .. } = stores().await;
    let session = signed_in(&connections).await;
    let open = async |connection_id: &str| {
        let ticket = connections.create_socket_ticket(&session, NOW).await.unwrap();
        connections.open_socket(&ticket, connection_id, NOW).await.unwrap()
    };
    for n in 0..MAX_SOCKETS_PER_AGENT {
        assert!(open(&format!("socket {n}")).await.is_some());
    }
    assert_eq!(open("one more").await, None);
    assert_eq!(connections.socket("one more").await.unwrap(), None);
    let first = connections.socket("socket 0").await.unwrap().unwrap();
    connections.remove_socket(&first, NOW).await.unwrap();
    assert!(open("after a close").await.is_some());
}
