//! The word in which a provider tells programs why it refuses: bounded, so that nothing else of an answer reaches a log.

use reqwest::header::HeaderMap;
use serde_json::Value;

/// The longest word that is told.
const LONGEST: usize = 64;

/// Where such words stand in the bodies of errors; the most telling first. Google's reason, OpenAI's code and type, Google's
/// status, AWS's type, Azure's code.
const PLACES: [&str; 8] = [
    "/error/details/0/reason",
    "/error/code",
    "/error/type",
    "/error/status",
    "/__type",
    "/code",
    "/type",
    "/errors/0/code",
];

/// Words of those who refuse everything until somebody acts: what was paid for is used up, or the key is wrong.
const LASTING: [&str; 14] = [
    "insufficient_quota",
    "billing_hard_limit_reached",
    "credit_balance_exhausted",
    "invalid_api_key",
    "account_deactivated",
    "model_not_found",
    "API_KEY_INVALID",
    "API_KEY_SERVICE_BLOCKED",
    "SERVICE_DISABLED",
    "BILLING_DISABLED",
    "AccessDeniedException",
    "ExpiredTokenException",
    "InvalidSignatureException",
    "UnrecognizedClientException",
];

/// The header in which the newer services of AWS put it.
const HEADER: &str = "x-amzn-errortype";

/// The word in an error, if there is one.
pub(super) fn code(headers: &HeaderMap, body: &[u8]) -> Option<String> {
    in_headers(headers).or_else(|| in_body(body))
}

fn in_headers(headers: &HeaderMap) -> Option<String> {
    // It may have a URL behind it.
    let word = headers.get(HEADER)?.to_str().ok()?.split(':').next()?;
    is_word(word).then(|| word.to_owned())
}

fn in_body(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let words = PLACES
        .into_iter()
        .filter_map(|place| body.pointer(place)?.as_str());
    // AWS puts a namespace before it.
    let words = words.map(|word| word.rsplit('#').next().unwrap_or(word));
    words.filter(|word| is_word(word)).map(str::to_owned).next()
}

/// Whether the next request would be refused for the same reason, whatever it shows.
pub(super) fn is_lasting(code: &str) -> bool {
    LASTING.contains(&code)
}

fn is_word(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=LONGEST).contains(&word.len()) && word.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_found_where_each_of_them_puts_it() {
        for (body, expected) in [
            (
                r#"{"error":{"code":"insufficient_quota","type":"insufficient_quota"}}"#,
                Some("insufficient_quota"),
            ),
            (
                r#"{"error":{"code":null,"type":"invalid_request_error"}}"#,
                Some("invalid_request_error"),
            ),
            (
                r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
                Some("API_KEY_INVALID"),
            ),
            (
                r#"{"error":{"code":"InvalidRequestBody","message":"m"}}"#,
                Some("InvalidRequestBody"),
            ),
            (
                r#"{"__type":"com.amazonaws#AccessDeniedException"}"#,
                Some("AccessDeniedException"),
            ),
            (
                r#"{"status":"failure","error":{"type":"media_error","code":21}}"#,
                Some("media_error"),
            ),
            (r#"{"error":{"code":"what you sent: <b>"}}"#, None),
            ("<html>", None),
            ("[]", None),
        ] {
            let told = code(&HeaderMap::new(), body.as_bytes());
            assert_eq!(told.as_deref(), expected, "{body}");
        }
        let long = format!(r#"{{"code":"{}"}}"#, "x".repeat(LONGEST + 1));
        assert_eq!(code(&HeaderMap::new(), long.as_bytes()), None);

        for (header, expected) in [
            ("AccessDeniedException", Some("AccessDeniedException")),
            (
                "ThrottlingException:http://internal.amazon.com/coral/",
                Some("ThrottlingException"),
            ),
            ("what you sent", None),
        ] {
            let headers =
                HeaderMap::from_iter([(HEADER.parse().unwrap(), header.parse().unwrap())]);
            let told = code(&headers, br#"{"message":"m"}"#);
            assert_eq!(told.as_deref(), expected, "{header}");
        }
    }

    #[test]
    fn what_lasts_is_told_from_what_passes() {
        assert!(is_lasting("insufficient_quota"));
        assert!(!is_lasting("rate_limit_exceeded"));
    }
}
