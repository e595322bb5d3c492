//! Simulates visitors who write in bursts, and a bot that thinks for seconds, while processes are killed: each turn
//! gets one answer. `BURSTS=10000 cargo test --test it bursts:: -- --nocapture` runs as many as that.
//!
//! # Layout
//! - `plan.rs`: what a visitor and the bot will do, derived from the seed
//! - `simulation.rs`: runs many conversations at the same time, with virtual time
//! - `conversation.rs`: what has happened in a chat, and the rules for it
//! - `costs.rs`: what a burst costs if the bot does not gather messages

mod conversation;
mod costs;
mod plan;
mod simulation;

use std::time::Instant;

use local::faults::Generator;

use self::conversation::{Conversation, EndedChat};
use self::plan::Plan;
use self::simulation::Simulation;
use crate::support::test_host::{TestHost, run_on_own_host_with_virtual_time};
use crate::support::virtual_time::VirtualTime;

const SEED: u64 = 20_260_725;
const DEFAULT_BURSTS: usize = 40;
/// The memory of a run does not grow with the number of bursts: each batch has a host of its own. A channel opens no
/// more than 300 chats in ten seconds.
const BATCH: usize = 250;

#[derive(Debug, Default)]
struct Totals {
    bursts: usize,
    /// The chats none of whose processes was killed.
    undisturbed: usize,
    invocations: f64,
    kills: usize,
    events: usize,
    repeated_events: usize,
    accepted_answers: usize,
    refused_answers: usize,
    with_agents: usize,
    violations: Vec<String>,
}

impl Totals {
    fn add(&mut self, conversation: &Conversation, ended: &EndedChat) {
        let events = conversation.event_ids().len();
        self.bursts += 1;
        self.undisturbed += usize::from(conversation.kills == 0);
        self.events += events;
        self.repeated_events += conversation.events.len() - events;
        self.accepted_answers += conversation.accepted().count();
        self.refused_answers += conversation.superseded();
        self.with_agents += usize::from(ended.state == "waiting");
        for rule in conversation.violations(ended) {
            self.violations.push(format!("{rule}: {conversation:?} {ended:?}"));
        }
    }
}

fn bursts() -> usize {
    std::env::var("BURSTS").map_or(DEFAULT_BURSTS, |number| number.parse().expect("BURSTS is a number"))
}

/// Runs the conversations with these numbers.
async fn run_batch(host: &TestHost, time: &VirtualTime<'_>, numbers: std::ops::Range<usize>, totals: &mut Totals) {
    let generator = Generator::new(SEED);
    let plans = numbers.clone().map(|number| Plan::new(&generator, format!("visitor-{number}"))).collect();
    let mut simulation = Simulation::create(host, time, plans).await;
    simulation.run(generator.part(&format!("kills of {}", numbers.start)).next_number()).await;
    totals.invocations += simulation.invocations();
    let (ended, kills) = simulation.end().await;
    totals.kills += kills;
    for (conversation, ended) in simulation.conversations.iter().zip(&ended) {
        totals.add(conversation, ended);
    }
}

#[test]
fn each_turn_of_many_bursts_gets_one_answer_while_processes_are_killed() {
    let (start, mut totals) = (Instant::now(), Totals::default());
    for first in (0..bursts()).step_by(BATCH) {
        // In the FIFO queues, each chat has a group of its own, so that a kill disturbs only the chats of its tasks.
        run_on_own_host_with_virtual_time(&[("FirstAttemptsPerAccount", "1000")], async |host, time| {
            run_batch(host, time, first..bursts().min(first + BATCH), &mut totals).await;
        });
        eprintln!("after {:?}: {totals:#?}", start.elapsed());
    }
    let violations = std::mem::take(&mut totals.violations);
    assert!(violations.is_empty(), "seed {SEED}, {} violations, the first: {}", violations.len(), violations[0]);
    assert!(totals.kills > 0 && totals.undisturbed > 0 && totals.undisturbed < totals.bursts, "{totals:?}");
}
