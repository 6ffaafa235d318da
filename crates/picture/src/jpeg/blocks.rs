//! The blocks of a scan: how many bits each of them has. Their values do not matter here.

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

/// The data of a scan up to the next marker.
pub(super) struct Bits<'a> {
    rest: &'a [u8],
    /// Bits that were read, the next one above all others that are available.
    buffer: u64,
    available: u32,
}

impl<'a> Bits<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self {
            rest,
            buffer: 0,
            available: 0,
        }
    }

    /// Reads whole bytes. A byte 0xff has a zero after it; otherwise it begins a marker.
    fn fill(&mut self) {
        while self.available <= 56 {
            let (byte, rest) = match self.rest {
                [0xff, 0x00, rest @ ..] => (0xff, rest),
                [0xff, ..] | [] => return,
                [byte, rest @ ..] => (*byte, rest),
            };
            self.rest = rest;
            self.buffer = self.buffer << 8 | u64::from(byte);
            self.available += 8;
        }
    }

    /// The next 16 bits; zeros where there are none.
    fn peek(&mut self) -> u32 {
        if self.available < 16 {
            self.fill();
        }
        let bits = if self.available < 16 {
            self.buffer << (16 - self.available)
        } else {
            self.buffer >> (self.available - 16)
        };
        (bits & 0xffff) as u32
    }

    /// Skips up to 16 bits. `None`: there are fewer.
    pub(super) fn skip(&mut self, count: u32) -> Option<()> {
        if self.available < count {
            self.fill();
        }
        self.available = self.available.checked_sub(count)?;
        Some(())
    }

    /// The next bits, up to 16, as a number.
    pub(super) fn number(&mut self, count: u32) -> Option<u32> {
        let bits = self.peek();
        self.skip(count)?;
        Some(bits >> (16 - count))
    }

    /// The data after the scan. `None`: what is left of the scan is no padding, which is less than a byte of ones.
    pub(super) fn end(mut self) -> Option<&'a [u8]> {
        self.fill();
        if self.available >= 8 {
            return None;
        }
        let ones = (1 << self.available) - 1;
        (self.buffer & ones == ones).then_some(self.rest)
    }

    /// Goes on after the restart marker with this number.
    pub(super) fn restart(self, number: u8) -> Option<Self> {
        match without_fill(self.end()?) {
            [0xff, marker, rest @ ..] if *marker == 0xd0 + number % 8 => Some(Self::new(rest)),
            _ => None,
        }
    }
}

/// Any number of bytes 0xff can stand before a marker.
pub(super) fn without_fill(mut data: &[u8]) -> &[u8] {
    while data.starts_with(&[0xff, 0xff]) {
        data = &data[1..];
    }
    data
}

/// A table of codes: ITU-T T.81, annex C.
#[derive(Clone)]
pub(super) struct Codes {
    /// For each length in bits, from 1 on: the first number of 16 bits that does not begin with a code of this length, and
    /// what to add to a code to get the place of its value.
    lengths: [(u32, u32); 16],
    values: Vec<u8>,
}

impl Codes {
    /// From the numbers of codes of each length, and their values.
    pub(super) fn new(counts: &[u8; 16], values: &[u8]) -> Option<Self> {
        let mut lengths = [(0, 0); 16];
        let (mut code, mut place) = (0_u32, 0_u32);
        for (index, (length, count)) in (1..).zip(counts).enumerate() {
            let shift: u32 = 16 - length;
            let first = code >> shift;
            code += u32::from(*count) << shift;
            if code > 1 << 16 {
                return None;
            }
            lengths[index] = (code, place.wrapping_sub(first));
            place += u32::from(*count);
        }
        Some(Self {
            lengths,
            values: values.to_owned(),
        })
    }

    /// The next value. `None`: the data ends, or is damaged.
    pub(super) fn next(&self, bits: &mut Bits<'_>) -> Option<u8> {
        let ahead = bits.peek();
        let (length, (_, place)) = (1..)
            .zip(&self.lengths)
            .find(|(_, (limit, _))| ahead < *limit)?;
        bits.skip(length)?;
        let place = (ahead >> (16 - length)).wrapping_add(*place);
        self.values.get(place as usize).copied()
    }
}
