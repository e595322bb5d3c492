//! The limits on failed logins.

use crate::store::tests::*;

const HOME: &str = "192.0.2.1";

/// Whether a login is let through to the password, which is wrong; else the seconds to wait.
async fn fails(connections: &Connections, email: &str, source: &str, now: Timestamp) -> Result<(), u64> {
    match connections.begin_login(email, source, now).await {
        Ok(_) => Ok(()),
        Err(Error::RateLimited(wait)) => Err(wait.as_secs()),
        Err(error) => panic!("{error}"),
    }
}

/// A login with the right password.
async fn succeeds(connections: &Connections, email: &str, source: &str, now: Timestamp) {
    let attempt = connections.begin_login(email, source, now).await.unwrap_or_else(|error| panic!("{email}: {error}"));
    connections.login_succeeded(attempt, now).await.unwrap();
}

/// A moment at which a window begins.
fn beginning() -> Timestamp {
    Timestamp(NOW.0 - NOW.0 % 300_000)
}

fn later(seconds: u64) -> Timestamp {
    beginning().after(Duration::from_secs(seconds))
}

#[tokio::test]
async fn ten_failures_of_an_e_mail_from_one_source_are_verified() {
    let Stores { connections, .. } = stores().await;
    for n in 0..10 {
        assert_eq!(fails(&connections, "a@x.y", HOME, later(n)).await, Ok(()), "{n}");
    }
    for seconds in [10, 100, 299] {
        assert_eq!(fails(&connections, "a@x.y", HOME, later(seconds)).await, Err(300 - seconds));
    }
    assert_eq!(fails(&connections, "a@x.y", "192.0.2.2", later(299)).await, Ok(()), "elsewhere");
    assert_eq!(fails(&connections, "b@x.y", HOME, later(299)).await, Ok(()), "somebody else");
    assert_eq!(fails(&connections, "a@x.y", HOME, later(300)).await, Ok(()), "in the next window");
}

#[tokio::test]
async fn logins_at_the_same_moment_are_limited_too() {
    let Stores { connections, .. } = stores().await;
    let all = join_all((0..40).map(|_| fails(&connections, "a@x.y", HOME, later(0)))).await;
    assert_eq!(all.into_iter().filter(Result::is_ok).count(), 10);
}

#[tokio::test]
async fn a_right_password_does_not_count_and_clears_earlier_failures() {
    let Stores { connections, .. } = stores().await;
    for _ in 0..3 {
        for _ in 0..9 {
            assert_eq!(fails(&connections, "a@x.y", HOME, later(0)).await, Ok(()));
        }
        succeeds(&connections, "a@x.y", HOME, later(0)).await;
    }
    for n in 0..110 {
        succeeds(&connections, &format!("{n}@x.y"), "192.0.2.2", later(0)).await;
        succeeds(&connections, "a@x.y", &format!("192.0.2.{n}"), later(0)).await;
    }
}

#[tokio::test]
async fn one_source_cannot_use_up_the_limit_of_an_e_mail() {
    let Stores { connections, .. } = stores().await;
    for _ in 0..200 {
        let _ = fails(&connections, "a@x.y", "192.0.2.66", later(0)).await;
    }
    assert_eq!(fails(&connections, "a@x.y", HOME, later(1)).await, Ok(()));
}

#[tokio::test]
async fn an_attack_from_many_sources_does_not_refuse_a_known_one() {
    let Stores { connections, .. } = stores().await;
    succeeds(&connections, "a@x.y", HOME, beginning()).await;
    for (days, is_known) in [(0, true), (29, true), (30, false)] {
        let now = later(days * 24 * 3_600 + 300);
        for source in 10..15 {
            for _ in 0..10 {
                assert_eq!(fails(&connections, "a@x.y", &format!("198.51.100.{source}"), now).await, Ok(()));
            }
        }
        assert_eq!(fails(&connections, "a@x.y", "198.51.100.1", now).await, Err(300), "an unknown source");
        assert_eq!(fails(&connections, "a@x.y", HOME, now).await.is_ok(), is_known, "after {days} days");
    }
}

#[tokio::test]
async fn a_source_with_many_failures_lets_known_agents_in() {
    let Stores { connections, .. } = stores().await;
    succeeds(&connections, "known@x.y", HOME, later(0)).await;
    for n in 0..100 {
        assert_eq!(fails(&connections, &format!("{n}@x.y"), HOME, later(1)).await, Ok(()), "{n}");
    }
    assert_eq!(fails(&connections, "new@x.y", HOME, later(2)).await, Err(298));
    succeeds(&connections, "known@x.y", HOME, later(2)).await;
    assert_eq!(fails(&connections, "new@x.y", "192.0.2.2", later(2)).await, Ok(()));
    // One host has a whole /64.
    for n in 0..100 {
        assert_eq!(fails(&connections, &format!("v6-{n}@x.y"), &format!("2001:db8::{n:x}"), later(3)).await, Ok(()));
    }
    assert_eq!(fails(&connections, "new@x.y", "2001:db8::ffff", later(3)).await, Err(297));
}
