//! Summaries of samples.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::error::Error;

/// The longest duration that a histogram can record. Longer durations are recorded as this value.
const MAX_MICROSECONDS: u64 = 120_000_000;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    /// Returns the minimum, the median and the maximum of the samples. Without samples, all three are NaN.
    pub fn of(samples: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = samples.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
        let (last, middle) = (sorted.len().saturating_sub(1), sorted.len() / 2);
        let median = if sorted.len().is_multiple_of(2) { f64::midpoint(at(last / 2), at(middle)) } else { at(middle) };
        Self { min: at(0), median, max: at(last) }
    }

    pub fn of_milliseconds(samples: &[Duration]) -> Self {
        Self::of(samples.iter().copied().map(milliseconds))
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} to {})", rounded(self.median), rounded(self.min), rounded(self.max))
    }
}

pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// Rounds a number below 1 to three decimal places, and any other number to at least three significant digits.
pub(crate) fn rounded(number: f64) -> String {
    match number.abs() {
        ..1.0 => format!("{number:.3}"),
        ..10.0 => format!("{number:.2}"),
        ..100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

/// A histogram of durations, with a precision of three significant digits.
pub(crate) struct Latencies(Histogram<u64>);

impl Latencies {
    pub fn new() -> Result<Self, Error> {
        Ok(Self(Histogram::new_with_bounds(1, MAX_MICROSECONDS, 3)?))
    }

    pub fn record(&mut self, duration: Duration) {
        self.0.saturating_record(u64::try_from(duration.as_micros()).unwrap_or(MAX_MICROSECONDS));
    }

    /// Returns a quantile, such as 0.99, in milliseconds.
    pub fn quantile(&self, quantile: f64) -> f64 {
        Duration::from_micros(self.0.value_at_quantile(quantile)).as_secs_f64() * 1_000.0
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_has_the_middle_of_the_samples() {
        assert_eq!(Spread::of([3.0, 1.0, 2.0]), Spread { min: 1.0, median: 2.0, max: 3.0 });
        assert_eq!(Spread::of([4.0, 1.0]).median, 2.5);
        assert_eq!(Spread::of([0.5, 12.34, 300.4]).to_string(), "12.3 (0.500 to 300)");
    }
}
