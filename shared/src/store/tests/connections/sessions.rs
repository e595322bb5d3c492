//! Sessions, presence and the rate of a bot.

use crate::domain::rate::BOT_LIMIT;
use crate::store::table::{Key, n};
use crate::store::tests::*;

#[tokio::test]
async fn a_session_lives_by_its_token_until_it_is_ended_or_unused() {
    let Stores { connections, .. } = stores().await;
    let token = connections.begin_session(&agent(1, "b@x.y"), NOW).await.unwrap();
    let session = connections.session(&token, at(1)).await.unwrap().unwrap();
    assert_eq!((session.account_id.as_str(), session.agent.agent_id, session.role), ("acc", 1, Role::Admin));
    for wrong in ["", "acc", "acc.1", "acc.1.x", "acc.2.x", &format!("{token}x"), "a#b.1.x"] {
        assert!(connections.session(wrong, at(1)).await.unwrap().is_none(), "{wrong}");
    }
    let eleven_hours = 11 * 3_600;
    assert!(connections.session(&token, at(eleven_hours)).await.unwrap().is_some(), "a use extends it");
    assert!(connections.session(&token, at(2 * eleven_hours)).await.unwrap().is_some());
    assert!(connections.session(&token, at(4 * eleven_hours)).await.unwrap().is_none());
    let token = connections.begin_session(&agent(1, "b@x.y"), NOW).await.unwrap();
    connections.rename_sessions(&Agent { name: "Rob".into(), ..agent(1, "b@x.y") }).await.unwrap();
    assert_eq!(connections.session(&token, at(1)).await.unwrap().unwrap().agent.name, "Rob");
    connections.end_sessions("acc", 1).await.unwrap();
    assert!(connections.session(&token, at(1)).await.unwrap().is_none());
}

#[tokio::test]
async fn a_session_ends_30_days_after_the_login() {
    let Stores { connections, .. } = stores().await;
    let token = connections.begin_session(&agent(1, "b@x.y"), NOW).await.unwrap();
    let month = 30 * 24 * 3_600;
    for seconds in (0..month).step_by(11 * 3_600) {
        assert!(connections.session(&token, at(seconds)).await.unwrap().is_some(), "{seconds}");
    }
    assert!(connections.session(&token, at(month - 1)).await.unwrap().is_some());
    assert!(connections.session(&token, at(month)).await.unwrap().is_none());
}

#[tokio::test]
async fn a_logout_ends_presence_with_the_last_session() {
    let Stores { connections, .. } = stores().await;
    let bob = agent(1, "b@x.y");
    let presence = Presence { agent_id: 1, status: Status::Online, seen_at: NOW };
    connections.set_presence("acc", presence).await.unwrap();
    let expired = connections.begin_session(&bob, Timestamp(0)).await.unwrap();
    let [one, two] = [(); 2].map(|()| connections.begin_session(&bob, NOW));
    let (one, two) = (one.await.unwrap(), two.await.unwrap());
    for (ended, is_present) in [(&one, true), (&one, true), (&two, false)] {
        connections.end_session(ended, at(1)).await.unwrap();
        assert!(connections.session(ended, at(1)).await.unwrap().is_none());
        assert_eq!(connections.presence("acc", 1).await.unwrap().is_some(), is_present);
    }
    for nothing in ["", "acc.1.guessed", &expired] {
        connections.end_session(nothing, at(1)).await.unwrap();
    }
}

#[tokio::test]
async fn every_session_is_renamed_and_ended_however_many_there_are() {
    let Stores { connections, .. } = stores().await;
    let large = Agent { photo: Some("x".repeat(100_000)), ..agent(1, "b@x.y") };
    let mut tokens = Vec::new();
    for _ in 0..24 {
        tokens.push(connections.begin_session(&large, NOW).await.unwrap());
    }
    let renamed = Agent { name: "Rob".into(), ..large };
    connections.rename_sessions(&renamed).await.unwrap();
    for token in &tokens {
        assert_eq!(connections.session(token, at(1)).await.unwrap().unwrap().agent.name, "Rob");
    }
    connections.end_sessions("acc", 1).await.unwrap();
    for token in &tokens {
        assert!(connections.session(token, at(1)).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn presence_is_refreshed_by_calls() {
    let Stores { connections, .. } = stores().await;
    let token = connections.begin_session(&agent(1, "b@x.y"), NOW).await.unwrap();
    let presence = Presence { agent_id: 1, status: Status::Online, seen_at: NOW };
    connections.set_presence("acc", presence).await.unwrap();
    connections.session(&token, at(300)).await.unwrap().unwrap();
    let refreshed = connections.presences("acc").await.unwrap();
    assert_eq!(refreshed, [Presence { seen_at: at(300), ..presence }]);
    let item = connections.table.get(Key::new("PRESENCE#acc", "0000000001")).await.unwrap().unwrap();
    assert_eq!(item["expires_at"], n(at(300 + 12 * 3_600).seconds()), "it is forgotten with the session");
    connections.forget_presence("acc", 1).await.unwrap();
    assert_eq!(connections.presence("acc", 1).await.unwrap(), None);
}

#[tokio::test]
async fn a_bot_may_make_300_requests_in_a_window_counted_over_all_processes() {
    let Stores { connections, .. } = stores().await;
    for n in 0..300 {
        connections.take_bot_request("B", BOT_LIMIT, NOW).await.unwrap_or_else(|error| panic!("request {n}: {error}"));
    }
    assert!(matches!(connections.take_bot_request("B", BOT_LIMIT, NOW).await, Err(Error::RateLimited(_))));
    connections.take_bot_request("C", BOT_LIMIT, NOW).await.unwrap();
    connections.take_bot_request("B", BOT_LIMIT, at(10)).await.unwrap();
    let other_process = Connections::new(connections.table.clone());
    let mut taken = 0;
    while other_process.take_bot_request("B", BOT_LIMIT, NOW).await.is_ok() {
        taken += 1;
    }
    assert!(taken < 10, "{taken} more");
}
