//! Rate limits as clients see them: the headers `RateLimit` and `RateLimit-Policy` of the IETF draft
//! draft-ietf-httpapi-ratelimit-headers-10. `Retry-After` is one of the headers of problem documents (`problem/headers.rs`).

use domain::rate_limit::{RateStanding, WINDOW_SECONDS};
use poem::{
    IntoResponse, Response,
    http::{HeaderMap, HeaderName, HeaderValue},
};
use poem_openapi::{
    ApiResponse,
    registry::{MetaResponses, Registry},
};

/// The header with what is left now.
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
/// The header with what is allowed in a minute.
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// An answer, with the rate limits of its site key and its team in the present minute.
pub struct RateLimited<T> {
    /// What is left of both limits.
    pub rate: RateStanding,
    /// The answer itself.
    pub answer: T,
}

impl<T: IntoResponse> IntoResponse for RateLimited<T> {
    fn into_response(self) -> Response {
        let mut response = self.answer.into_response();
        declare(response.headers_mut(), &self.rate);
        response
    }
}

impl<T: ApiResponse> ApiResponse for RateLimited<T> {
    fn meta() -> MetaResponses {
        T::meta()
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

/// Adds both headers. `RateLimit` has the limit with fewer requests left. `RateLimit-Policy` has
/// both.
pub(crate) fn declare(headers: &mut HeaderMap, rate: &RateStanding) {
    let nearer = rate.tighter();
    let stands = format!(
        "\"{}\";r={};t={}",
        nearer.name, nearer.remaining, nearer.resets_in
    );
    let RateStanding { key, team } = rate;
    let allowed = format!(
        "\"{}\";q={};w={WINDOW_SECONDS}, \"{}\";q={};w={WINDOW_SECONDS}",
        key.name, key.limit, team.name, team.limit
    );
    for (name, value) in [(RATE_LIMIT, stands), (RATE_LIMIT_POLICY, allowed)] {
        let value = HeaderValue::from_str(&value).expect("names and numbers are visible ASCII");
        headers.insert(name, value);
    }
}
