//! Random numbers, and random choices between alternatives with different weights, such as accounts whose sizes follow
//! a Zipf distribution.

/// The generator SplitMix64. It is sufficient for a simulation, and the same seed always gives the same numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 (inclusive) to 1 (exclusive).
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a number below `end`, which must be positive.
    pub fn below(&mut self, end: u64) -> u64 {
        ((self.share() * end as f64) as u64).min(end.saturating_sub(1))
    }
}

/// Draws the index of an alternative with a probability proportional to its weight.
pub struct Weighted {
    /// For each alternative, the sum of its weight and all earlier weights.
    sums: Vec<f64>,
}

impl Weighted {
    pub fn new(weights: impl IntoIterator<Item = f64>) -> Self {
        let sums = weights.into_iter().scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self { sums: sums.collect() }
    }

    /// Returns a Zipf distribution of accounts: account `n`, counted from 1, has the weight 1 / n^`skew`.
    pub fn zipf(accounts: u32, skew: f64) -> Self {
        Self::new((1..=accounts).map(|n| f64::from(n).powf(-skew)))
    }

    fn total(&self) -> f64 {
        self.sums.last().copied().unwrap_or_default()
    }

    /// Returns the probability of an alternative, or 0 if there is none with this index.
    pub fn share(&self, index: usize) -> f64 {
        let before = index.checked_sub(1).and_then(|before| self.sums.get(before)).copied().unwrap_or_default();
        self.sums.get(index).map_or(0.0, |sum| (sum - before) / self.total())
    }

    pub fn draw(&self, random: &mut Random) -> usize {
        let at = random.share() * self.total();
        self.sums.partition_point(|sum| *sum <= at).min(self.sums.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_the_distribution() {
        let accounts = Weighted::zipf(4, 1.0);
        let shares: Vec<f64> = (0..5).map(|index| accounts.share(index)).collect();
        let expected = [12.0 / 25.0, 6.0 / 25.0, 4.0 / 25.0, 3.0 / 25.0, 0.0];
        assert!(shares.iter().zip(expected).all(|(share, expected)| (share - expected).abs() < 1e-9), "{shares:?}");
        let mut random = Random::new(7);
        let first = (0..10_000).filter(|_| accounts.draw(&mut random) == 0).count();
        assert!((4_600..5_000).contains(&first), "{first}");
    }

    #[test]
    fn same_seed_gives_the_same_numbers() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            [random.below(1_000), random.below(1_000), random.below(1_000)]
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        assert_eq!(Random::new(1).below(1), 0);
    }
}
