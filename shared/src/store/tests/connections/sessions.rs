use crate::domain::socket::AgentSocket;
use crate::store::tests::*;

#[tokio::test]
async fn session_is_valid_until_it_ends_or_is_unused_for_12_hours() {
    let Stores { connections, .. } = stores().await;
    let token = connections.create_session(&agent(1, "b@x.y"), &SessionOrigin::default(), NOW).await.unwrap();
    let session = connections.session(&token, seconds_later(1)).await.unwrap().unwrap();
    assert_eq!((session.account_id.as_str(), session.agent.agent_id, session.role), ("acc", 1, Role::Admin));
    for wrong in ["", "acc", "acc.1", "acc.1.x", "acc.2.x", &format!("{token}x"), "a#b.1.x"] {
        assert!(connections.session(wrong, seconds_later(1)).await.unwrap().is_none(), "{wrong}");
    }
    let eleven_hours = 11 * 3_600;
    assert!(connections.session(&token, seconds_later(eleven_hours)).await.unwrap().is_some(), "each use extends it");
    assert!(connections.session(&token, seconds_later(2 * eleven_hours)).await.unwrap().is_some());
    assert!(connections.session(&token, seconds_later(4 * eleven_hours)).await.unwrap().is_none());
    let token = connections.create_session(&agent(1, "b@x.y"), &SessionOrigin::default(), NOW).await.unwrap();
    connections.update_session_profiles(&Agent { name: "Rob".into(), ..agent(1, "b@x.y") }).await.unwrap();
    assert_eq!(connections.session(&token, seconds_later(1)).await.unwrap().unwrap().agent.name, "Rob");
    connections.end_sessions("acc", 1).await.unwrap();
    assert!(connections.session(&token, seconds_later(1)).await.unwrap().is_none());
}

#[tokio::test]
async fn session_ends_30_days_after_the_login() {
    let Stores { connections, .. } = stores().await;
    let token = connections.create_session(&agent(1, "b@x.y"), &SessionOrigin::default(), NOW).await.unwrap();
    let thirty_days = 30 * 24 * 3_600;
    for seconds in (0..thirty_days).step_by(11 * 3_600) {
        assert!(connections.session(&token, seconds_later(seconds)).await.unwrap().is_some(), "{seconds}");
    }
    assert!(connections.session(&token, seconds_later(thirty_days - 1)).await.unwrap().is_some());
    assert!(connections.session(&token, seconds_later(thirty_days)).await.unwrap().is_none());
}

#[tokio::test]
async fn agent_is_offline_after_the_logout_of_the_last_session() {
    let Stores { connections, .. } = stores().await;
    let bob = agent(1, "b@x.y");
    connections.set_presence("acc", 1, AgentStatus::Online, NOW).await.unwrap();
    let expired = connections.create_session(&bob, &SessionOrigin::default(), Timestamp(0)).await.unwrap();
    let origin = SessionOrigin::default();
    let [first, second] = [(); 2].map(|()| connections.create_session(&bob, &origin, NOW));
    let (first, second) = (first.await.unwrap(), second.await.unwrap());
    let (online, offline) = (AgentStatus::Online, AgentStatus::Offline);
    for (ended, status) in [(&first, online), (&first, online), (&second, offline)] {
        connections.end_session(ended, seconds_later(1)).await.unwrap();
        assert!(connections.session(ended, seconds_later(1)).await.unwrap().is_none());
        assert_eq!(connections.presence("acc", 1).await.unwrap().unwrap().status, status);
    }
    let presence = connections.presence("acc", 1).await.unwrap().unwrap();
    assert_eq!(presence.last_request_at, seconds_later(1), "the logout is the last request");
    for invalid in ["", "acc.1.guessed", &expired] {
        connections.end_session(invalid, seconds_later(1)).await.unwrap();
    }
}

#[tokio::test]
async fn all_sessions_of_an_agent_are_renamed_and_ended() {
    let Stores { connections, .. } = stores().await;
    let large = Agent { photo: Some("x".repeat(100_000)), ..agent(1, "b@x.y") };
    let mut tokens = Vec::new();
    for _ in 0..24 {
        tokens.push(connections.create_session(&large, &SessionOrigin::default(), NOW).await.unwrap());
    }
    let renamed = Agent { name: "Rob".into(), ..large };
    connections.update_session_profiles(&renamed).await.unwrap();
    for token in &tokens {
        assert_eq!(connections.session(token, seconds_later(1)).await.unwrap().unwrap().agent.name, "Rob");
    }
    connections.end_sessions("acc", 1).await.unwrap();
    for token in &tokens {
        assert!(connections.session(token, seconds_later(1)).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn sessions_are_listed_and_revoked_one_by_one() {
    let Stores { connections, .. } = stores().await;
    let bob = agent(1, "b@x.y");
    let origin = |address: &str| SessionOrigin { source_address: address.into(), ..SessionOrigin::default() };
    let one = connections.create_session(&bob, &origin("192.0.2.1"), NOW).await.unwrap();
    let two = connections.create_session(&bob, &origin("192.0.2.2"), seconds_later(1)).await.unwrap();
    let listed = connections.agent_sessions("acc", 1, seconds_later(2)).await.unwrap();
    let shown: Vec<_> = listed.iter().map(|it| (it.source_address.as_deref(), it.created_at)).collect();
    assert_eq!(shown, [(Some("192.0.2.2"), Some(seconds_later(1))), (Some("192.0.2.1"), Some(NOW))]);
    let revoked = &listed[1].short_id;
    assert!(!connections.revoke_session("acc", 2, revoked, NOW).await.unwrap(), "another agent's session");
    assert!(connections.revoke_session("acc", 1, revoked, NOW).await.unwrap());
    assert!(!connections.revoke_session("acc", 1, revoked, NOW).await.unwrap());
    assert!(connections.session(&one, seconds_later(2)).await.unwrap().is_none());
    let kept = connections.session(&two, seconds_later(2)).await.unwrap().unwrap();
    assert_eq!(connections.end_other_sessions(&kept).await.unwrap(), 0);
    assert!(connections.session(&two, seconds_later(2)).await.unwrap().is_some());
}

#[tokio::test]
async fn socket_gets_no_pushes_after_the_end_of_its_session() {
    let Stores { connections, .. } = stores().await;
    let session = signed_in(&connections).await;
    let late = seconds_later(30 * DAY - 60);
    let socket = open_socket(&connections, &session, "one", NOW).await;
    assert_eq!(socket.expires_at, seconds_later(130 * MINUTE));
    let ticket = connections.create_socket_ticket(&session, late).await.unwrap();
    let expiry = AgentSocket::expiry(late, Some(session.ends_at));
    assert_eq!(expiry, seconds_later(30 * DAY));
    assert!(connections.open_socket(&ticket, "two", late).await.unwrap().is_none(), "the session was not used");
}
