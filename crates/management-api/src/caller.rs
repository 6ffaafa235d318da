//! The caller, identified by the token in the `Authorization` header.

use std::{ops::Deref, sync::Arc};

use api_common::{Parameters, Refusal};
use domain::key::ManagementToken;
use http_server::{RequestId, sender};
use management::{FieldProblem, Management};
use poem::{
    Request, RequestBody, Result,
    http::{HeaderMap, header},
};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaSecurityScheme, Registry},
};

/// The caller that a request names. The token is well-formed, but may not exist.
pub(super) struct Caller(management::Caller);

impl Deref for Caller {
    type Target = management::Caller;

    fn deref(&self) -> &management::Caller {
        &self.0
    }
}

/// The name of the security scheme in the document.
const SCHEME: &str = "token";

impl<'a> ApiExtractor<'a> for Caller {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        registry.create_security_scheme(
            SCHEME,
            MetaSecurityScheme {
                ty: "http",
                description: Some(
                    "A management token: `mgmt_` and 32 characters. It is shown once, when it is created. Create the \
                     first token with `gatehouse admin create-token`.",
                ),
                name: None,
                key_in: None,
                scheme: Some("bearer"),
                bearer_format: Some("mgmt_..."),
                flows: None,
                openid_connect_url: None,
            },
        );
    }

    fn security_schemes() -> Vec<&'static str> {
        vec![SCHEME]
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        let token = bearer(request.headers()).map(|token| token.hash());
        let management = request
            .data::<Arc<Management>>()
            .expect("the listener gives every request its state");
        let arrived = management.rate_limit.arrive(sender(request), token).await;
        arrived.map_err(Refusal::from)?;
        let token = token.ok_or_else(Refusal::invalid_token)?;
        let parameters = Parameters::of(request)?;
        let request = request
            .data::<RequestId>()
            .expect("the front gives every request its id");
        let caller = management::Caller::token(management, token, request.as_str().to_owned());
        Ok(Self(match parameters {
            Some(parameters) => caller.checked(move || unknown(&parameters)),
            None => caller,
        }))
    }
}

/// The one bearer token of a request.
fn bearer(headers: &HeaderMap) -> Option<ManagementToken> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(header), None) = (given.next(), given.next()) else {
        return None;
    };
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    token.trim_ascii().parse().ok()
}

/// The parameters that the operation does not take.
fn unknown(parameters: &Parameters) -> Vec<FieldProblem> {
    let unknown = parameters.not_taken().into_iter();
    let unknown = unknown.map(|problem| FieldProblem {
        field: problem.field,
        message: problem.message,
        position: None,
    });
    unknown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_well_formed_bearer_token_is_taken() {
        let taken = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, value.parse().unwrap());
            }
            bearer(&headers).is_some()
        };
        assert!(taken(&["Bearer mgmt_a"]) && taken(&["bEARER   mgmt_a"]));
        for values in [
            &[][..],
            &["mgmt_a"],
            &["Bearer"],
            &["Bearer "],
            &["Basic mgmt_a"],
            &["Bearer site_a"],
            &["Bearer mgmt_a mgmt_b"],
            &["Bearer mgmt_a", "Bearer mgmt_a"],
        ] {
            assert!(!taken(values), "{values:?}");
        }
    }
}
