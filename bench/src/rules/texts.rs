//! The texts that are looked through: everyday English, put together anew for each text.

use rand::{SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};

const PROSE: &str = include_str!("prose.txt");

/// Texts of about so many bytes. Every second one contains one of the keywords, as one post in two rarely does.
pub(crate) fn texts(seed: u64, count: usize, bytes: usize, keywords: &[String]) -> Vec<String> {
    let mut random = StdRng::seed_from_u64(seed);
    (0..count)
        .map(|number| {
            let mut text = prose(&mut random, bytes);
            if number % 2 == 0 && let Some(keyword) = keywords.get(number * 7) {
                let middle = text[bytes / 2..].find(' ').map_or(0, |gap| bytes / 2 + gap);
                text.insert_str(middle, &format!(" {keyword}"));
            }
            text
        })
        .collect()
}

fn prose(random: &mut StdRng, bytes: usize) -> String {
    let mut lines: Vec<&str> = PROSE.lines().collect();
    let mut text = String::with_capacity(bytes + 200);
    while text.len() < bytes {
        lines.shuffle(random);
        text.extend(lines.iter().flat_map(|line| [line, " "]));
    }
    text.truncate(bytes);
    text
}
