//! The caller of the public interface, and its rate limit. The site key is in the body (or the
//! query) of a request and nowhere else.

use api_common::{
    Code, Refusal,
    text_decoding::{self, Text},
};
use domain::{
    key::{SecretHash, SiteKey},
    rate_limit::RateStanding,
};
use poem::{
    FromRequest, Request, RequestBody, Result,
    http::{HeaderValue, header},
};
use store::rate_limit::Admission;

/// Whether the request has an `Authorization: Bearer` header. It does not authenticate anybody.
/// Without an `api_key`, the sender gets a better explanation.
#[derive(Clone, Copy)]
pub(crate) struct Bearer(bool);

impl<'a> FromRequest<'a> for Bearer {
    async fn from_request(request: &'a Request, _body: &mut RequestBody) -> Result<Self> {
        let header = request
            .headers()
            .get(header::AUTHORIZATION)
            .map(HeaderValue::as_bytes);
        let scheme = header.and_then(|value| value.get(..7));
        Ok(Self(scheme.is_some_and(|scheme| {
            scheme.eq_ignore_ascii_case(b"bearer ")
        })))
    }
}

/// The hash of the request's key. A malformed key gets the same answer as an unknown one.
pub(crate) fn key(api_key: Option<&Text>, bearer: Bearer) -> Result<SecretHash, Refusal> {
    if api_key == Some(&Text::IsNot) {
        return Err(Refusal::invalid_field("api_key", text_decoding::MUST_BE));
    }
    match (api_key.and_then(Text::as_str), bearer) {
        (None | Some(""), Bearer(true)) => Err(Refusal::new(
            Code::InvalidApiKey,
            "The Authorization header is not used: send the site key as the member api_key of the JSON body.",
        )),
        (None | Some(""), Bearer(false)) => Err(Refusal::invalid_field(
            "api_key",
            "is missing: it must be the site key",
        )),
        (Some(text), Bearer(_)) => {
            let key: SiteKey = text.parse().map_err(|_| Refusal::invalid_api_key())?;
            Ok(key.hash())
        }
    }
}

/// Whether the request is within the limits of its key and of its team.
pub(crate) fn admitted(admission: Admission) -> Result<RateStanding, Refusal> {
    match admission {
        Admission::Admitted(rate) => Ok(rate),
        Admission::Refused(rate, reached) => Err(Refusal::rate_limited(rate, reached)),
        Admission::Hurried(rate, wait) => Err(Refusal::hurried(rate, wait)),
        Admission::UnknownKey => Err(Refusal::invalid_api_key()),
    }
}
