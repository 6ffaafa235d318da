//! The texts: random everyday English, and texts that are made to cost time.

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};

const PROSE: &str = include_str!("prose.txt");
const WORDS: &str = include_str!("words.txt");

/// Texts of this many bytes, all different. Every second one contains one of the keywords.
pub(crate) fn ordinary(
    number: u64,
    count: usize,
    bytes: usize,
    keywords: &[String],
) -> Vec<String> {
    let mut random = StdRng::seed_from_u64(number);
    let lines: Vec<&str> = PROSE.lines().collect();
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut text = |at: usize| {
        let mut text = String::with_capacity(bytes + 200);
        while text.len() < bytes {
            if random.random_bool(0.3) {
                text.push_str(lines.choose(&mut random).unwrap_or(&""));
            } else {
                sentence(&mut random, &words, &mut text);
            }
            text.push(' ');
        }
        text.truncate(bytes);
        if at.is_multiple_of(2)
            && let Some(keyword) = keywords.choose(&mut random)
        {
            let middle = text[bytes / 2..].find(' ').map_or(0, |gap| bytes / 2 + gap);
            text.insert_str(middle, &format!(" {keyword}"));
        }
        text
    };
    (0..count).map(&mut text).collect()
}

fn sentence(random: &mut StdRng, words: &[&str], into: &mut String) {
    let start = into.len();
    for at in 0..random.random_range(4..18) {
        if at > 0 {
            into.push_str(if random.random_bool(0.07) { ", " } else { " " });
        }
        match random.random_range(0..60) {
            0 => into.push_str(&random.random_range(1..3_000).to_string()),
            _ => into.push_str(words.choose(random).unwrap_or(&"")),
        }
    }
    if let Some(first) = into.get_mut(start..=start) {
        first.make_ascii_uppercase();
    }
    into.push(*['.', '.', '.', '!', '?'].choose(random).unwrap_or(&'.'));
}
