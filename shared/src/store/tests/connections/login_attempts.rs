use crate::store::tests::*;

const HOME_IP: &str = "192.0.2.1";

/// Tries to log in with a wrong password. If the limit rejects the attempt before the password is checked, fails with
/// the number of seconds to wait.
async fn fail_to_log_in(connections: &Connections, email: &str, source: &str, now: Timestamp) -> Result<(), u64> {
    match connections.count_login_attempt(email, source, now).await {
        Ok(_) => Ok(()),
        Err(Error::RateLimited(wait)) => Err(wait.as_secs()),
        Err(error) => panic!("{error}"),
    }
}

async fn log_in(connections: &Connections, email: &str, source: &str, now: Timestamp) {
    let attempt =
        connections.count_login_attempt(email, source, now).await.unwrap_or_else(|error| panic!("{email}: {error}"));
    connections.record_login_success(attempt, now).await.unwrap();
}

/// Returns the start of the five-minute window that contains `NOW`.
fn window_start() -> Timestamp {
    Timestamp(NOW.0 - NOW.0 % 300_000)
}

fn window_start_plus(seconds: u64) -> Timestamp {
    window_start().plus(Duration::from_secs(seconds))
}

#[tokio::test]
async fn ten_failures_of_an_email_from_one_source_are_allowed() {
    let Stores { connections, .. } = stores().await;
    for n in 0..10 {
        assert_eq!(fail_to_log_in(&connections, "a@x.y", HOME_IP, window_start_plus(n)).await, Ok(()), "{n}");
    }
    for seconds in [10, 100, 299] {
        assert_eq!(
            fail_to_log_in(&connections, "a@x.y", HOME_IP, window_start_plus(seconds)).await,
            Err(300 - seconds)
        );
    }
    assert_eq!(
        fail_to_log_in(&connections, "a@x.y", "192.0.2.2", window_start_plus(299)).await,
        Ok(()),
        "another source"
    );
    assert_eq!(fail_to_log_in(&connections, "b@x.y", HOME_IP, window_start_plus(299)).await, Ok(()), "another email");
    assert_eq!(
        fail_to_log_in(&connections, "a@x.y", HOME_IP, window_start_plus(300)).await,
        Ok(()),
        "in the next window"
    );
}

#[tokio::test]
async fn concurrent_logins_are_limited() {
    let Stores { connections, .. } = stores().await;
    let results = join_all((0..40).map(|_| fail_to_log_in(&connections, "a@x.y", HOME_IP, window_start_plus(0)))).await;
    assert_eq!(results.into_iter().filter(Result::is_ok).count(), 10);
}

#[tokio::test]
async fn successful_login_resets_earlier_failures() {
    let Stores { connections, .. } = stores().await;
    for _ in 0..3 {
        for _ in 0..9 {
            assert_eq!(fail_to_log_in(&connections, "a@x.y", HOME_IP, window_start_plus(0)).await, Ok(()));
        }
        log_in(&connections, "a@x.y", HOME_IP, window_start_plus(0)).await;
    }
    for n in 0..110 {
        log_in(&connections, &format!("{n}@x.y"), "192.0.2.2", window_start_plus(0)).await;
        log_in(&connections, "a@x.y", &format!("192.0.2.{n}"), window_start_plus(0)).await;
    }
}

#[tokio::test]
async fn one_source_cannot_use_up_the_limit_of_an_email() {
    let Stores { connections, .. } = stores().await;
    for _ in 0..200 {
        let _ = fail_to_log_in(&connections, "a@x.y", "192.0.2.66", window_start_plus(0)).await;
    }
    assert_eq!(fail_to_log_in(&connections, "a@x.y", HOME_IP, window_start_plus(1)).await, Ok(()));
}

#[tokio::test]
async fn attack_from_many_sources_does_not_lock_out_a_known_one() {
    let Stores { connections, .. } = stores().await;
    log_in(&connections, "a@x.y", HOME_IP, window_start()).await;
    for (days, is_known) in [(0, true), (29, true), (30, false)] {
        let now = window_start_plus(days * 24 * 3_600 + 300);
        for source in 10..15 {
            for _ in 0..10 {
                assert_eq!(fail_to_log_in(&connections, "a@x.y", &format!("198.51.100.{source}"), now).await, Ok(()));
            }
        }
        assert_eq!(fail_to_log_in(&connections, "a@x.y", "198.51.100.1", now).await, Err(300), "an unknown source");
        assert_eq!(fail_to_log_in(&connections, "a@x.y", HOME_IP, now).await.is_ok(), is_known, "after {days} days");
    }
}

#[tokio::test]
async fn source_with_many_failures_still_admits_known_agents() {
    let Stores { connections, .. } = stores().await;
    log_in(&connections, "known@x.y", HOME_IP, window_start_plus(0)).await;
    for n in 0..100 {
        assert_eq!(
            fail_to_log_in(&connections, &format!("{n}@x.y"), HOME_IP, window_start_plus(1)).await,
            Ok(()),
            "{n}"
        );
    }
    assert_eq!(fail_to_log_in(&connections, "new@x.y", HOME_IP, window_start_plus(2)).await, Err(298));
    log_in(&connections, "known@x.y", HOME_IP, window_start_plus(2)).await;
    assert_eq!(fail_to_log_in(&connections, "new@x.y", "192.0.2.2", window_start_plus(2)).await, Ok(()));
    // A client may own a whole IPv6 /64 prefix, so all addresses in a prefix share one limit.
    for n in 0..100 {
        assert_eq!(
            fail_to_log_in(&connections, &format!("v6-{n}@x.y"), &format!("2001:db8::{n:x}"), window_start_plus(3))
                .await,
            Ok(())
        );
    }
    assert_eq!(fail_to_log_in(&connections, "new@x.y", "2001:db8::ffff", window_start_plus(3)).await, Err(297));
}
