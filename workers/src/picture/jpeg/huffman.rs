//! Compressed data, bit by bit, and the codes in it. What is not there is never made up.

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
