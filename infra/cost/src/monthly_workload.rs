//! A month of chats as described on the command line, and how often each scenario occurs in it.

use clap::{Args, Parser};

use crate::function_usage::{Usage, total};
use crate::measured_operations::{Scenario, ScenarioUsage};

/// The number of minutes in a 730-hour month.
pub const MINUTES_PER_MONTH: f64 = 43_800.0;

/// A month of chats. All messages are texts, every receiver responds, and agents close the chats that they accept.
#[derive(Debug, Clone, Parser)]
#[command(name = "cost", version, about = "Prices a month of chats from requests that are counted on this machine")]
pub struct Workload {
    /// Number of messages from visitors, agents and bots in the month
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub messages: u32,
    /// Number of messages per chat
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub per_chat: u32,
    /// Share of the messages that come from agents or bots
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = parse_share)]
    pub answers: f64,
    /// Share of the chats that a bot handles from start to finish
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = parse_share)]
    pub bots: f64,
    /// Share of the answers whose first delivery attempt fails
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = parse_share)]
    pub retries: f64,
    /// Notify a webhook when a chat is accepted and when it is closed
    #[arg(long)]
    pub webhook: bool,
    /// Number of open web sockets; if there are any, each change of a chat is pushed through one of them
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub sockets: u32,
    #[command(flatten)]
    pub assumptions: Assumptions,
}

/// Values that can only be measured on AWS. The defaults are estimates; replace them with the metrics of your stack.
#[derive(Debug, Clone, Args)]
pub struct Assumptions {
    /// Memory per function in MB
    #[arg(long, value_name = "MB", default_value_t = 256)]
    pub memory: u32,
    /// Average duration of an invocation, including cold starts but not the time spent waiting for a receiver
    #[arg(long, value_name = "MS", default_value_t = 25.0)]
    pub function_ms: f64,
    /// Average duration of an invocation of deliver-push when no socket is open
    #[arg(long, value_name = "MS", default_value_t = 8.0)]
    pub push_ms: f64,
    /// Response time of integrators, webhooks and bots
    #[arg(long, value_name = "MS", default_value_t = 200.0)]
    pub receiver_ms: f64,
    /// Size of the log output per invocation, including the access log
    #[arg(long, value_name = "BYTES", default_value_t = 500.0)]
    pub log_bytes: f64,
    /// Number of 20-second long polls that Lambda keeps open on each queue (it starts with five and may reduce them to
    /// two)
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub pollers: u32,
    /// Number of custom metrics that the functions write
    #[arg(long, value_name = "N", default_value_t = 16.0)]
    pub metrics: f64,
}

#[derive(Debug, thiserror::Error)]
#[error("expected a number from 0 to 1")]
struct ShareError;

fn parse_share(text: &str) -> Result<f64, ShareError> {
    let share = text.parse().map_err(|_| ShareError)?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(ShareError) }
}

impl Default for Workload {
    fn default() -> Self {
        Self::parse_from(["cost"])
    }
}

impl Workload {
    /// Returns how often each scenario occurs in the month.
    pub fn scenarios(&self) -> Vec<(Scenario, f64)> {
        let messages = f64::from(self.messages);
        let (chats, answers) = (messages / f64::from(self.per_chat), messages * self.answers);
        let further_messages = (messages - answers - chats).max(0.0);
        let first_answers = chats.min(answers);
        let (bot_share, agent_share) = (self.bots, 1.0 - self.bots);
        let (accept, close) = if self.webhook {
            (Scenario::AcceptWithWebhook, Scenario::CloseWithWebhook)
        } else {
            (Scenario::Accept, Scenario::Close)
        };
        vec![
            (Scenario::FirstMessage, chats * agent_share),
            (Scenario::VisitorMessage, further_messages * agent_share),
            (accept, chats * agent_share),
            (Scenario::FirstAnswer, first_answers * agent_share),
            (Scenario::AgentMessage, (answers - first_answers) * agent_share),
            (close, chats * agent_share),
            (Scenario::FirstMessageToBot, chats * bot_share),
            (Scenario::MessageToBot, further_messages * bot_share),
            (Scenario::BotAnswerCheck, (chats + further_messages) * bot_share),
            (Scenario::BotMessage, answers * bot_share),
        ]
    }

    pub fn monthly_usage(&self, usage: &ScenarioUsage) -> Usage {
        let usage_of = |scenario: Scenario| usage.get(&scenario).map(total).unwrap_or_default();
        let mut month = Usage::default();
        for (scenario, times) in self.scenarios() {
            month += usage_of(scenario) * times;
        }
        // So far, every answer has been counted as delivered on the first attempt. For each answer that needs a retry,
        // this successful attempt is replaced with a failed first attempt and a successful second one.
        let first_attempt = usage.get(&Scenario::AgentMessage).and_then(|usage| usage.get("deliver-channel"));
        let both_attempts = usage_of(Scenario::FailedAttempt) + usage_of(Scenario::DeliveryAfterRetry);
        let retry = both_attempts - first_attempt.copied().unwrap_or_default();
        month += retry * (f64::from(self.messages) * self.answers * self.retries);
        month
    }

    /// Returns the usage of `deliver-push` in the month, which [`monthly_usage`](Self::monthly_usage) does not include.
    pub fn monthly_push_usage(&self, usage: &ScenarioUsage) -> Usage {
        let push = if self.sockets > 0 { Scenario::PushToAgent } else { Scenario::Push };
        let push = usage.get(&push).map(total).unwrap_or_default();
        push * self.monthly_usage(usage).pushed_changes
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parse(line: &str) -> Result<Workload, clap::Error> {
        Workload::try_parse_from(line.split(' '))
    }

    fn scenarios(line: &str) -> Vec<(Scenario, f64)> {
        let scenarios = parse(line).unwrap().scenarios();
        scenarios.into_iter().filter(|(_, times)| *times > 0.0).collect()
    }

    #[test]
    fn messages_are_split_into_scenarios() {
        for (line, expected) in [
            (
                "cost",
                vec![
                    (Scenario::FirstMessage, 100_000.0),
                    (Scenario::VisitorMessage, 400_000.0),
                    (Scenario::Accept, 100_000.0),
                    (Scenario::FirstAnswer, 100_000.0),
                    (Scenario::AgentMessage, 400_000.0),
                    (Scenario::Close, 100_000.0),
                ],
            ),
            (
                "cost --messages 100 --per-chat 4 --answers 0.25 --bots 1",
                vec![
                    (Scenario::FirstMessageToBot, 25.0),
                    (Scenario::MessageToBot, 50.0),
                    (Scenario::BotAnswerCheck, 75.0),
                    (Scenario::BotMessage, 25.0),
                ],
            ),
            (
                "cost --messages 10 --per-chat 1 --answers 0 --webhook",
                vec![
                    (Scenario::FirstMessage, 10.0),
                    (Scenario::AcceptWithWebhook, 10.0),
                    (Scenario::CloseWithWebhook, 10.0),
                ],
            ),
        ] {
            assert_eq!(scenarios(line), expected, "{line}");
        }
    }

    #[test]
    fn invalid_options_are_refused() {
        for line in
            ["cost --bots 1.1", "cost --answers -1", "cost --retries x", "cost --per-chat 0", "cost --answers NaN"]
        {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
