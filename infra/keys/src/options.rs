//! The command-line options of `hot-keys`.

use clap::Parser;

#[derive(Debug, Clone, Parser)]
#[command(name = "hot-keys", version, about = "Finds the busiest partition keys and message groups of a load")]
pub struct Options {
    /// Number of messages a second from visitors, agents and bots, in all accounts together
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub rate: u32,
    /// Number of accounts
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub accounts: u32,
    /// Exponent of the Zipf distribution of the messages among the accounts. With 0, all accounts are equal; with 1,
    /// the second account has half the messages of the first one, the third account a third, and so on
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = parse_number)]
    pub skew: f64,
    /// Number of simulated seconds
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    pub seconds: u32,
    /// Seed of the random numbers; the same options always give the same result
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Number of channels of an account
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub channels: u32,
    /// Number of agents with an open socket in an account, for each message per second in that account. With the
    /// default, an agent writes four messages a minute
    #[arg(long, value_name = "N", default_value_t = 5.0, value_parser = parse_number)]
    pub agents: f64,
    /// Response time of integrators and bots in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    pub receiver_ms: u32,
    /// Value of the stack parameter FirstAttemptsPerAccount
    #[arg(long, value_name = "N", default_value_t = 36, value_parser = clap::value_parser!(u32).range(1..))]
    pub first_attempts_per_account: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self::parse_from(["hot-keys"])
    }
}

#[derive(Debug, thiserror::Error)]
#[error("expected a number from 0 to 1000")]
struct NumberError;

fn parse_number(text: &str) -> Result<f64, NumberError> {
    let number = text.parse().map_err(|_| NumberError)?;
    if (0.0..=1_000.0).contains(&number) { Ok(number) } else { Err(NumberError) }
}
