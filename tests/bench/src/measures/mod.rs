//! The measures, and their order in the report. `messages.rs` contains two of them, the other files one each; only
//! `programs.rs` is not a measure.

mod backlog;
mod cold_start;
mod filters;
mod freed_slots;
mod growth;
mod messages;
mod programs;
mod retry_slots;
mod size;
mod traces;
mod warm;

use clap::ValueEnum;

use crate::arguments::Arguments;
use crate::error::Error;
use crate::report::Section;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Measure {
    ColdStart,
    Warm,
    Size,
    StoreLatency,
    Messages,
    Backlog,
    RetrySlots,
    Growth,
    Filters,
    FreedSlots,
    Traces,
}

impl Measure {
    /// All measures in the order of the report.
    pub const ALL: [Self; 11] = [
        Self::ColdStart,
        Self::Warm,
        Self::Size,
        Self::StoreLatency,
        Self::Messages,
        Self::Backlog,
        Self::RetrySlots,
        Self::Growth,
        Self::Filters,
        Self::FreedSlots,
        Self::Traces,
    ];

    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    pub async fn run(self, arguments: &Arguments) -> Result<Section, Error> {
        match self {
            Self::ColdStart => cold_start::run(arguments).await,
            Self::Warm => warm::run(arguments).await,
            Self::Size => size::run(arguments),
            Self::StoreLatency => messages::run_with_store_latency(arguments).await,
            Self::Messages => messages::run(arguments).await,
            Self::Backlog => backlog::run(arguments).await,
            Self::RetrySlots => retry_slots::run(arguments).await,
            Self::Growth => growth::run(arguments).await,
            Self::Filters => filters::run(arguments).await,
            Self::FreedSlots => freed_slots::run(arguments).await,
            Self::Traces => traces::run(arguments).await,
        }
    }
}
