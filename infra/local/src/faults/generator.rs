//! A seeded random number generator (`SplitMix64`). It is not cryptographically secure.

/// Produces the same numbers for the same seed, on every machine.
#[derive(Debug, Clone, Default)]
pub struct Generator {
    state: u64,
}

impl Generator {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns a separate generator for the part of the work with this name. Generators for different names produce
    /// unrelated numbers, and drawing numbers from one generator does not change the numbers of another.
    #[must_use]
    pub fn part(&self, name: &str) -> Self {
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Self { state: mix(name.bytes().fold(self.state ^ 0xcbf2_9ce4_8422_2325, hash)) }
    }

    pub fn next_number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// Returns a number from 0 to `limit` - 1, or 0 if `limit` is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next_number().checked_rem(limit).unwrap_or_default()
    }

    /// Returns true with a probability of `rate` in 1,000.
    pub fn is_chosen(&mut self, rate: u64) -> bool {
        self.below(1_000) < rate
    }
}

fn mix(state: u64) -> u64 {
    let first = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let second = (first ^ (first >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    second ^ (second >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_equal_those_of_the_published_algorithm() {
        let mut generator = Generator::new(1_234_567);
        assert_eq!([(); 2].map(|()| generator.next_number()), [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn parts_are_independent() {
        let generator = Generator::new(1);
        let first = |name: &str| generator.part(name).next_number();
        assert_eq!(first("a"), first("a"));
        assert_ne!(first("a"), first("b"));
        assert_ne!(first("a"), Generator::new(2).part("a").next_number());
    }

    #[test]
    fn rates_are_numbers_out_of_a_thousand() {
        let mut generator = Generator::new(3);
        let chosen = (0..10_000).filter(|_| generator.is_chosen(100)).count();
        assert!((900..1_100).contains(&chosen), "{chosen}");
        assert_eq!((generator.is_chosen(0), generator.is_chosen(1_000), generator.below(0)), (false, true, 0));
    }
}
