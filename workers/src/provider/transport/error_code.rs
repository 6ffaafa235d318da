//! The machine-readable code of an error. Its form is limited, so that nothing else of an answer
//! reaches a log.

use reqwest::header::HeaderMap;
use serde_json::Value;

/// The most characters of a code.
const LONGEST: usize = 64;

/// AWS's header for the code. Usually a URL follows it.
const AWS_HEADER: &str = "x-amzn-errortype";

/// Where codes are in the bodies of errors, the most specific first: OpenAI's and Azure's code and
/// type, Google's status, AWS's type, Mistral's type. Google's reason is more specific, and is in
/// one of the details.
const PLACES: [&str; 7] = [
    "/error/code",
    "/error/type",
    "/error/status",
    "/__type",
    "/code",
    "/type",
    "/errors/0/code",
];

/// Codes of providers that refuse everything until somebody acts: the paid amount is used up, or
/// the key is wrong.
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

/// The code of an error, if there is one.
pub(crate) fn code(headers: &HeaderMap, body: &[u8]) -> Option<String> {
    let header = headers
        .get(AWS_HEADER)
        .and_then(|value| value.to_str().ok());
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let details = body.pointer("/error/details").and_then(Value::as_array);
    let reasons = details.into_iter().flatten();
    let reasons = reasons.filter_map(|detail| detail.get("reason")?.as_str());
    let places = PLACES
        .into_iter()
        .filter_map(|place| body.pointer(place)?.as_str());
    let words = header.into_iter().chain(reasons).chain(places);
    words
        .map(without_namespace)
        .find(|word| is_word(word))
        .map(str::to_owned)
}

/// AWS puts a namespace before its code, `com.amazonaws#`, and a URL after it, `:http://...`.
fn without_namespace(word: &str) -> &str {
    let word = word.split_once(":http").map_or(word, |(word, _)| word);
    word.rsplit_once('#').map_or(word, |(_, word)| word)
}

/// Whether every other request would be refused for the same reason.
pub(super) fn is_lasting(code: &str) -> bool {
    LASTING.contains(&code)
}

/// Whether this can be a code. Other text has spaces, or is longer.
pub(crate) fn is_word(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=LONGEST).contains(&word.len()) && word.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_71_a_code_is_found_where_each_provider_puts_it_and_quoted_text_is_no_code() {
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
            (
                r#"{"__type":"ThrottlingException:http://internal.amazon.com/coral/#it"}"#,
                Some("ThrottlingException"),
            ),
            (
                r#"{"error":{"code":403,"status":"PERMISSION_DENIED","details":[{"links":[]},{"reason":"SERVICE_DISABLED"}]}}"#,
                Some("SERVICE_DISABLED"),
            ),
            (r#"{"error":{"code":"what you sent: <b>"}}"#, None),
            ("<html>", None),
            ("[]", None),
        ] {
            let code = code(&HeaderMap::new(), body.as_bytes());
            assert_eq!(code.as_deref(), expected, "{body}");
        }
        let long = format!(r#"{{"code":"{}"}}"#, "x".repeat(LONGEST + 1));
        assert_eq!(code(&HeaderMap::new(), long.as_bytes()), None);
        let header = "AccessDeniedException:http://internal.amazon.com/coral/";
        let headers =
            HeaderMap::from_iter([(AWS_HEADER.parse().unwrap(), header.parse().unwrap())]);
        let word = code(&headers, br#"{"message":"m"}"#);
        assert_eq!(word.as_deref(), Some("AccessDeniedException"));
    }

    #[test]
    fn what_lasts_is_told_from_what_passes() {
        assert!(is_lasting("insufficient_quota"));
        assert!(!is_lasting("rate_limit_exceeded"));
    }
}
