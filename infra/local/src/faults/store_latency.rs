//! Delays the requests of functions to DynamoDB and SQS by a configured time, which simulates the latency of AWS.

use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};

pub(crate) fn delay_requests(router: Router, latency: Duration) -> Router {
    if latency.is_zero() {
        return router;
    }
    let delay = move |request: Request, next: Next| async move {
        // The end is computed here, so that waiting for a free thread counts towards the latency.
        let end = Instant::now() + latency;
        // A blocking thread sleeps, because Tokio's timer would add up to two milliseconds to each request. At the end
        // it spins, because the kernel's timer would add a tenth of a millisecond. The call fails only if the host is
        // stopping.
        let _ = tokio::task::spawn_blocking(move || spin_sleep::sleep_until(end)).await;
        next.run(request).await
    };
    router.layer(middleware::from_fn(delay))
}
