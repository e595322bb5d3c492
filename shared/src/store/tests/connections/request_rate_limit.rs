use crate::domain::rate_limit::DEFAULT_BOT_REQUESTS_PER_WINDOW;
use crate::store::tests::*;

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
