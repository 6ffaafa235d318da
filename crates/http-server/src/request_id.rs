//! Request ids: those of the client if they are harmless, otherwise new ones.

use poem::http::{HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

/// The header, in requests and in every response.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

const LONGEST: usize = 64;

/// The id of a request in logs and answers: 1 to 64 of `A-Z a-z 0-9 _ -`.
#[derive(Clone, Debug)]
pub struct RequestId(HeaderValue);

impl RequestId {
    /// The client's own id if it has that form; otherwise a new UUID, version 7.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        match headers.get(HEADER) {
            Some(given) if is_sane(given.as_bytes()) => Self(given.clone()),
            Some(_) | None => Self::generate(),
        }
    }

    /// A new one.
    pub fn generate() -> Self {
        let mut buffer = Uuid::encode_buffer();
        let text = Uuid::now_v7().hyphenated().encode_lower(&mut buffer);
        Self(HeaderValue::from_str(text).expect("a UUID is printable ASCII"))
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        self.0.to_str().expect("only visible ASCII is kept")
    }

    /// The header's value.
    pub(crate) fn into_header(self) -> HeaderValue {
        self.0
    }
}

fn is_sane(id: &[u8]) -> bool {
    let harmless = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=LONGEST).contains(&id.len()) && id.iter().all(harmless)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_ids_are_kept() {
        assert!(is_sane(b"a") && is_sane(b"Az09_-") && is_sane(&[b'x'; LONGEST]));
        for id in [
            &b""[..],
            b"a b",
            b"a\"b",
            "ü".as_bytes(),
            &[b'x'; LONGEST + 1],
        ] {
            assert!(!is_sane(id), "{id:?}");
        }
    }

    #[test]
    fn a_generated_id_would_itself_be_kept() {
        assert!(is_sane(RequestId::generate().as_str().as_bytes()));
    }
}
