//! The command line of `tests/bench/run`, which selects the measures.

use std::path::PathBuf;

use clap::Parser;

use crate::measures::Measure;

/// Measures the functions on this machine. `tests/bench/run` builds them and sets the folders.
#[derive(Debug, Parser)]
#[command(name = "tests/bench/run")]
pub struct Arguments {
    /// Measures to run, separated by commas [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    only: Vec<Measure>,
    /// Number of rounds; each round measures the compared programs in turn
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,
    /// Folder for the report and its plots
    #[arg(long, value_name = "DIR", overrides_with = "out")]
    pub out: PathBuf,
    /// Folder of the functions
    #[arg(long, value_name = "DIR", hide = true)]
    pub functions: PathBuf,
    /// Folder of the peers and their packages
    #[arg(long, value_name = "DIR", hide = true)]
    pub peers: PathBuf,
}

impl Arguments {
    /// Returns the selected measures, in the order in which the report lists them.
    pub(crate) fn measures(&self) -> impl Iterator<Item = Measure> {
        Measure::ALL.into_iter().filter(|measure| self.only.is_empty() || self.only.contains(measure))
    }
}
