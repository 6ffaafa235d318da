//! Errors of the two formats. Both have a member `error`, and their codes are told. Their messages are not, because they can quote the
//! text, or parts of a key.

use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::Value;

/// Perspective does not know a text's language, or an attribute does not.
const OF_LANGUAGE: &str = "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE";
/// Nobody has scored the text. The item is stored here, and another request would store it again.
const NOT_CHECKED: &str = "not_checked";
/// Google answers this with 400.
const WRONG_KEY: &str = "API_KEY_INVALID";

/// Why a request was refused.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    failure: Failure,
}

#[derive(Debug, Default, Deserialize)]
struct Body {
    #[serde(default)]
    error: Failure,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Failure {
    message: String,
    /// A text of OpenAI, a number of Google.
    code: Value,
    status: Option<String>,
    details: Vec<Detail>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Detail {
    reason: Option<String>,
    error_type: Option<String>,
}

impl Refusal {
    pub(super) fn read(status: StatusCode, body: &[u8]) -> Self {
        let body: Body = serde_json::from_slice(body).unwrap_or_default();
        Self {
            status,
            failure: body.error,
        }
    }

    /// A name for it, which says nothing of the text.
    pub(super) fn code(&self) -> String {
        let details = &self.failure.details;
        let detail = details
            .iter()
            .find_map(|detail| detail.error_type.as_deref().or(detail.reason.as_deref()));
        let code = detail
            .or(self.failure.code.as_str())
            .or(self.failure.status.as_deref())
            .filter(|code| is_name(code));
        code.map_or_else(|| format!("HTTP {}", self.status.as_u16()), str::to_owned)
    }

    /// Whether Gatehouse has judged the text, but nobody could score it, so that asking for less would not help.
    pub(super) fn is_unscored(&self) -> bool {
        let is_ours = |reason: &str| reason.eq_ignore_ascii_case(NOT_CHECKED);
        let mut reasons = self.failure.details.iter();
        self.failure.code.as_str().is_some_and(is_ours)
            || reasons.any(|detail| detail.reason.as_deref().is_some_and(is_ours))
    }

    /// Whether it would be the same for every text.
    pub(super) fn is_of_all_texts(&self) -> bool {
        let is_wrong_key = self
            .failure
            .details
            .iter()
            .any(|detail| detail.reason.as_deref() == Some(WRONG_KEY));
        if self.is_unscored() {
            return false;
        }
        is_wrong_key
            || !self.status.is_client_error()
            || matches!(
                self.status,
                StatusCode::UNAUTHORIZED
                    | StatusCode::PAYMENT_REQUIRED
                    | StatusCode::FORBIDDEN
                    | StatusCode::NOT_FOUND
                    | StatusCode::METHOD_NOT_ALLOWED
                    | StatusCode::TOO_MANY_REQUESTS
            )
    }

    /// The attribute that the message names first.
    pub(super) fn attribute<'a>(
        &self,
        asked: impl IntoIterator<Item = &'a String>,
    ) -> Option<&'a String> {
        let asked: Vec<&String> = asked.into_iter().collect();
        let words = self
            .failure
            .message
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let mut named = words.filter_map(|word| asked.iter().copied().find(|name| *name == word));
        named.next()
    }

    /// Whether it is about the language of this text, so that another text may be accepted.
    pub(super) fn is_about_language(&self) -> bool {
        let details = &self.failure.details;
        details
            .iter()
            .any(|detail| detail.error_type.as_deref() == Some(OF_LANGUAGE))
            || self.failure.message.contains("language")
    }
}

/// A code is one word.
fn is_name(code: &str) -> bool {
    !code.is_empty()
        && code.len() <= 60
        && code.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(status: u16, body: &str) -> Refusal {
        Refusal::read(StatusCode::from_u16(status).unwrap(), body.as_bytes())
    }

    #[test]
    fn a_refusal_is_told_by_its_code_and_never_by_its_message() {
        for (status, body, code, is_of_all) in [
            (
                401,
                r#"{"error":{"message":"Incorrect API key provided: sk-ab","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
                "invalid_api_key",
                true,
            ),
            (
                429,
                r#"{"error":{"message":"You exceeded your quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
                "insufficient_quota",
                true,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"Comment text too long.","status":"INVALID_ARGUMENT","details":[{"@type":"x","errorType":"COMMENT_TOO_LONG"}]}}"#,
                "COMMENT_TOO_LONG",
                false,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
                "API_KEY_INVALID",
                true,
            ),
            (
                400,
                r#"{"error":{"code":400,"status":"INVALID_ARGUMENT"}}"#,
                "INVALID_ARGUMENT",
                false,
            ),
            (
                400,
                r#"{"error":{"code":"the text was: hello"}}"#,
                "HTTP 400",
                false,
            ),
            (
                503,
                r#"{"error":{"message":"Something of 1 input","type":"server_error","param":null,"code":"not_checked"}}"#,
                "not_checked",
                false,
            ),
            (404, "<html>", "HTTP 404", true),
            (301, "", "HTTP 301", true),
        ] {
            let refusal = refusal(status, body);
            assert_eq!(refusal.code(), code, "{body}");
            assert_eq!(refusal.is_of_all_texts(), is_of_all, "{body}");
        }
    }

    #[test]
    fn a_text_that_nobody_here_could_score_is_not_sent_again_with_fewer_attributes() {
        let ours = refusal(
            400,
            r#"{"error":{"code":400,"message":"Attribute THREAT does not support request languages: und","status":"INVALID_ARGUMENT","details":[{"errorType":"LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE"},{"reason":"NOT_CHECKED","domain":"gatehouse"}]}}"#,
        );
        assert!(ours.is_unscored() && ours.is_about_language());
        assert_eq!(ours.code(), "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE");
        let theirs = refusal(
            400,
            r#"{"error":{"code":400,"message":"Attribute THREAT does not support request languages: pl","details":[{"errorType":"LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE"}]}}"#,
        );
        assert!(!theirs.is_unscored());
    }

    #[test]
    fn the_attribute_that_is_refused_is_known_by_its_whole_name() {
        let asked = ["SEVERE_TOXICITY", "TOXICITY"].map(str::to_owned);
        let unknown = refusal(
            400,
            r#"{"error":{"message":"Unknown requested attribute: TOXICITY"}}"#,
        );
        assert_eq!(unknown.attribute(&asked), Some(&asked[1]));
        assert!(!unknown.is_about_language());
        let language = refusal(
            400,
            r#"{"error":{"message":"Attribute SEVERE_TOXICITY does not support request languages: ja"}}"#,
        );
        assert_eq!(language.attribute(&asked), Some(&asked[0]));
        assert!(language.is_about_language());
        assert_eq!(refusal(400, "").attribute(&asked), None);
    }
}
