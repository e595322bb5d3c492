use crate::store::table::Key;
use crate::store::tests::*;

#[tokio::test]
async fn requests_refresh_presence() {
    let Stores { connections, .. } = stores().await;
    let token = connections.create_session(&agent(1, "b@x.y"), NOW).await.unwrap();
    let presence = Presence { agent_id: 1, status: AgentStatus::Online, last_request_at: NOW };
    connections.set_presence("acc", presence).await.unwrap();
    connections.session(&token, seconds_later(300)).await.unwrap().unwrap();
    let refreshed = connections.presences("acc").await.unwrap();
    assert_eq!(refreshed, [Presence { last_request_at: seconds_later(300), ..presence }]);
    let item = connections.table.get(Key::new("PRESENCE#acc", "0000000001")).await.unwrap().unwrap();
    assert_eq!(item["expires_at"], n(seconds_later(300 + 12 * 3_600).seconds()), "it expires with the session");
    connections.delete_presence("acc", 1).await.unwrap();
    assert_eq!(connections.presence("acc", 1).await.unwrap(), None);
}
