//! The blocks of a scan: how many bits each of them has. Their values do not matter here.

use super::huffman::{Bits, Codes};

/// The parameters of a scan.
#[derive(Clone, Copy)]
pub(super) struct Scan {
    pub(super) first: u8,
    pub(super) last: u8,
    /// How many of the lowest bits were missing before it, and are missing after it.
    pub(super) before: u8,
    pub(super) after: u8,
}

impl Scan {
    /// Whether a scan of so many components can be like this.
    pub(super) fn is_valid(self, progressive: bool, components: u8) -> bool {
        let Self {
            first,
            last,
            before,
            after,
        } = self;
        if !progressive {
            return (first, last, before, after) == (0, 63, 0, 0);
        }
        let is_band = if first == 0 {
            last == 0
        } else {
            first <= last && last < 64 && components == 1
        };
        is_band && after < 14 && (before == 0 || before == after + 1)
    }
}

/// Reads the blocks of a component in a scan.
pub(super) struct Block {
    pub(super) dc: Option<Codes>,
    pub(super) ac: Option<Codes>,
    pub(super) scan: Scan,
    pub(super) progressive: bool,
    /// How many blocks that follow have no new coefficients.
    pub(super) run: u32,
}

impl Block {
    pub(super) fn read(&mut self, bits: &mut Bits<'_>, set: &mut u64) -> Option<()> {
        let is_refined = self.scan.before > 0;
        match (self.progressive, self.scan.first) {
            (false, _) => {
                self.dc(bits)?;
                self.ac(bits)
            }
            (true, 0) if is_refined => bits.skip(1),
            (true, 0) => self.dc(bits),
            (true, _) if is_refined => self.refine(bits, set),
            (true, _) => self.band(bits, set),
        }
    }

    fn dc(&self, bits: &mut Bits<'_>) -> Option<()> {
        let length = self.dc.as_ref()?.next(bits)?;
        (length < 16).then(|| bits.skip(length.into()))?
    }

    /// The other coefficients of a block that is not progressive.
    fn ac(&self, bits: &mut Bits<'_>) -> Option<()> {
        let codes = self.ac.as_ref()?;
        let mut at = 1;
        while at < 64 {
            let code = codes.next(bits)?;
            match (code >> 4, code & 0xf) {
                (15, 0) => at += 16,
                (_, 0) => return Some(()),
                (zeros, length) => {
                    at += u32::from(zeros) + 1;
                    bits.skip(length.into())?;
                }
            }
        }
        (at == 64).then_some(())
    }

    /// The upper bits of the coefficients from `first` to `last`: T.81, G.1.2.2.
    fn band(&mut self, bits: &mut Bits<'_>, set: &mut u64) -> Option<()> {
        if self.run > 0 {
            self.run -= 1;
            return Some(());
        }
        let codes = self.ac.as_ref()?;
        let mut at = self.scan.first;
        while at <= self.scan.last {
            let code = codes.next(bits)?;
            match (code >> 4, code & 0xf) {
                (15, 0) => at += 16,
                (exponent, 0) => {
                    self.run = (1 << exponent) - 1 + bits.number(exponent.into())?;
                    return Some(());
                }
                (zeros, length) => {
                    at += zeros;
                    if at > self.scan.last {
                        return None;
                    }
                    bits.skip(length.into())?;
                    *set |= 1 << at;
                    at += 1;
                }
            }
        }
        (at == self.scan.last + 1).then_some(())
    }

    /// One more bit of the same: T.81, G.1.2.3. Coefficients that are set have a bit each; the others are counted.
    fn refine(&mut self, bits: &mut Bits<'_>, set: &mut u64) -> Option<()> {
        let codes = self.ac.as_ref()?;
        let last = self.scan.last;
        let mut at = self.scan.first;
        while self.run == 0 && at <= last {
            let code = codes.next(bits)?;
            let mut zeros = code >> 4;
            let is_new = match (zeros, code & 0xf) {
                (15, 0) => false,
                (exponent, 0) => {
                    self.run = (1 << exponent) + bits.number(exponent.into())?;
                    break;
                }
                (_, 1) => {
                    bits.skip(1)?;
                    true
                }
                _ => return None,
            };
            while at <= last {
                if *set >> at & 1 == 1 {
                    bits.skip(1)?;
                } else if zeros == 0 {
                    break;
                } else {
                    zeros -= 1;
                }
                at += 1;
            }
            if is_new {
                if at > last {
                    return None;
                }
                *set |= 1 << at;
            }
            at += 1;
        }
        if self.run > 0 {
            for at in at..=last {
                bits.skip((*set >> at & 1) as u32)?;
            }
            self.run -= 1;
        }
        Some(())
    }
}
