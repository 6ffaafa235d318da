//! The features of a text, which are words, pairs of words and parts of words, with their weights.
//! What the model knows of a feature is far away in memory, so it is fetched once, however many
//! stretches the feature is in.

use std::ops::Range;

use super::CATEGORIES;

/// A weight for each category. A weight `q` stands for `q·|q| / 127²`.
pub(super) type Weights = [i8; CATEGORIES];

/// The largest weight.
const FULL: f64 = 127.0;

/// The features of a text in their order.
pub(super) struct Features {
    /// For each feature, the number of its place. Features with one place count once.
    numbers: Vec<u32>,
    /// For each number, `q·|q|` of each category.
    weights: Vec<[i32; CATEGORIES]>,
    /// For each number, the sum in which it was counted last.
    counted: Vec<u32>,
    sums: u32,
}

impl Features {
    /// Looks features up by their hashes. The lowest bits are the place in `weights`, as many as `mask`
    /// has.
    pub(super) fn new(hashes: &[u32], mask: u32, weights: &[Weights]) -> Self {
        let mut numbers = Numbers::new(hashes.len());
        let numbered = hashes.iter().map(|hash| numbers.of(hash & mask)).collect();
        let weights: Vec<_> = numbers
            .places
            .iter()
            .map(|place| weights[*place as usize].map(|q| i32::from(q) * i32::from(q).abs()))
            .collect();
        Self {
            numbers: numbered,
            counted: vec![0; weights.len()],
            weights,
            sums: 0,
        }
    }

    /// The sum of the weights of the different features in these ranges, divided by the root of their
    /// number.
    pub(super) fn sum(
        &mut self,
        ranges: impl IntoIterator<Item = Range<usize>>,
    ) -> [f64; CATEGORIES] {
        self.sums += 1;
        let (mut sums, mut count) = ([0_i64; CATEGORIES], 0_u32);
        for number in ranges.into_iter().flat_map(|range| &self.numbers[range]) {
            let number = *number as usize;
            if self.counted[number] == self.sums {
                continue;
            }
            self.counted[number] = self.sums;
            count += 1;
            for (sum, weight) in sums.iter_mut().zip(self.weights[number]) {
                *sum += i64::from(weight);
            }
        }
        let root = f64::from(count.max(1)).sqrt();
        #[expect(
            clippy::cast_precision_loss,
            reason = "far under 2^53 for a text that fits into memory"
        )]
        sums.map(|sum| sum as f64 / (root * FULL * FULL))
    }
}

/// Numbers the different places in the order in which they come.
struct Numbers {
    places: Vec<u32>,
    /// A number and one more, at the first free slot from the place on; 0 is free. At most half of
    /// the slots are taken.
    slots: Vec<u32>,
}

impl Numbers {
    fn new(most: usize) -> Self {
        Self {
            places: Vec::with_capacity(most),
            slots: vec![0; (2 * most).next_power_of_two()],
        }
    }

    fn of(&mut self, place: u32) -> u32 {
        let last = self.slots.len() - 1;
        let mut slot = place as usize & last;
        while let Some(number) = self.slots[slot].checked_sub(1) {
            if self.places[number as usize] == place {
                return number;
            }
            slot = (slot + 1) & last;
        }
        #[expect(clippy::cast_possible_truncation, reason = "no text has 2^32 features")]
        let number = self.places.len() as u32;
        self.places.push(place);
        self.slots[slot] = number + 1;
        number
    }
}

/// The hashes of a text's features. A stretch of words is a range of each list.
///
/// It is the `HashingVectorizer` of scikit-learn, with `ngram_range=(1, 2)` for words and
/// `analyzer='char_wb', ngram_range=(3, 5)` for parts of words.
#[derive(Debug, Default)]
pub(super) struct HashedFeatures {
    /// Where each word begins in `tokens` and in `parts`.
    words: Vec<(usize, usize)>,
    pub(super) tokens: Vec<u32>,
    /// One fewer than tokens: each token with the next one.
    pub(super) pairs: Vec<u32>,
    pub(super) parts: Vec<u32>,
}

impl HashedFeatures {
    /// Of a folded text.
    pub(super) fn new(text: &str) -> Self {
        let mut hashes = Self::default();
        let (mut pair, mut spaced) = (Vec::new(), String::new());
        let mut last: Option<&str> = None;
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            hashes.words.push((hashes.tokens.len(), hashes.parts.len()));
            for token in tokens(word) {
                hashes.tokens.push(hash(token.as_bytes()));
                if let Some(last) = last {
                    pair.clear();
                    pair.extend_from_slice(last.as_bytes());
                    pair.push(b' ');
                    pair.extend_from_slice(token.as_bytes());
                    hashes.pairs.push(hash(&pair));
                }
                last = Some(token);
            }
            spaced.clear();
            spaced.push(' ');
            spaced.push_str(word);
            spaced.push(' ');
            add_parts(&spaced, &mut hashes.parts);
        }
        hashes
    }

    /// The number of words.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The tokens in a range of words, and the pairs.
    pub(super) fn tokens_and_pairs(&self, range: &Range<usize>) -> (Range<usize>, Range<usize>) {
        let (first, end) = (self.start(range.start).0, self.start(range.end).0);
        (first..end, first..end.saturating_sub(1).max(first))
    }

    /// The parts of the words in a range.
    pub(super) fn parts(&self, range: &Range<usize>) -> Range<usize> {
        self.start(range.start).1..self.start(range.end).1
    }

    fn start(&self, word: usize) -> (usize, usize) {
        let end = (self.tokens.len(), self.parts.len());
        self.words.get(word).copied().unwrap_or(end)
    }
}

/// Runs of ASCII letters, digits and apostrophes; every other character alone.
fn tokens(word: &str) -> impl Iterator<Item = &str> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '\'';
    let mut rest = word;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = if is_plain(first) {
            rest.find(|c| !is_plain(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}

/// All parts of 3, 4 and 5 characters of a word between two spaces. A word that is shorter is one
/// part.
fn add_parts(spaced: &str, parts: &mut Vec<u32>) {
    if spaced.is_ascii() {
        for size in 3..=5 {
            if spaced.len() <= size {
                parts.push(hash(spaced.as_bytes()));
                break;
            }
            parts.extend(spaced.as_bytes().windows(size).map(hash));
        }
        return;
    }
    let mut starts: Vec<usize> = spaced.char_indices().map(|(start, _)| start).collect();
    let length = starts.len();
    starts.push(spaced.len());
    for size in 3..=5 {
        if length <= size {
            parts.push(hash(spaced.as_bytes()));
            break;
        }
        let ends = &starts[size..];
        parts.extend(
            starts
                .iter()
                .zip(ends)
                .map(|(start, end)| hash(&spaced.as_bytes()[*start..*end])),
        );
    }
}

/// `MurmurHash3_x86_32` by Austin Appleby (public domain) with seed 0, as a magnitude.
fn hash(bytes: &[u8]) -> u32 {
    let mix = |block: u32| {
        block
            .wrapping_mul(0xcc9e_2d51)
            .rotate_left(15)
            .wrapping_mul(0x1b87_3593)
    };
    let mut state = 0_u32;
    let (blocks, rest) = bytes.as_chunks::<4>();
    for block in blocks {
        state = (state ^ mix(u32::from_le_bytes(*block)))
            .rotate_left(13)
            .wrapping_mul(5)
            .wrapping_add(0xe654_6b64);
    }
    if !rest.is_empty() {
        let mut block = [0; 4];
        block[..rest.len()].copy_from_slice(rest);
        state ^= mix(u32::from_le_bytes(block));
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the hash is defined with the lowest 32 bits of the length"
    )]
    let length = bytes.len() as u32;
    state ^= length;
    state = (state ^ (state >> 16)).wrapping_mul(0x85eb_ca6b);
    state = (state ^ (state >> 13)).wrapping_mul(0xc2b2_ae35);
    (state ^ (state >> 16)).cast_signed().unsigned_abs()
}

#[cfg(test)]
mod tests {
    use std::{ops::Range, slice};

    use super::{CATEGORIES, Features, add_parts, hash, tokens};

    #[test]
    fn a_feature_counts_once_in_each_sum() {
        let weights = [
            [127; CATEGORIES],
            [-127; CATEGORIES],
            [0; CATEGORIES],
            [63; CATEGORIES],
        ];
        // The places 0, 1, 0, 3, 0.
        let hashes = [4, 1, 8, 7, 0];
        let mut features = Features::new(&hashes, 3, &weights);
        let half = (63.0 * 63.0) / (127.0 * 127.0);
        let mut sum = |ranges: &[Range<usize>]| features.sum(ranges.iter().cloned())[0];
        for (start, end, expected) in [
            (0, 1, 1.0),
            (0, 3, 0.0),
            (0, 5, half / 3.0_f64.sqrt()),
            (3, 5, (1.0 + half) / 2.0_f64.sqrt()),
            (2, 2, 0.0),
        ] {
            let sum = sum(slice::from_ref(&(start..end)));
            assert!((sum - expected).abs() < 1e-12, "{start}..{end}: {sum}");
        }
        assert!((sum(&[0..1, 2..3]) - 1.0).abs() < 1e-12);
    }

    /// By `sklearn.utils.murmurhash3_32` with seed 0, as magnitudes.
    #[test]
    fn the_hash_is_murmur_3() {
        for (text, expected) in HASHES {
            assert_eq!(hash(text.as_bytes()), expected, "{text:?}");
        }
    }

    const HASHES: [(&str, u32); 8] = [
        ("", 0),
        ("a", 1_009_084_850),
        ("ab", 1_681_926_305),
        ("abc", 1_277_324_294),
        ("abcd", 1_139_631_978),
        ("abcde", 392_455_434),
        ("kill you", 1_653_917_834),
        ("naïve", 992_511_445),
    ];

    #[test]
    fn signs_and_letters_outside_ascii_are_tokens_of_their_own() {
        let found: Vec<&str> = tokens("don't-stop:это2").collect();
        assert_eq!(found, ["don't", "-", "stop", ":", "э", "т", "о", "2"]);
    }

    #[test]
    fn a_short_word_has_one_part_and_a_long_one_all_of_three_sizes() {
        for (word, expected) in [
            (" a ", vec![" a "]),
            (" ab ", vec![" ab", "ab ", " ab "]),
            (" é", vec![" é"]),
            (
                " abcd ",
                vec![
                    " ab", "abc", "bcd", "cd ", " abc", "abcd", "bcd ", " abcd", "abcd ",
                ],
            ),
        ] {
            let mut parts = Vec::new();
            add_parts(word, &mut parts);
            let expected: Vec<u32> = expected.iter().map(|part| hash(part.as_bytes())).collect();
            assert_eq!(parts, expected, "{word:?}");
        }
    }
}
