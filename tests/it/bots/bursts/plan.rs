//! What the visitor and the bot of a chat will do, derived from the seed.

use std::time::Duration;

use local::faults::Generator;

use crate::support::wait::seconds;

/// Everything happens at a multiple of this, so that chats act at the same time and their requests are concurrent.
pub const TICK: Duration = Duration::from_millis(100);
/// The bot's `quiet_ms`, a multiple of a tick.
pub const QUIET: Duration = seconds(3);
/// The bot's `quiet_max_ms`. No burst takes as long.
pub const QUIET_MAX: Duration = seconds(15);

const MAX_BURST: Duration = seconds(5);
const MAX_START: Duration = seconds(5);
const THINKING: [Duration; 2] = [seconds(2), seconds(15)];
/// The visitor goes on at the earliest when the first event is being sent.
const AFTERTHOUGHT: [Duration; 2] = [QUIET, seconds(10)];
/// How many in a thousand visitors go on.
const AFTERTHOUGHTS: u64 = 300;

/// What the bot does with an answer that the service refuses because the visitor has written since. Both are correct
/// (docs/bots.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnSuperseded {
    /// Drops the answer, because the newer messages come as an event. The bot answers every event.
    Drop,
    /// Answers the newer messages from the response, and ignores the event with the same messages.
    AnswerNewer,
}

#[derive(Debug)]
pub struct Plan {
    pub visitor: String,
    /// The time of each message since the start of the simulation.
    pub writes_at: Vec<Duration>,
    /// The number of messages in the burst. A further one is the afterthought.
    pub burst_size: usize,
    pub on_superseded: OnSuperseded,
    random: Generator,
}

impl Plan {
    pub fn new(generator: &Generator, visitor: String) -> Self {
        let mut random = generator.part(&visitor);
        let mut writes_at = burst(&mut random);
        let burst_size = writes_at.len();
        if random.is_chosen(AFTERTHOUGHTS) {
            writes_at.push(writes_at[burst_size - 1] + between(&mut random, AFTERTHOUGHT));
        }
        let on_superseded = if random.is_chosen(500) { OnSuperseded::Drop } else { OnSuperseded::AnswerNewer };
        Self { visitor, writes_at, burst_size, on_superseded, random }
    }

    pub fn text(&self, message: usize) -> String {
        format!("{} writes {message}", self.visitor)
    }

    /// Returns how long the bot thinks about the next event.
    pub fn thinking(&mut self) -> Duration {
        between(&mut self.random, THINKING)
    }
}

/// Returns the times of two to five messages within `MAX_BURST`, with pauses shorter than `QUIET`.
fn burst(random: &mut Generator) -> Vec<Duration> {
    let size = 2 + random.below(4);
    let mut times = vec![between(random, [Duration::ZERO, MAX_START])];
    for later in (0..size - 1).rev() {
        let longest = QUIET.min(times[0] + MAX_BURST - times[times.len() - 1] - TICK * u32::try_from(later).unwrap());
        times.push(times[times.len() - 1] + between(random, [TICK, longest.max(TICK * 2)]));
    }
    times
}

/// Returns a multiple of a tick, at least `min` and less than `max`.
fn between(random: &mut Generator, [min, max]: [Duration; 2]) -> Duration {
    let ticks = random.below((max - min).as_millis().div_ceil(TICK.as_millis()).try_into().unwrap());
    min + TICK * u32::try_from(ticks).unwrap()
}
