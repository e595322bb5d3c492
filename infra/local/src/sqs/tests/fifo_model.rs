//! A model-based test of FIFO queues: random sends, receives and deletes must give the same result in the engine and in
//! a simple model that keeps the messages in a list.

use super::*;

const GROUPS: [&str; 3] = ["g", "h", "i"];
const VISIBILITY_TIMEOUT_MS: u64 = 30_000;
const MAX_RECEIVE_COUNT: u32 = 3;

#[derive(Debug, Clone)]
struct ModelMessage {
    group: &'static str,
    body: String,
    visible_at_ms: u64,
    receive_count: u32,
}

/// The messages in the order in which they were sent. A receive skips each group that has a message in flight. In every
/// other group, it removes the exhausted messages (those that have reached their maximum receive count) at the start,
/// and returns the messages up to the next exhausted one.
#[derive(Default)]
struct ModelQueue(Vec<ModelMessage>);

impl ModelQueue {
    fn receive(&mut self, now_ms: u64) -> Vec<String> {
        let mut bodies = Vec::new();
        for group in GROUPS {
            let is_in_flight = |message: &ModelMessage| message.receive_count > 0 && message.visible_at_ms > now_ms;
            if self.messages_of(group).any(is_in_flight) {
                continue;
            }
            self.remove_exhausted_at_start(group);
            for message in self.0.iter_mut().filter(|message| message.group == group) {
                if message.receive_count >= MAX_RECEIVE_COUNT {
                    break;
                }
                message.receive_count += 1;
                message.visible_at_ms = now_ms + VISIBILITY_TIMEOUT_MS;
                bodies.push(message.body.clone());
            }
        }
        bodies.sort();
        bodies
    }

    fn messages_of(&self, group: &str) -> impl Iterator<Item = &ModelMessage> {
        self.0.iter().filter(move |message| message.group == group)
    }

    fn remove_exhausted_at_start(&mut self, group: &str) {
        let is_receivable = |message: &&ModelMessage| message.receive_count < MAX_RECEIVE_COUNT;
        let first_receivable = self.messages_of(group).find(is_receivable).map(|message| message.body.clone());
        let mut is_at_start = true;
        self.0.retain(|message| {
            is_at_start &= message.group != group || Some(&message.body) != first_receivable.as_ref();
            message.group != group || !is_at_start
        });
    }

    fn delete(&mut self, body: &str) {
        self.0.retain(|message| message.body != body);
    }
}

/// A pseudorandom number generator (xorshift). The same seed reproduces a failed run.
struct RandomGenerator(u64);

impl RandomGenerator {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

#[test]
fn random_operations_match_the_model() {
    for seed in 1..=60 {
        compare_with_model(seed);
    }
}

fn compare_with_model(seed: u64) {
    let sqs = TestSqs::new(vec![
        QueueDefinition { redrive_policy: redrive_policy("dead.fifo", MAX_RECEIVE_COUNT), ..queue("q.fifo") },
        queue("dead.fifo"),
    ]);
    let mut random = RandomGenerator(seed);
    let mut model = ModelQueue::default();
    let mut undeleted = Vec::<Message>::new();
    for step in 0..200_u64 {
        let now_ms = step * 4_000;
        match random.below(4) {
            0 | 1 => {
                let group = GROUPS[random.below(GROUPS.len())];
                let body = format!("{step:03}");
                sqs.send(now_ms, "q.fifo", message_in_group(group, &body));
                model.0.push(ModelMessage { group, body, visible_at_ms: now_ms, receive_count: 0 });
            }
            2 => {
                let received = sqs.receive(now_ms, "q.fifo", 1_000);
                assert_groups_are_in_order(&received);
                let mut received_bodies = bodies(&received);
                received_bodies.sort_unstable();
                assert_eq!(received_bodies, model.receive(now_ms), "seed {seed}, step {step}");
                undeleted.extend(received);
            }
            _ if !undeleted.is_empty() => {
                let message = undeleted.swap_remove(random.below(undeleted.len()));
                // If the receipt handle has expired, the engine rejects it, and the message stays in the model as well.
                if sqs.delete(now_ms, "q.fifo", &message).is_ok() {
                    model.delete(&message.body);
                }
            }
            _ => {}
        }
    }
}

fn assert_groups_are_in_order(received: &[Message]) {
    for group in GROUPS {
        let of_group = received.iter().filter(|m| m.group.as_deref() == Some(group));
        assert!(of_group.is_sorted_by_key(|message| &message.body));
    }
}
