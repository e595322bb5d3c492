use crate::domain::rate_limit::{
    DEFAULT_BOT_REQUESTS_PER_WINDOW, MAX_AGENT_MESSAGES_PER_WINDOW, MAX_AGENT_TYPING_NOTICES_PER_WINDOW,
    MAX_CALLBACKS_PER_HOUR, MAX_RECEIVER_TESTS_PER_WINDOW, MAX_WIDGET_REQUESTS_PER_WINDOW, MAX_WIDGET_UPLOADS_PER_HOUR,
};
use crate::store::tests::*;

#[tokio::test]
async fn callbacks_are_limited_for_each_network_and_widget() {
    let Stores { connections, .. } = stores().await;
    let order = |widget, address, at| connections.count_callback(widget, address, at);
    for _ in 0..MAX_CALLBACKS_PER_HOUR {
        order("W", "2001:db8::1", NOW).await.unwrap();
    }
    let Err(Error::RateLimited(wait)) = order("W", "2001:db8::2", NOW).await else { panic!("same network") };
    order("W", "2001:db8:0:1::1", NOW).await.unwrap();
    order("V", "2001:db8::1", NOW).await.unwrap();
    order("W", "2001:db8::1", NOW.plus(wait)).await.unwrap();
}

#[tokio::test]
async fn widget_uploads_are_limited_for_each_network_and_hour() {
    let Stores { connections, .. } = stores().await;
    let upload = |widget, address, at| connections.count_widget_upload(widget, address, at);
    for _ in 0..MAX_WIDGET_UPLOADS_PER_HOUR {
        upload("W", "2001:db8::1", NOW).await.unwrap();
    }
    let Err(Error::RateLimited(wait)) = upload("W", "2001:db8::2", NOW).await else { panic!("same network") };
    upload("V", "2001:db8::1", NOW).await.unwrap();
    upload("W", "2001:db8::1", NOW.plus(wait)).await.unwrap();
}

#[tokio::test]
async fn widget_requests_are_limited_for_each_network_and_widget() {
    let Stores { connections, .. } = stores().await;
    let count = |widget, address| connections.count_widget_request(widget, address, NOW);
    for _ in 0..MAX_WIDGET_REQUESTS_PER_WINDOW {
        count("W", "2001:db8::1").await.unwrap();
    }
    assert!(matches!(count("W", "2001:db8::2").await, Err(Error::RateLimited(_))));
    count("W", "2001:db8:0:1::1").await.unwrap();
    count("V", "2001:db8::1").await.unwrap();
}

#[tokio::test]
async fn bot_rate_is_counted_across_processes() {
    let Stores { connections, .. } = stores().await;
    for n in 0..300 {
        connections
            .count_bot_request("B", DEFAULT_BOT_REQUESTS_PER_WINDOW, NOW)
            .await
            .unwrap_or_else(|error| panic!("request {n}: {error}"));
    }
    assert!(matches!(
        connections.count_bot_request("B", DEFAULT_BOT_REQUESTS_PER_WINDOW, NOW).await,
        Err(Error::RateLimited(_))
    ));
    connections.count_bot_request("C", DEFAULT_BOT_REQUESTS_PER_WINDOW, NOW).await.unwrap();
    connections.count_bot_request("B", DEFAULT_BOT_REQUESTS_PER_WINDOW, seconds_later(10)).await.unwrap();
    let other_process = Connections::new(connections.table.clone());
    let mut allowed = 0;
    while other_process.count_bot_request("B", DEFAULT_BOT_REQUESTS_PER_WINDOW, NOW).await.is_ok() {
        allowed += 1;
    }
    assert!(allowed < 10, "{allowed} more");
}

#[tokio::test]
async fn messages_typing_notices_and_tests_are_limited() {
    let Stores { connections, .. } = stores().await;
    let (ann, ben) = (agent_session(1, Role::Agent), agent_session(2, Role::Agent));
    let limited = |limit: u64, count: &dyn Fn(Timestamp) -> Result<(), Error>| {
        let accepted = (0..=limit).filter(|_| count(NOW).is_ok()).count() as u64;
        assert!(matches!(count(NOW), Err(Error::RateLimited(_))));
        assert_eq!((accepted, count(seconds_later(10)).is_ok()), (limit, true));
    };
    limited(MAX_AGENT_MESSAGES_PER_WINDOW, &|now| connections.count_agent_message(&ann, 1, now));
    limited(MAX_AGENT_TYPING_NOTICES_PER_WINDOW, &|now| connections.count_agent_typing(&ann, now));
    limited(MAX_RECEIVER_TESTS_PER_WINDOW, &|now| connections.count_receiver_test("acc", now));
    connections.count_agent_message(&ann, 2, NOW).unwrap();
    connections.count_agent_message(&ben, 1, NOW).unwrap();
}
