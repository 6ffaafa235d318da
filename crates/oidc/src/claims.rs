//! Claims, as the provider states them, and what they must be in an ID token.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value};

use crate::{Ask, Attempt, Failed, Settings};

/// How far the clocks may differ.
pub(crate) const LEEWAY: TimeDelta = TimeDelta::seconds(60);
/// The longest subject (`OpenID` Connect Core 1.0, section 2).
const LONGEST_SUBJECT: usize = 255;

/// Claims about a person.
pub(crate) type Claims = Map<String, Value>;

/// Checks what the library does not: that the token is of this issuer alone, for this client, made for this attempt, and
/// about an authentication as fresh as was asked for. Returns the subject.
pub(crate) fn check<'a>(
    claims: &'a Claims,
    settings: &Settings,
    attempt: &Attempt,
    now: DateTime<Utc>,
) -> Result<&'a str, Failed> {
    let untrusted = |what| Err(Failed::Untrusted(what));
    if text(claims, "iss") != Some(settings.issuer.as_str()) {
        return untrusted("the ID token is of another issuer");
    }
    let audience = texts(claims.get("aud"));
    if !audience.contains(&settings.client_id.as_str()) {
        return untrusted("the ID token is for another client");
    }
    match text(claims, "azp") {
        Some(party) if party != settings.client_id => {
            return untrusted("the ID token was issued to another client");
        }
        None if audience.len() > 1 => {
            return untrusted("the ID token does not say to whom it was issued");
        }
        Some(_) | None => {}
    }
    if text(claims, "nonce") != Some(&attempt.nonce) {
        return untrusted("the ID token was not made for this attempt");
    }
    match time(claims, "iat") {
        Some(issued) if issued <= now + LEEWAY => {}
        Some(_) => return untrusted("the ID token is from the future"),
        None => return untrusted("the ID token does not say when it was issued"),
    }
    if attempt.ask == Ask::Again {
        match time(claims, "auth_time") {
            Some(given) if given >= attempt.begun_at - LEEWAY => {}
            Some(_) => return untrusted("the provider did not authenticate the person again"),
            None => return untrusted("the provider does not say when it authenticated the person"),
        }
    }
    subject(claims).ok_or(Failed::Untrusted("the ID token has no subject"))
}

/// Who the claims are about.
pub(crate) fn subject(claims: &Claims) -> Option<&str> {
    let subject = text(claims, "sub")?;
    (!subject.is_empty() && subject.len() <= LONGEST_SUBJECT).then_some(subject)
}

/// A claim that is a text.
pub(crate) fn text<'a>(claims: &'a Claims, name: &str) -> Option<&'a str> {
    claims.get(name).and_then(Value::as_str)
}

/// A claim that is one text or a list of texts.
pub(crate) fn texts(claim: Option<&Value>) -> Vec<&str> {
    match claim {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// A claim that is a time: seconds, possibly with a fraction.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a fraction of a second does not matter"
)]
pub(crate) fn time(claims: &Claims, name: &str) -> Option<DateTime<Utc>> {
    let seconds = claims.get(name)?;
    let seconds = seconds
        .as_i64()
        .or_else(|| seconds.as_f64().map(|given| given as i64))?;
    DateTime::from_timestamp(seconds, 0)
}

/// A claim by its name. If there is none of this name, the dots of the name lead into objects: `realm_access.roles`.
pub(crate) fn at<'a>(claims: &'a Claims, name: &str) -> Option<&'a Value> {
    if let Some(claim) = claims.get(name) {
        return Some(claim);
    }
    let mut parts = name.split('.');
    let first = claims.get(parts.next()?)?;
    parts.try_fold(first, |claim, part| claim.get(part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ClientSecret;

    fn settings() -> Settings {
        Settings {
            issuer: "https://a.example".parse().unwrap(),
            client_id: "gatehouse".to_owned(),
            client_secret: ClientSecret::new("secret".to_owned()),
            redirect: "https://console.example/sign-on/callback".parse().unwrap(),
            scopes: Vec::new(),
            roles_claim: "roles".to_owned(),
            strong_acrs: Vec::new(),
        }
    }

    fn judged(ask: Ask, change: &Value) -> Result<String, Failed> {
        let now = DateTime::from_timestamp(1_900_000_000, 0).unwrap();
        let attempt = Attempt::begin(ask, now);
        let mut claims = json!({
            "iss": "https://a.example", "aud": "gatehouse", "sub": "ada", "nonce": attempt.nonce,
            "iat": now.timestamp(), "auth_time": now.timestamp(),
        });
        for (name, value) in change.as_object().unwrap() {
            claims[name] = value.clone();
        }
        let claims = claims.as_object().unwrap();
        check(claims, &settings(), &attempt, now).map(str::to_owned)
    }

    #[test]
    fn a_token_of_this_issuer_for_this_client_and_this_attempt_is_trusted() {
        for change in [
            json!({}),
            json!({ "aud": ["gatehouse"] }),
            json!({ "aud": ["gatehouse", "other"], "azp": "gatehouse" }),
            json!({ "iat": 1_900_000_059 }),
            json!({ "auth_time": 1_899_999_941.5 }),
        ] {
            for ask in [Ask::SignIn, Ask::Again] {
                assert_eq!(judged(ask, &change).unwrap(), "ada", "{change}");
            }
        }
    }

    #[test]
    fn everything_else_is_not() {
        for change in [
            json!({ "iss": "https://b.example" }),
            json!({ "iss": ["https://a.example", "https://b.example"] }),
            json!({ "aud": "other" }),
            json!({ "aud": [] }),
            json!({ "aud": ["gatehouse", "other"] }),
            json!({ "aud": ["gatehouse", "other"], "azp": "other" }),
            json!({ "azp": "other" }),
            json!({ "nonce": "x" }),
            json!({ "nonce": null }),
            json!({ "iat": 1_900_000_061 }),
            json!({ "iat": null }),
            json!({ "sub": "" }),
            json!({ "sub": null }),
            json!({ "sub": "x".repeat(256) }),
        ] {
            let judged = judged(Ask::SignIn, &change);
            assert!(matches!(judged, Err(Failed::Untrusted(_))), "{change}");
        }
    }

    #[test]
    fn who_must_authenticate_again_did_so_after_it_was_asked() {
        for change in [
            json!({ "auth_time": 1_899_999_939 }),
            json!({ "auth_time": null }),
            json!({ "auth_time": "now" }),
        ] {
            assert!(judged(Ask::SignIn, &change).is_ok(), "{change}");
            assert!(judged(Ask::Again, &change).is_err(), "{change}");
        }
    }

    #[test]
    fn a_claim_is_found_by_its_name_or_by_its_path() {
        let claims = json!({
            "roles": ["a", 1, "b"],
            "realm_access": { "roles": "c" },
            "https://a.example/roles": ["d"],
        });
        let claims = claims.as_object().unwrap();
        let found = |name| texts(at(claims, name));
        assert_eq!(found("roles"), ["a", "b"]);
        assert_eq!(found("realm_access.roles"), ["c"]);
        assert_eq!(found("https://a.example/roles"), ["d"]);
        assert!(found("roles.x").is_empty() && found("none").is_empty());
    }
}
