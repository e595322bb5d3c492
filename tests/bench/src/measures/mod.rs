//! The measures.

mod cold_start;
mod programs;
mod size;
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
}

impl Measure {
    /// All measures in the order of the report.
    pub const ALL: [Self; 3] = [Self::ColdStart, Self::Warm, Self::Size];

    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    pub async fn run(self, arguments: &Arguments) -> Result<Section, Error> {
        match self {
            Self::ColdStart => cold_start::run(arguments).await,
            Self::Warm => warm::run(arguments).await,
            Self::Size => size::run(arguments),
        }
    }
}
