//! Whatever senders and receivers do, in whatever order: a FIFO queue delivers exactly what its
//! rules, written down a second time without an index or a `due_at`, say.

use super::*;

const GROUPS: [&str; 3] = ["g", "h", "i"];
const VISIBILITY_MS: u64 = 30_000;
const MAX_RECEIVES: u32 = 3;

/// A message as the plain rules see it, in the order of sending.
#[derive(Debug, Clone)]
struct Known {
    group: &'static str,
    body: String,
    visible_at: u64,
    receives: u32,
}

/// The rules as a list: first the exhausted leave, then a group gives up its messages from the
/// front, unless one is in flight.
#[derive(Default)]
struct Model(Vec<Known>);

impl Model {
    fn receive(&mut self, now: u64) -> Vec<String> {
        let mut bodies = Vec::new();
        for group in GROUPS {
            let in_flight = |known: &Known| known.receives > 0 && known.visible_at > now;
            if self.of(group).any(in_flight) {
                continue;
            }
            self.drop_exhausted_front(group);
            for known in self.0.iter_mut().filter(|known| known.group == group) {
                if known.receives >= MAX_RECEIVES {
                    break;
                }
                known.receives += 1;
                known.visible_at = now + VISIBILITY_MS;
                bodies.push(known.body.clone());
            }
        }
        bodies.sort();
        bodies
    }

    fn of(&self, group: &str) -> impl Iterator<Item = &Known> {
        self.0.iter().filter(move |known| known.group == group)
    }

    fn drop_exhausted_front(&mut self, group: &str) {
        let fresh = |known: &&Known| known.receives < MAX_RECEIVES;
        let first_fresh = self.of(group).find(fresh).map(|known| known.body.clone());
        let mut leaving = true;
        self.0.retain(|known| {
            leaving &= known.group != group || Some(&known.body) != first_fresh.as_ref();
            known.group != group || !leaving
        });
    }

    fn delete(&mut self, body: &str) {
        self.0.retain(|known| known.body != body);
    }
}

/// A small generator (xorshift), so that a failing run can be repeated by its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

#[test]
fn a_fifo_queue_delivers_what_the_plain_rules_say() {
    for seed in 1..=60 {
        play(seed);
    }
}

fn play(seed: u64) {
    let bench = Bench::new(vec![
        QueueDefinition { dead_letter: dead_letter("dead.fifo", MAX_RECEIVES), ..queue("q.fifo") },
        queue("dead.fifo"),
    ]);
    let (mut dice, mut model, mut held) = (Dice(seed), Model::default(), Vec::<Message>::new());
    for step in 0..200_u64 {
        let now = step * 4_000;
        match dice.roll(4) {
            0 | 1 => {
                let group = GROUPS[dice.roll(GROUPS.len())];
                let body = format!("{step:03}");
                bench.send(now, "q.fifo", grouped(group, &body));
                model.0.push(Known { group, body, visible_at: now, receives: 0 });
            }
            2 => {
                let received = bench.receive(now, "q.fifo", 1_000);
                assert_in_order(&received);
                let mut found = bodies(&received);
                found.sort_unstable();
                assert_eq!(found, model.receive(now), "seed {seed}, step {step}");
                held.extend(received);
            }
            _ if !held.is_empty() => {
                let message = held.swap_remove(dice.roll(held.len()));
                // A handle that expired is refused, and the model keeps its message too.
                if bench.delete(now, "q.fifo", &message).is_ok() {
                    model.delete(&message.body);
                }
            }
            _ => {}
        }
    }
}

fn assert_in_order(received: &[Message]) {
    for group in GROUPS {
        let of_group = received.iter().filter(|m| m.group.as_deref() == Some(group));
        assert!(of_group.is_sorted_by_key(|message| &message.body));
    }
}
