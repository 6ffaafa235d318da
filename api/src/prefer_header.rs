//! The request header `Prefer: wait=SECONDS` ([RFC 7240](https://www.rfc-editor.org/rfc/rfc7240)) and the answer's
//! `Preference-Applied`.

use std::time::Duration;

use http_server::Waited;
use poem::{
    IntoResponse, Request, RequestBody, Response, Result,
    http::{HeaderName, HeaderValue},
};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ApiResponse, ExtractParamOptions,
    registry::{MetaParamIn, MetaResponses, MetaSchema, MetaSchemaRef, Registry},
};

pub(crate) const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// The longest wait, in seconds. A client that prefers more gets this.
pub(crate) const LONGEST: u64 = 10;

/// How long the client prefers to wait. Preferences that we do not know, or cannot read, are ignored, as the RFC demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefer {
    /// 1 to [`LONGEST`] seconds.
    pub(crate) wait: Option<Duration>,
}

impl Prefer {
    fn parse<'a>(lines: impl Iterator<Item = &'a HeaderValue>) -> Self {
        let lines = lines.filter_map(|line| line.to_str().ok());
        // The first of several counts.
        let wait = lines
            .flat_map(|line| line.split(','))
            .find_map(|preference| {
                // What follows a semicolon are parameters, of which `wait` has none.
                let preference = preference.split(';').next().unwrap_or_default();
                let (name, value) = preference.split_once('=')?;
                name.trim()
                    .eq_ignore_ascii_case("wait")
                    .then(|| value.trim())
            });
        let seconds = wait.and_then(|value| value.trim_matches('"').parse::<u64>().ok());
        Self {
            wait: seconds
                .filter(|seconds| *seconds > 0)
                .map(|seconds| Duration::from_secs(seconds.min(LONGEST))),
        }
    }
}

impl<'a> ApiExtractor<'a> for Prefer {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = false;
    type ParamType = ();
    type ParamRawType = ();

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Header)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(MetaSchemaRef::Inline(Box::new(MetaSchema {
            example: Some("wait=5".into()),
            ..MetaSchema::new("string")
        })))
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        let lines = request.headers().get_all(options.name);
        Ok(Self::parse(lines.iter()))
    }
}

/// An answer, and how long it was ready to wait.
pub(crate) struct Preferred<T> {
    /// None if the client did not ask for it, or no place was free.
    pub(crate) applied: Option<Duration>,
    /// How long it has waited.
    pub(crate) waited: Duration,
    pub(crate) answer: T,
}

impl<T: IntoResponse> IntoResponse for Preferred<T> {
    fn into_response(self) -> Response {
        let mut response = self.answer.into_response();
        if let Some(applied) = self.applied {
            let applied = HeaderValue::from_str(&format!("wait={}", applied.as_secs()))
                .expect("a number is visible ASCII");
            response.headers_mut().insert(PREFERENCE_APPLIED, applied);
            response.extensions_mut().insert(Waited(self.waited));
        }
        response
    }
}

impl<T: ApiResponse> ApiResponse for Preferred<T> {
    fn meta() -> MetaResponses {
        T::meta()
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(lines: &[&'static str]) -> Option<u64> {
        let lines: Vec<_> = lines
            .iter()
            .map(|line| HeaderValue::from_static(line))
            .collect();
        Prefer::parse(lines.iter()).wait.map(|wait| wait.as_secs())
    }

    #[test]
    fn the_wait_is_found_among_other_preferences() {
        assert_eq!(seconds(&["wait=5"]), Some(5));
        assert_eq!(seconds(&["respond-async, WAIT = 3; a=b, wait=9"]), Some(3));
        assert_eq!(seconds(&["handling=lenient", "wait=\"2\""]), Some(2));
    }

    #[test]
    fn a_longer_wait_becomes_the_longest() {
        assert_eq!(seconds(&["wait=3600"]), Some(LONGEST));
    }

    #[test]
    fn what_is_no_wait_is_ignored() {
        for line in [
            "",
            "wait",
            "wait=",
            "wait=soon",
            "wait=-1",
            "wait=0",
            "waiting=4",
            "respond-async",
        ] {
            assert_eq!(seconds(&[line]), None, "{line}");
        }
    }
}
