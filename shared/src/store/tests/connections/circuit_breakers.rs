//! Tests of circuit breakers, which protect the queue from receivers that hang.

use crate::store::connections::circuit_breakers::CircuitBreakers;
use crate::store::tests::*;

const RECEIVER: &str = "channel#CH";

async fn two_processes() -> [CircuitBreakers; 2] {
    let client = stores().await.client;
    [0, 1].map(|_| CircuitBreakers::new(Table::new(client.clone(), "connections")))
}

impl CircuitBreakers {
    /// Counts five first attempts that hung, one per second, starting at `from`. Returns the seconds at which a failure
    /// opened the breaker.
    async fn count_five_failures(&self, from: u64) -> Vec<u64> {
        let mut opened = Vec::new();
        for second in from..from + 5 {
            if self.count_hang(RECEIVER, seconds_later(second)).await.unwrap() {
                opened.push(second);
            }
        }
        opened
    }

    async fn is_open_at(&self, second: u64) -> bool {
        self.is_open(RECEIVER, seconds_later(second)).await.unwrap()
    }
}

#[tokio::test]
async fn five_failures_open_a_breaker_and_one_response_closes_it() {
    let [one, other] = two_processes().await;
    assert_eq!(one.count_five_failures(0).await, [4], "the fifth opens it");
    assert!(one.is_open_at(5).await);
    assert!(!one.is_open("channel#OTHER", seconds_later(5)).await.unwrap());
    assert!(!other.is_open_at(5).await, "this process has seen no failure and does not read the item");
    other.count_hang(RECEIVER, seconds_later(5)).await.unwrap();
    assert!(other.is_open_at(6).await, "its own failure makes it read the item");

    assert!(one.close(RECEIVER).await.unwrap());
    assert!(!one.is_open_at(7).await);
    assert!(!other.is_open_at(8).await, "it reads the item again after two seconds");
    assert!(!one.close(RECEIVER).await.unwrap(), "it is already closed");
}

#[tokio::test]
async fn response_between_failures_resets_the_count() {
    let [one, other] = two_processes().await;
    for second in 0..4 {
        other.count_hang(RECEIVER, seconds_later(second)).await.unwrap();
    }
    other.close(RECEIVER).await.unwrap();
    assert_eq!(one.count_five_failures(4).await, [8]);
}

#[tokio::test]
async fn concurrent_failures_in_several_processes_are_all_counted() {
    let client = stores().await.client;
    let processes: Vec<_> = (0..5).map(|_| CircuitBreakers::new(Table::new(client.clone(), "connections"))).collect();
    for (second, before) in [(0, "nothing"), (10, "expired failures"), (12, "a response")] {
        if before == "a response" {
            processes[0].close(RECEIVER).await.unwrap();
        }
        let failures = processes.iter().map(|process| process.count_hang(RECEIVER, seconds_later(second)));
        let opened = join_all(failures).await.into_iter().filter(|opened| *opened.as_ref().unwrap()).count();
        assert_eq!(opened, 1, "after {before}");
    }
}

#[tokio::test]
async fn failures_far_apart_do_not_open_a_breaker() {
    let [one, _] = two_processes().await;
    for n in 0..10 {
        assert!(!one.count_hang(RECEIVER, seconds_later(n * 10)).await.unwrap(), "{n}");
        assert!(!one.is_open_at(n * 10 + 1).await, "{n}");
    }
}

#[tokio::test]
async fn breaker_stays_open_while_later_attempts_hang() {
    let [one, other] = two_processes().await;
    other.keep_open(RECEIVER, seconds_later(0)).await.unwrap();
    assert!(!other.is_open_at(1).await, "a later attempt alone does not open it");
    one.count_five_failures(0).await;
    for second in [8, 16, 24] {
        other.keep_open(RECEIVER, seconds_later(second)).await.unwrap();
    }
    assert!(one.is_open_at(33).await && other.is_open_at(33).await);
    assert!(!one.is_open_at(36).await, "no failure for ten seconds");
    other.keep_open(RECEIVER, seconds_later(36)).await.unwrap();
    assert!(!one.is_open_at(36).await, "an expired breaker is not extended");
}
