//! Circuit breakers of receivers that hang.

use crate::store::connections::breakers::Breakers;
use crate::store::tests::*;

const RECEIVER: &str = "channel#CH";

/// Two processes with one table.
async fn processes() -> [Breakers; 2] {
    let client = stores().await.client;
    [0, 1].map(|_| Breakers::new(Table::new(client.clone(), "connections")))
}

impl Breakers {
    /// Five first attempts hang until they fail, one a second from then on; returns which of them opened the breaker.
    async fn five_failures(&self, from: u64) -> Vec<u64> {
        let mut opened = Vec::new();
        for second in from..from + 5 {
            if self.count_failure(RECEIVER, at(second)).await.unwrap() {
                opened.push(second);
            }
        }
        opened
    }

    async fn is_open_at(&self, second: u64) -> bool {
        self.is_open(RECEIVER, at(second)).await.unwrap()
    }
}

#[tokio::test]
async fn five_failures_open_a_breaker_and_an_answer_closes_it() {
    let [one, other] = processes().await;
    assert_eq!(one.five_failures(0).await, [4], "the fifth opens it");
    assert!(one.is_open_at(5).await);
    assert!(!one.is_open("channel#OTHER", at(5)).await.unwrap());
    assert!(!other.is_open_at(5).await, "this process has not seen it fail and does not ask");
    other.count_failure(RECEIVER, at(5)).await.unwrap();
    assert!(other.is_open_at(6).await, "it learned of the others' failures with its own");

    assert!(one.close(RECEIVER).await.unwrap());
    assert!(!one.is_open_at(7).await);
    assert!(!other.is_open_at(8).await, "it asks again after two seconds");
    assert!(!one.close(RECEIVER).await.unwrap(), "nothing is left to close");
}

#[tokio::test]
async fn an_answer_between_failures_starts_the_count_anew() {
    let [one, other] = processes().await;
    for second in 0..4 {
        other.count_failure(RECEIVER, at(second)).await.unwrap();
    }
    other.close(RECEIVER).await.unwrap();
    assert_eq!(one.five_failures(4).await, [8]);
}

#[tokio::test]
async fn failures_in_many_processes_at_once_are_all_counted() {
    let client = stores().await.client;
    let processes: Vec<_> = (0..5).map(|_| Breakers::new(Table::new(client.clone(), "connections"))).collect();
    for (second, before) in [(0, "nothing"), (10, "failures that expired"), (12, "an answer")] {
        if before == "an answer" {
            processes[0].close(RECEIVER).await.unwrap();
        }
        let counted = processes.iter().map(|process| process.count_failure(RECEIVER, at(second)));
        let opened = join_all(counted).await.into_iter().filter(|opened| *opened.as_ref().unwrap()).count();
        assert_eq!(opened, 1, "after {before}");
    }
}

#[tokio::test]
async fn failures_far_apart_do_not_open_a_breaker() {
    let [one, _] = processes().await;
    for n in 0..10 {
        assert!(!one.count_failure(RECEIVER, at(n * 10)).await.unwrap(), "{n}");
        assert!(!one.is_open_at(n * 10 + 1).await, "{n}");
    }
}

#[tokio::test]
async fn an_open_breaker_lasts_while_later_attempts_hang() {
    let [one, other] = processes().await;
    other.keep_open(RECEIVER, at(0)).await.unwrap();
    assert!(!other.is_open_at(1).await, "a later attempt alone opens nothing");
    one.five_failures(0).await;
    for second in [8, 16, 24] {
        other.keep_open(RECEIVER, at(second)).await.unwrap();
    }
    assert!(one.is_open_at(33).await && other.is_open_at(33).await);
    assert!(!one.is_open_at(36).await, "nothing failed for ten seconds");
    other.keep_open(RECEIVER, at(36)).await.unwrap();
    assert!(!one.is_open_at(36).await, "what is over does not come back");
}
