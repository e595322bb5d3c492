//! The faults of a round, derived from the seed.

use local::faults::{FaultPlan, Generator, MessageFaultRates, RequestFaultRates};

/// How long the rates of the faults stay the same.
pub const SLOT_MS: u64 = 5_000;
pub const MAX_CLOCK_ERROR_MS: u64 = 500;

pub struct RoundPlan {
    /// The faults of each slot. A slot lasts [`SLOT_MS`]; the last one may be shorter.
    pub slots: Vec<FaultPlan>,
    /// The times at which the host is killed, in milliseconds since the start of the first slot.
    pub host_kills_ms: Vec<u64>,
}

impl RoundPlan {
    pub fn new(generator: &Generator, seconds: u64) -> Self {
        let length_ms = seconds * 1_000;
        let slots = (0..length_ms.div_ceil(SLOT_MS)).map(|slot| slot_plan(&generator.part(&format!("slot {slot}"))));
        let mut kills = generator.part("host kills");
        let kill_count = if seconds < 20 { 0 } else { 1 + u64::from(kills.is_chosen(300)) };
        // The host is not killed in the first ten seconds, because the account has little data to lose then.
        let mut host_kills_ms: Vec<u64> =
            (0..kill_count).map(|_| 10_000 + kills.below(length_ms.saturating_sub(15_000))).collect();
        host_kills_ms.sort_unstable();
        Self { slots: slots.collect(), host_kills_ms }
    }
}

/// Returns the faults of a slot. Each kind of fault is absent, rare or frequent, independently of the others.
fn slot_plan(generator: &Generator) -> FaultPlan {
    let mut rates = generator.part("rates");
    let mut rate = |rare: u64, frequent: u64| match rates.below(4) {
        0 | 1 => 0,
        2 => rare,
        _ => frequent,
    };
    FaultPlan {
        seed: generator.part("decisions").next_number(),
        tables: RequestFaultRates {
            throttled: rate(30, 200),
            failed: rate(30, 200),
            lost_answers: rate(20, 100),
            silent: rate(5, 30),
            delayed: rate(30, 150),
            max_delay_ms: 900,
        },
        queues: RequestFaultRates {
            throttled: rate(30, 300),
            failed: rate(30, 300),
            lost_answers: rate(30, 150),
            silent: rate(10, 60),
            delayed: rate(50, 200),
            max_delay_ms: 900,
        },
        customers: RequestFaultRates {
            throttled: rate(50, 300),
            failed: rate(50, 300),
            lost_answers: rate(50, 300),
            silent: rate(10, 60),
            delayed: rate(50, 200),
            max_delay_ms: 900,
        },
        crashes: rate(10, 50),
        max_crash_delay_ms: 150,
        messages: MessageFaultRates {
            repeated: rate(30, 150),
            early_visibility: rate(30, 150),
            overtaken: rate(50, 300),
            max_delay_ms: 3_000,
        },
        max_clock_error_ms: rate(50, MAX_CLOCK_ERROR_MS),
    }
}
