//! How many states a keyword machine will have. It is counted before the machine is built, so that
//! one that is too large is never built.

/// The states of a keyword machine for these texts: one for each prefix.
pub(crate) fn trie_states<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> usize {
    let mut texts: Vec<T> = texts.into_iter().collect();
    texts.sort_unstable_by(|one, other| one.as_ref().cmp(other.as_ref()));
    let mut before: &[u8] = &[];
    let mut states = 0;
    for text in &texts {
        let text = text.as_ref();
        let common = text.iter().zip(before).take_while(|(a, b)| a == b).count();
        states += text.len() - common;
        before = text;
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_for_each_prefix() {
        for (texts, states) in [
            (&[][..], 0),
            (&["abc"], 3),
            (&["abd", "abc", "abc"], 4),
            (&["b", "ab", "abc"], 4),
        ] {
            assert_eq!(trie_states(texts), states, "{texts:?}");
        }
    }
}
