//! Requests that are rendered once and sent by all connections in turn, each time with another
//! number. So the names that a client gives to its request (`Idempotency-Key`, `app_media_id`) are
//! never the same twice.

use std::cell::Cell;

use uuid::Uuid;

use crate::{http, lane::spread, sites::Site};

/// The placeholder for the number in a rendered request. It has the same length.
pub(crate) const NUMBER: &str = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/// The fewest requests of a round in which each has its own text.
const TEXTS: usize = 1_024;

/// A round of requests.
pub(crate) struct Requests {
    rendered: Vec<Rendered>,
    sent: Cell<u64>,
}

struct Rendered {
    bytes: Vec<u8>,
    /// The positions of the number.
    numbers: Vec<usize>,
}

impl Requests {
    /// Finds the places of [`NUMBER`]. There must be one request at least.
    pub(crate) fn new(rendered: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self {
            rendered: rendered.into_iter().map(Rendered::new).collect(),
            sent: Cell::new(0),
        }
    }

    /// Submissions for these sites in turn, with an `Idempotency-Key` if they are `named`. `text` makes one from a number.
    pub(crate) fn submissions(sites: &[Site], named: bool, text: impl Fn(u64) -> String) -> Self {
        let rounds = TEXTS.div_ceil(sites.len());
        let turns = (0..rounds).flat_map(|_| sites);
        Self::new((0..).zip(turns).map(|(number, site)| {
            let text = text(number);
            if named {
                http::repeatable_submission(&site.key, NUMBER, &text, NUMBER)
            } else {
                http::submission(&site.key, NUMBER, &text)
            }
        }))
    }

    /// How many there are in a round.
    pub(crate) fn len(&self) -> usize {
        self.rendered.len()
    }

    /// Replaces the content of `buffer` by the next request.
    pub(crate) fn next(&self, buffer: &mut Vec<u8>) {
        let number = self.sent.get();
        self.sent.set(number + 1);
        let turn = number % self.rendered.len() as u64;
        let turn = usize::try_from(turn).expect("less than a length");
        self.rendered[turn].write(number, buffer);
    }
}

impl Rendered {
    fn new(bytes: Vec<u8>) -> Self {
        let numbers = bytes
            .windows(NUMBER.len())
            .enumerate()
            .filter(|(_, window)| *window == NUMBER.as_bytes())
            .map(|(at, _)| at)
            .collect();
        Self { bytes, numbers }
    }

    /// A number looks like a random UUID, which most clients send. So it falls anywhere in an
    /// index.
    fn write(&self, number: u64, buffer: &mut Vec<u8>) {
        buffer.clear();
        buffer.extend_from_slice(&self.bytes);
        let mut text = Uuid::encode_buffer();
        let number = spread(number).hyphenated().encode_lower(&mut text);
        for &at in &self.numbers {
            buffer[at..at + NUMBER.len()].copy_from_slice(number.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::http::repeatable_submission;

    fn next(requests: &Requests) -> String {
        let mut buffer = b"what was sent before, which may be longer".to_vec();
        requests.next(&mut buffer);
        String::from_utf8(buffer).unwrap()
    }

    #[test]
    fn every_sending_has_a_number_of_its_own_in_every_place() {
        let template = repeatable_submission("site_a", NUMBER, "text", NUMBER);
        let requests = Requests::new([template.clone(), template.clone()]);
        let mut seen = HashSet::new();
        for _ in 0..1_000 {
            let sent = next(&requests);
            assert_eq!(sent.len(), template.len());
            let (head, body) = sent.split_once("\r\n\r\n").unwrap();
            let (_, key) = head.split_once("idempotency-key: ").unwrap();
            let key = key.lines().next().unwrap();
            assert!(key.parse::<Uuid>().is_ok(), "{key}");
            assert!(
                body.contains(&format!(r#""app_media_id":"{key}""#)),
                "{sent}"
            );
            assert!(!sent.contains(NUMBER), "{sent}");
            assert!(seen.insert(key.to_owned()), "{key} comes twice");
        }
    }

    #[test]
    fn sites_take_turns_and_there_are_enough_texts() {
        let sites: Vec<Site> = ["site_a", "site_b", "site_c"]
            .map(|key| Site {
                id: Uuid::nil(),
                key: key.to_owned(),
            })
            .into();
        let requests = Requests::submissions(&sites, false, |number| format!("text {number}"));
        assert_eq!(requests.len(), 1_026);
        for number in 0..requests.len() {
            let sent = next(&requests);
            assert!(sent.contains(&sites[number % 3].key), "{sent}");
            assert!(sent.contains(&format!(r#""text {number}""#)), "{sent}");
        }
    }

    #[test]
    fn requests_take_turns() {
        let requests = Requests::new([b"a".to_vec(), b"b".to_vec(), b"c".to_vec()]);
        let sent: String = (0..7).map(|_| next(&requests)).collect();
        assert_eq!(sent, "abcabca");
    }
}
