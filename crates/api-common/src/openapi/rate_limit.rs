//! The rate limit headers of operations that need a site key.

use poem::http::StatusCode;
use serde_json::{Value, json};

use super::{at, extend};

/// Declares the rate limit headers, in every answer that the operation can give after it has
/// checked the key.
pub fn declare_rate_limit(document: &mut Value, operation: &str) {
    extend(
        document,
        "/components/headers",
        json!({
            "RateLimit": {
                "description": "What is left of the rate limit: the policy's name, `r` the requests left in this \
                                UTC minute as far as known, `t` the seconds until the next minute \
                                (draft-ietf-httpapi-ratelimit-headers-10). It is the site key's limit, or its \
                                team's (`team_submit`, `team_status`) if fewer requests of that are left.",
                "schema": { "type": "string" },
                "example": "\"submit\";r=998;t=41",
            },
            "RateLimitPolicy": {
                "description": "The rate limits of the site key and of all keys of its team together: the \
                                policy's name, `q` the requests in a window, `w` the window's length in seconds.",
                "schema": { "type": "string" },
                "example": "\"submit\";q=1000;w=60, \"team_submit\";q=10000;w=60",
            },
        }),
    );
    let responses = at(document, &format!("{operation}/responses")).as_object_mut();
    for (status, response) in responses.into_iter().flatten() {
        let keyless = [
            StatusCode::UNAUTHORIZED,
            StatusCode::REQUEST_TIMEOUT,
            StatusCode::PAYLOAD_TOO_LARGE,
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ];
        if keyless.iter().all(|keyless| keyless.as_str() != status) {
            response["headers"]["RateLimit"] = json!({ "$ref": "#/components/headers/RateLimit" });
            response["headers"]["RateLimit-Policy"] =
                json!({ "$ref": "#/components/headers/RateLimitPolicy" });
        }
    }
}
