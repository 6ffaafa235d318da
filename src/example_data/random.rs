//! Numbers that look random and are the same each time, so that everybody sees the same example.

/// `SplitMix64`, as in Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(super) fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.next() % u64::from(end)).unwrap_or(0)
    }

    /// Whether something happens that happens `permille` times in a thousand.
    pub(super) fn happens(&mut self, permille: u32) -> bool {
        self.below(1_000) < permille
    }

    pub(super) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let place = self.below(u32::try_from(from.len()).unwrap_or(u32::MAX).max(1));
        from.get(place as usize).copied().unwrap_or_default()
    }
}
