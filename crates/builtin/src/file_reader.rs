//! Reads the parts of a model's file, one after the other.
//!
//! All numbers are little endian. Every count has limits, and nothing is allocated before the bytes
//! for it are known to be there. So a damaged file costs at most a few times its own size.

use std::ops::RangeInclusive;

/// The largest magnitude of a weight, a scale or a bias. Real ones are under 100.
const LARGEST: f32 = 1e6;

/// A model's file cannot be used. It is cut short, changed, or another kind of file.
///
/// The message is one line. It names the part of the file and what is wrong with it, and never shows
/// the file's content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model's file is damaged: {0}")]
pub struct Damaged(String);

impl Damaged {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// The same, in a part of the file.
    pub(crate) fn within(self, part: &str) -> Self {
        Self(format!("{part}: {}", self.0))
    }
}

pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Begins after the bytes that tell the format.
    pub(crate) fn new(bytes: &'a [u8], format: &str) -> Result<Self, Damaged> {
        let rest = bytes
            .strip_prefix(format.as_bytes())
            .ok_or_else(|| Damaged::new(format!("it does not begin with {format}")))?;
        Ok(Self { rest })
    }

    /// Skips these bytes if they come next. Returns whether they did.
    pub(crate) fn skip(&mut self, mark: &str) -> bool {
        let rest = self.rest.strip_prefix(mark.as_bytes());
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// A count or a size.
    pub(crate) fn count(
        &mut self,
        what: &str,
        allowed: RangeInclusive<usize>,
    ) -> Result<usize, Damaged> {
        let number = u32::from_le_bytes(self.array(what)?);
        usize::try_from(number)
            .ok()
            .filter(|number| allowed.contains(number))
            .ok_or_else(|| {
                let (least, most) = allowed.into_inner();
                Damaged::new(format!("{what} is {number}, not {least} to {most}"))
            })
    }

    /// One number. It is finite, and not so large that sums of it overflow.
    pub(crate) fn float(&mut self, what: &str) -> Result<f32, Damaged> {
        usable(f32::from_le_bytes(self.array(what)?), what)
    }

    /// So many numbers, as [`Reader::float`].
    pub(crate) fn floats(&mut self, what: &str, count: usize) -> Result<Vec<f32>, Damaged> {
        let bytes = self.take(what, count.saturating_mul(4))?;
        let (numbers, _) = bytes.as_chunks::<4>();
        numbers
            .iter()
            .map(|number| usable(f32::from_le_bytes(*number), what))
            .collect()
    }

    /// So many numbers from -128 to 127.
    pub(crate) fn signed(&mut self, what: &str, count: usize) -> Result<Vec<i8>, Damaged> {
        let bytes = self.take(what, count)?;
        Ok(bytes.iter().map(|byte| byte.cast_signed()).collect())
    }

    /// So many bytes.
    pub(crate) fn take(&mut self, what: &str, count: usize) -> Result<&'a [u8], Damaged> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(|| {
            let left = self.rest.len();
            Damaged::new(format!(
                "it ends within {what}: {left} bytes are left, {count} are needed"
            ))
        })?;
        self.rest = rest;
        Ok(taken)
    }

    /// Refuses bytes after the last part.
    pub(crate) fn end(self) -> Result<(), Damaged> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(Damaged::new(format!("{left} bytes follow its end"))),
        }
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Damaged> {
        let bytes = self.take(what, N)?;
        bytes
            .try_into()
            .map_err(|_| Damaged::new(format!("it ends within {what}")))
    }
}

fn usable(number: f32, what: &str) -> Result<f32, Damaged> {
    if number.abs() <= LARGEST {
        Ok(number)
    } else {
        // Also when it is not a number at all.
        Err(Damaged::new(format!("{what} has the number {number}")))
    }
}
