//! Redeeming a code, and verifying the ID token that it gives.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jsonwebtoken::{Header, TokenData, Validation, decode};
use reqwest::{Client, RequestBuilder};
use serde::Deserialize;
use url::form_urlencoded::{self, Serializer};

use crate::{
    Attempt, Failed, Settings,
    claims::{Claims, LEEWAY},
    discovery::Document,
    http,
    signature::ALGORITHMS,
    signing_keys::Keys,
};

/// The longest ID token. It has all groups of a person, but no more than a large header of a request.
const LONGEST: usize = 64 << 10;

/// What a code gives.
#[derive(Deserialize)]
pub(crate) struct Tokens {
    pub(crate) id_token: String,
    /// With it, the provider can be asked about the person.
    pub(crate) access_token: Option<String>,
}

pub(crate) async fn redeem(
    http: &Client,
    document: &Document,
    settings: &Settings,
    attempt: &Attempt,
    code: &str,
) -> Result<Tokens, Failed> {
    let request = request(http, document, settings, attempt, code);
    let tokens: Tokens = http::send(request).await?;
    if tokens.id_token.len() > LONGEST {
        return Err(Failed::TooLarge(LONGEST));
    }
    Ok(tokens)
}

fn request(
    http: &Client,
    document: &Document,
    settings: &Settings,
    attempt: &Attempt,
    code: &str,
) -> RequestBuilder {
    let mut form = Serializer::new(String::new());
    form.append_pair("grant_type", "authorization_code")
        .append_pair("code", code)
        .append_pair("redirect_uri", settings.redirect.as_str())
        .append_pair("code_verifier", &attempt.verifier);
    let (id, secret) = (settings.client_id.as_str(), settings.client_secret.expose());
    let mut request = http.post(document.token_endpoint.clone());
    if document.takes_secret_in_form() {
        form.append_pair("client_id", id)
            .append_pair("client_secret", secret);
    } else {
        request = request.header("authorization", basic(id, secret));
    }
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    request.body(form.finish())
}

/// Both are encoded as in forms first (RFC 6749, section 2.3.1).
fn basic(id: &str, secret: &str) -> String {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encoded(id), encoded(secret));
    format!("Basic {}", STANDARD.encode(pair))
}

/// Reads how a token is signed.
pub(crate) fn header(token: &str) -> Result<Header, Failed> {
    // The library knows no `none`, so a token without a signature has no readable header.
    let header = jsonwebtoken::decode_header(token);
    let header = header.map_err(|_| {
        Failed::Untrusted("the ID token's header is unreadable, or it is not signed")
    })?;
    if !ALGORITHMS.contains(&header.alg) {
        return Err(Failed::Untrusted(
            "the ID token is signed with a shared secret",
        ));
    }
    if header.crit.is_some() {
        return Err(Failed::Untrusted(
            "the ID token has an extension that must be understood",
        ));
    }
    Ok(header)
}

/// The claims of a token with a valid signature by one of the keys, that has not expired.
pub(crate) fn verify(
    token: &str,
    header: &Header,
    keys: &Keys,
    settings: &Settings,
) -> Result<Claims, Failed> {
    let mut wanted = Validation::new(header.alg);
    wanted.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    wanted.set_issuer(&[settings.issuer.as_str()]);
    wanted.set_audience(&[settings.client_id.as_str()]);
    wanted.validate_nbf = true;
    wanted.leeway = LEEWAY.num_seconds().unsigned_abs();
    let mut why = "the ID token is signed with a key that the provider does not publish";
    for key in keys.fitting(header) {
        match decode::<Claims>(token, key, &wanted) {
            Ok(TokenData { claims, .. }) => return Ok(claims),
            Err(error) => why = reason(&error),
        }
    }
    Err(Failed::Untrusted(why))
}

fn reason(error: &jsonwebtoken::errors::Error) -> &'static str {
    use jsonwebtoken::errors::ErrorKind;
    match error.kind() {
        ErrorKind::InvalidSignature => "the ID token's signature is wrong",
        ErrorKind::ExpiredSignature => "the ID token has expired",
        ErrorKind::ImmatureSignature => "the ID token is not valid yet",
        ErrorKind::InvalidIssuer => "the ID token is of another issuer",
        ErrorKind::InvalidAudience => "the ID token is for another client",
        ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) => {
            "the ID token lacks iss, aud, sub or exp"
        }
        _ => "the ID token is malformed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_name_and_secret_are_encoded_before_they_are_joined() {
        let sent = basic("a:b", "p w%")
            .strip_prefix("Basic ")
            .map(|pair| STANDARD.decode(pair));
        assert_eq!(sent.unwrap().unwrap(), b"a%3Ab:p+w%25");
    }

    #[test]
    fn a_token_without_a_signature_or_with_a_shared_secret_is_refused_before_any_key() {
        let token = |head: &str| {
            let part = |text: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
            format!("{}.{}.", part(head), part("{}"))
        };
        for head in [
            r#"{"alg":"none"}"#,
            r#"{"alg":"NONE"}"#,
            r#"{"alg":"HS256"}"#,
            r#"{"alg":"RS256","crit":["b64"]}"#,
            "{}",
            "",
        ] {
            assert!(header(&token(head)).is_err(), "{head}");
        }
        assert!(header(&token(r#"{"alg":"RS256"}"#)).is_ok());
        assert!(header("a.b").is_err() && header("").is_err());
    }
}
