//! A month of chats, as the command line describes it, and what it uses of the counted paths.

use clap::{Args, Parser};

use crate::counts::{Counts, total};
use crate::paths::{Path, Tally};

/// Minutes of a month of 730 hours.
pub const MINUTES: f64 = 43_800.0;

/// A month of chats. Everybody who is called answers, all sides write texts, agents close what they accepted.
#[derive(Debug, Clone, Parser)]
#[command(name = "cost", version, about = "Prices a month of chats from requests that are counted on this machine")]
pub struct Workload {
    /// Messages in the month, visitors', agents' and bots' together
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub messages: u32,
    /// Messages in a chat
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub per_chat: u32,
    /// Share of the messages that agents or bots write
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = share)]
    pub answers: f64,
    /// Share of the chats that a bot has from beginning to end
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub bots: f64,
    /// Share of the answers whose first try fails
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = share)]
    pub retries: f64,
    /// A webhook is told when a chat is accepted and when it is closed
    #[arg(long)]
    pub webhook: bool,
    /// Web sockets open at any moment; each message is pushed through one of them when there are any
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub sockets: u32,
    /// What cannot be counted on this machine
    #[command(flatten)]
    pub assumed: Assumed,
}

/// What only a stack on AWS can show. The defaults are guesses; its own metrics know better.
#[derive(Debug, Clone, Args)]
pub struct Assumed {
    /// Memory of a function
    #[arg(long, value_name = "MB", default_value_t = 256)]
    pub memory: u32,
    /// What an invocation takes besides waiting for a receiver, cold starts spread over all
    #[arg(long, value_name = "MS", default_value_t = 25.0)]
    pub function_ms: f64,
    /// What integrators, webhooks and bots take to answer
    #[arg(long, value_name = "MS", default_value_t = 200.0)]
    pub receiver_ms: f64,
    /// Log lines of an invocation, the access log's share included
    #[arg(long, value_name = "BYTES", default_value_t = 500.0)]
    pub log_bytes: f64,
    /// Long polls of 20 s that Lambda keeps open on each queue (it begins with five and may go down to two)
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub pollers: u32,
    /// Metrics that the functions write: outcomes and ages of each kind of delivery, and chats that bots lost
    #[arg(long, value_name = "N", default_value_t = 16.0)]
    pub metrics: f64,
}

#[derive(Debug, thiserror::Error)]
#[error("expected a number from 0 to 1")]
struct NotAShare;

fn share(text: &str) -> Result<f64, NotAShare> {
    let share = text.parse().map_err(|_| NotAShare)?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(NotAShare) }
}

impl Default for Workload {
    /// That of an empty command line.
    fn default() -> Self {
        Self::parse_from(["cost"])
    }
}

impl Workload {
    /// How often each path is taken in the month.
    pub fn paths(&self) -> Vec<(Path, f64)> {
        let messages = f64::from(self.messages);
        let (chats, answers) = (messages / f64::from(self.per_chat), messages * self.answers);
        let further = (messages - answers - chats).max(0.0);
        let (bots, agents) = (self.bots, 1.0 - self.bots);
        let (accept, close) =
            if self.webhook { (Path::AcceptTold, Path::CloseTold) } else { (Path::Accept, Path::Close) };
        vec![
            (Path::FirstMessage, chats * agents),
            (Path::VisitorMessage, further * agents),
            (accept, chats * agents),
            (Path::AgentMessage, answers * agents),
            (close, chats * agents),
            (Path::FirstToBot, chats * bots),
            (Path::ToBot, further * bots),
            (Path::AnswerDue, (chats + further) * bots),
            (Path::FromBot, answers * bots),
        ]
    }

    /// What the month uses.
    pub fn uses(&self, tally: &Tally) -> Counts {
        let of = |path: Path| tally.get(&path).map(total).unwrap_or_default();
        let mut uses = Counts::default();
        for (path, times) in self.paths() {
            uses += of(path) * times;
        }
        // A late delivery does what one in time would have done, and a little more.
        let in_time = tally.get(&Path::AgentMessage).and_then(|bill| bill.get("deliver-channel"));
        let retry = of(Path::FailedTry) + of(Path::LateDelivery) - in_time.copied().unwrap_or_default();
        uses += retry * (f64::from(self.messages) * self.answers * self.retries);
        uses
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn workload(line: &str) -> Result<Workload, clap::Error> {
        Workload::try_parse_from(line.split(' '))
    }

    fn times(line: &str) -> Vec<(Path, f64)> {
        let paths = workload(line).unwrap().paths();
        paths.into_iter().filter(|(_, times)| *times > 0.0).collect()
    }

    #[test]
    fn messages_become_paths() {
        for (line, expected) in [
            (
                "cost",
                vec![
                    (Path::FirstMessage, 100_000.0),
                    (Path::VisitorMessage, 400_000.0),
                    (Path::Accept, 100_000.0),
                    (Path::AgentMessage, 500_000.0),
                    (Path::Close, 100_000.0),
                ],
            ),
            (
                "cost --messages 100 --per-chat 4 --answers 0.25 --bots 1",
                vec![(Path::FirstToBot, 25.0), (Path::ToBot, 50.0), (Path::AnswerDue, 75.0), (Path::FromBot, 25.0)],
            ),
            (
                "cost --messages 10 --per-chat 1 --answers 0 --webhook",
                vec![(Path::FirstMessage, 10.0), (Path::AcceptTold, 10.0), (Path::CloseTold, 10.0)],
            ),
        ] {
            assert_eq!(times(line), expected, "{line}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for line in
            ["cost --bots 1.1", "cost --answers -1", "cost --retries x", "cost --per-chat 0", "cost --answers NaN"]
        {
            assert!(workload(line).is_err(), "{line}");
        }
    }
}
