//! Trace contexts: parsed from the header `traceparent`, stored with an item, and sent on.
//!
//! The form is that of W3C Trace Context, level 2, which is that of level 1 with another flag.

use std::fmt::{self, Display};

/// Which trace it is: 16 bytes, not all of them zero. Displayed as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceId([u8; 16]);

/// Which step of the trace it is: 8 bytes, not all of them zero. Displayed as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanId([u8; 8]);

/// A trace, and the step of it that caused what comes next. Displayed as the header's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    trace: TraceId,
    span: SpanId,
    flags: u8,
}

/// The flags that are passed on. All others must be sent as 0.
const KNOWN: u8 = SAMPLED | RANDOM;
/// The caller may have recorded the trace.
const SAMPLED: u8 = 1;
/// The last 7 bytes of the trace's id are random.
const RANDOM: u8 = 2;

/// The team of a request that nobody has looked at.
pub(super) const NOBODY: [u8; 16] = [0; 16];

/// The length of the value in version 0.
const LENGTH: usize = 55;

impl Context {
    /// How many bytes [`Context::to_bytes`] gives.
    pub const BYTES: usize = 25;

    /// The value of a header `traceparent`. None if it is invalid: then the trace begins anew. A
    /// value of a later version counts as far as version 0 knows it.
    pub fn parse(value: &[u8]) -> Option<Self> {
        let (known, rest) = value.split_at_checked(LENGTH)?;
        let version = hex::<1>(&known[..2])?[0];
        let is_whole = match version {
            0 => rest.is_empty(),
            255 => false,
            1..255 => rest.first().is_none_or(|byte| *byte == b'-'),
        };
        let is_parted = [2, 35, 52].iter().all(|place| known[*place] == b'-');
        if !is_whole || !is_parted {
            return None;
        }
        Self::new(
            hex(&known[3..35])?,
            hex(&known[36..52])?,
            hex::<1>(&known[53..])?[0],
        )
    }

    /// What [`Context::to_bytes`] has given.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (trace, rest) = bytes.split_first_chunk()?;
        let (span, flags) = rest.split_first_chunk()?;
        match flags {
            [flags] => Self::new(*trace, *span, *flags),
            [] | [_, _, ..] => None,
        }
    }

    fn new(trace: [u8; 16], span: [u8; 8], flags: u8) -> Option<Self> {
        (trace != [0; 16] && span != [0; 8]).then_some(Self {
            trace: TraceId(trace),
            span: SpanId(span),
            flags: flags & KNOWN,
        })
    }

    /// The context of an item that came without one, from the item's id. So it need not be stored.
    pub fn of_item(id: [u8; 16]) -> Self {
        let mut span = [0; 8];
        span.copy_from_slice(&id[8..]);
        Self {
            trace: TraceId(id),
            span: SpanId(span),
            flags: 0,
        }
    }

    /// The context of an item, of which only is stored what its id does not tell.
    pub fn of_stored(id: [u8; 16], stored: Option<&[u8]>) -> Self {
        let stored = stored.and_then(Self::of_bytes);
        stored.unwrap_or_else(|| Self::of_item(id))
    }

    /// What must be stored with an item: nothing if its id tells everything.
    pub fn to_store(self, id: [u8; 16]) -> Option<[u8; Self::BYTES]> {
        (self != Self::of_item(id)).then(|| self.to_bytes())
    }

    /// A trace that begins here.
    pub fn begin() -> Self {
        Self {
            trace: TraceId(random()),
            span: SpanId(random()),
            flags: RANDOM,
        }
    }

    /// The next step: another span of the same trace, with the same flags.
    pub fn child(self) -> Self {
        Self {
            span: SpanId(random()),
            ..self
        }
    }

    /// The same with the flag that the trace is recorded.
    pub fn sampled(self) -> Self {
        Self {
            flags: self.flags | SAMPLED,
            ..self
        }
    }

    /// Whether the trace is recorded.
    pub fn is_sampled(self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// The trace.
    pub fn trace(self) -> TraceId {
        self.trace
    }

    /// The step.
    pub fn span(self) -> SpanId {
        self.span
    }

    /// Its flags, as they are sent on.
    pub fn flags(self) -> u8 {
        self.flags
    }

    /// The trace, the span and the flags, to be stored.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..16].copy_from_slice(&self.trace.0);
        bytes[16..24].copy_from_slice(&self.span.0);
        bytes[24] = self.flags;
        bytes
    }
}

impl TraceId {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The id with these bytes, if it is one.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: [u8; 16] = bytes.try_into().ok()?;
        (bytes != [0; 16]).then_some(Self(bytes))
    }
}

impl SpanId {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 8] {
        &self.0
    }
}

/// A step of a trace that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The step.
    pub context: Context,
    /// The step that caused it. None if the trace begins with this step.
    pub parent: Option<SpanId>,
    /// The team that it is for. Zero if that is not known.
    pub team: [u8; 16],
}

impl Step {
    /// The step after this one, for a team.
    pub fn after(parent: Context, team: [u8; 16]) -> Self {
        Self {
            context: parent.child(),
            parent: Some(parent.span()),
            team,
        }
    }

    /// A step that this step causes.
    pub fn next(self) -> Self {
        Self::after(self.context, self.team)
    }

    /// The first step of a trace.
    pub fn first(context: Context) -> Self {
        Self {
            context,
            parent: None,
            team: NOBODY,
        }
    }
}

/// Random bytes, which are not all zero.
fn random<const N: usize>() -> [u8; N] {
    loop {
        let bytes: [u8; N] = std::array::from_fn(|_| rand::random());
        if bytes != [0; N] {
            return bytes;
        }
    }
}

/// Bytes from lowercase hexadecimal digits, two for each. The standard allows no others.
fn hex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

impl Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", self.trace, self.span, self.flags)
    }
}

#[cfg(test)]
mod tests;
