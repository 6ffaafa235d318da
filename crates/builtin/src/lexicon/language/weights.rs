//! The trained weights, and what they say about a word.

/// The most that a word can say, in either direction. So no word decides alone.
pub(super) const MOST: f32 = 6.0;

/// A little-endian `f32`, by which each weight is multiplied, and the weights: one byte with sign
/// for each bucket.
static FILE: &[u8; 4 + BUCKETS] = include_bytes!("weights.bin");

const BUCKETS: usize = 1 << 17;
/// The longest sequence of letters.
const SEQUENCE: usize = 5;
/// FNV-1a on characters instead of bytes.
const START: u32 = 0x811C_9DC5;
const PRIME: u32 = 0x0100_0193;
/// Where the hash of a whole word starts.
const WHOLE: u32 = 0x9E37_79B9;

/// The logarithm of the odds that a word belongs to another language than English.
pub(super) fn evidence(letters: &[char]) -> f32 {
    let mut sum = 0_i32;
    let mut whole = WHOLE;
    for start in 0..letters.len() + 2 {
        let mut state = START;
        for at in start..(start + SEQUENCE).min(letters.len() + 2) {
            state = step(state, letter(letters, at));
            sum += weight(state);
        }
        whole = step(whole, letter(letters, start));
    }
    sum += weight(whole);
    #[expect(
        clippy::cast_precision_loss,
        reason = "at most 24 letters, so far below 2^24"
    )]
    let said = sum as f32 * f32::from_le_bytes([FILE[0], FILE[1], FILE[2], FILE[3]]);
    MOST * said / (MOST + said.abs())
}

/// The letters of a word with a mark at its beginning and at its end.
fn letter(letters: &[char], at: usize) -> u32 {
    match at.checked_sub(1) {
        None => u32::from('<'),
        Some(at) => letters.get(at).map_or(u32::from('>'), |&c| u32::from(c)),
    }
}

const fn step(state: u32, letter: u32) -> u32 {
    (state ^ letter).wrapping_mul(PRIME)
}

fn weight(state: u32) -> i32 {
    let bucket = (state ^ (state >> 15)) as usize % BUCKETS;
    i32::from(FILE[4 + bucket].cast_signed())
}
