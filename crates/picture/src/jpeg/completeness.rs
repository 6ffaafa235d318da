//! Whether a file that has no end marker is whole nevertheless. Some programs and cameras leave it out, and some stores cut
//! off the last bytes. So this module counts: every block of every scan must be there, and the scans together must have all
//! bits of all coefficients. Then nothing is missing but the marker. It reads the codes and computes no pixels.

use super::{
    Frame, SOF0, SOF2, SOS,
    blocks::{Bits, Block, Codes, Scan, without_fill},
};

/// The most scans, as of the decoder. Each one can visit every block.
const MAX_SCANS: usize = 100;

const DHT: u8 = 0xc4;
const DRI: u8 = 0xdd;

/// The length of the file without what is left of the marker, if nothing else is missing. Takes time linear in the file and in
/// the blocks of all scans, and for progressive files 8 bytes of memory for each block.
pub(super) fn whole(file: &[u8]) -> Option<usize> {
    let mut reader = Reader::default();
    let mut rest = file.get(2..)?;
    while let [0xff, marker, after @ ..] = without_fill(rest) {
        if matches!(*marker, 0x00 | 0x01 | 0xd0..=0xd9) {
            return None;
        }
        let length = usize::from(u16::from_be_bytes([*after.first()?, *after.get(1)?]));
        let content = after.get(2..length)?;
        rest = &after[length..];
        match *marker {
            SOF0..=SOF2 => reader.begin(*marker, content)?,
            DHT => reader.codes(content)?,
            DRI => reader.restart_interval = u16::from_be_bytes(content.try_into().ok()?).into(),
            SOS => rest = reader.scan(content, rest)?,
            _ => {}
        }
    }
    // Half of the marker, and nothing else that could belong to the picture.
    let is_end = matches!(without_fill(rest), [] | [0xff]);
    let end = file.len() - rest.len();
    // A download that stopped leaves zeros in a file that got its size before. They can mean blocks, too.
    let is_filled = file[..end].ends_with(&[0; 8]);
    (is_end && !is_filled && reader.is_complete()).then_some(end)
}

/// A component of the frame.
struct Component {
    id: u8,
    /// Blocks of a unit.
    across: u32,
    down: u32,
    /// For each coefficient, how many of its lowest bits are missing. `None`: all of them.
    missing: [Option<u8>; 64],
    /// Of a progressive file: which coefficients of each block are not zero. The order of the blocks is that of scans of this
    /// component alone.
    set: Vec<u64>,
}

#[derive(Default)]
struct Reader {
    frame: Option<Frame>,
    components: Vec<Component>,
    /// By class (DC, AC) and number.
    tables: [[Option<Codes>; 4]; 2],
    /// Units from one restart marker to the next; 0: there are none.
    restart_interval: u32,
    scans: usize,
}

impl Reader {
    fn begin(&mut self, marker: u8, content: &[u8]) -> Option<()> {
        let frame = Frame::of(marker, content)?;
        if self.frame.is_some() || frame.precision != 8 || frame.width == 0 || frame.height == 0 {
            return None;
        }
        let components = content
            .get(6..)?
            .chunks_exact(3)
            .map(|component| Component {
                id: component[0],
                across: (component[1] >> 4).into(),
                down: (component[1] & 0xf).into(),
                missing: [None; 64],
                set: Vec::new(),
            });
        self.components = components.collect();
        let sides = |component: &Component| [component.across, component.down];
        let is_right = self.components.len() == usize::from(frame.components)
            && (1..=4).contains(&self.components.len())
            && self
                .components
                .iter()
                .flat_map(sides)
                .all(|side| (1..=4).contains(&side));
        self.frame = Some(frame);
        is_right.then_some(())
    }

    fn codes(&mut self, mut content: &[u8]) -> Option<()> {
        while let [place, rest @ ..] = content {
            let (counts, rest) = rest.split_first_chunk::<16>()?;
            let (values, rest) =
                rest.split_at_checked(counts.iter().copied().map(usize::from).sum())?;
            let table = self.tables.get_mut(usize::from(place >> 4))?;
            *table.get_mut(usize::from(place & 0xf))? = Some(Codes::new(counts, values)?);
            content = rest;
        }
        Some(())
    }

    /// Reads the data of a scan, and returns what follows it.
    fn scan<'a>(&mut self, head: &[u8], data: &'a [u8]) -> Option<&'a [u8]> {
        self.scans += 1;
        let frame = self.frame.as_ref()?;
        let [count, selectors @ .., first, last, bits] = head else {
            return None;
        };
        let scan = Scan {
            first: *first,
            last: *last,
            before: bits >> 4,
            after: bits & 0xf,
        };
        if self.scans > MAX_SCANS
            || selectors.len() != 2 * usize::from(*count)
            || !scan.is_valid(frame.progressive, *count)
        {
            return None;
        }
        let mut chosen: Vec<(usize, u8)> = Vec::new();
        for selector in selectors.chunks_exact(2) {
            let index = self
                .components
                .iter()
                .position(|component| component.id == selector[0])?;
            self.components[index].deliver(scan)?;
            chosen.push((index, selector[1]));
        }
        self.blocks(&chosen, scan, data)
    }

    /// Reads every block of a scan of these components, with the numbers of their tables.
    fn blocks<'a>(
        &mut self,
        chosen: &[(usize, u8)],
        scan: Scan,
        data: &'a [u8],
    ) -> Option<&'a [u8]> {
        let frame = self.frame.as_ref()?;
        let (most_across, most_down) = frame.unit;
        // A unit of a scan of one component is one block. It has no blocks that are outside of the picture.
        let is_single = chosen.len() == 1;
        let units = |side: u32, own: u32, most: u32| {
            if is_single {
                (side * own).div_ceil(8 * most)
            } else {
                side.div_ceil(8 * most)
            }
        };
        let one = &self.components[chosen.first()?.0];
        let units = u64::from(units(frame.width, one.across, most_across))
            * u64::from(units(frame.height, one.down, most_down));
        let units = usize::try_from(units).ok()?;
        let mut blocks = Vec::new();
        for (index, tables) in chosen {
            let component = &mut self.components[*index];
            let [dc, ac] = &self.tables;
            let reader = Block {
                dc: dc.get(usize::from(tables >> 4)).cloned().flatten(),
                ac: ac.get(usize::from(tables & 0xf)).cloned().flatten(),
                scan,
                progressive: frame.progressive,
                run: 0,
            };
            if frame.progressive && scan.first > 0 {
                component.set.resize(units, 0);
            }
            let count = if is_single {
                1
            } else {
                component.across * component.down
            };
            blocks.push((*index, count, reader));
        }
        let mut bits = Bits::new(data);
        let interval = usize::try_from(self.restart_interval).ok()?;
        let mut restarts = 0_u8;
        for unit in 0..units {
            if interval > 0 && unit > 0 && unit % interval == 0 {
                if blocks.iter().any(|(.., reader)| reader.run > 0) {
                    return None;
                }
                bits = bits.restart(restarts)?;
                restarts = restarts.wrapping_add(1);
            }
            for (index, count, reader) in &mut blocks {
                for _ in 0..*count {
                    let mut none = 0;
                    let set = self.components[*index]
                        .set
                        .get_mut(unit)
                        .unwrap_or(&mut none);
                    reader.read(&mut bits, set)?;
                }
            }
        }
        let is_over = blocks.iter().all(|(.., reader)| reader.run == 0);
        is_over.then(|| bits.end())?
    }

    /// Whether there is nothing left to send.
    fn is_complete(&self) -> bool {
        let mut bits = self
            .components
            .iter()
            .flat_map(|component| component.missing);
        !self.components.is_empty() && bits.all(|missing| missing == Some(0))
    }
}

impl Component {
    /// Notes what a scan brings. `None`: it cannot come now.
    fn deliver(&mut self, scan: Scan) -> Option<()> {
        for missing in &mut self.missing[usize::from(scan.first)..=usize::from(scan.last)] {
            let is_next = match *missing {
                None => scan.before == 0,
                Some(missing) => missing > 0 && scan.before == missing,
            };
            if !is_next {
                return None;
            }
            *missing = Some(scan.after);
        }
        Some(())
    }
}
