//! Who signed in, as a provider that was verified says.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::{
    Settings,
    claims::{self, Claims, text, texts},
};

/// How many roles of a person are looked at.
const MOST_ROLES: usize = 1_000;

/// Who signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The provider's name of the person, which never changes and is never given to another one.
    pub subject: String,
    /// The e-mail address, unless the provider says that it is not verified.
    pub email: Option<String>,
    /// Whether the provider says that it is verified. Many say nothing about it.
    pub is_verified: bool,
    /// The person's name.
    pub name: Option<String>,
    /// The values of the claim with the roles.
    pub roles: Vec<String>,
    /// Whether the provider checked several factors.
    pub is_strong: bool,
    /// When the person authenticated at the provider, if it says so.
    pub authenticated_at: Option<DateTime<Utc>>,
}

impl Identity {
    /// The identity behind verified claims: `token` of the ID token, `more` of the provider's answer about the person.
    pub(crate) fn of(subject: &str, settings: &Settings, token: &Claims, more: &Claims) -> Self {
        let stated = |name: &str| text(token, name).or_else(|| text(more, name));
        let verified = token
            .get("email_verified")
            .or_else(|| more.get("email_verified"));
        let verified = verified.and_then(truth);
        let email = stated("email").filter(|_| verified != Some(false));
        // The same answer must say both: another one may be about another address.
        let is_verified = [token, more].iter().any(|claims| {
            let verified = claims.get("email_verified").and_then(truth);
            email.is_some() && text(claims, "email") == email && verified == Some(true)
        });
        let name = &settings.roles_claim;
        let roles = texts(claims::at(token, name).or_else(|| claims::at(more, name)));
        Self {
            subject: subject.to_owned(),
            is_verified,
            email: email.map(str::to_owned),
            name: stated("name")
                .or_else(|| stated("preferred_username"))
                .map(str::to_owned),
            roles: roles
                .into_iter()
                .take(MOST_ROLES)
                .map(str::to_owned)
                .collect(),
            is_strong: is_strong(settings, token),
            authenticated_at: claims::time(token, "auth_time"),
        }
    }

    /// Whether the ID token lacks something that the provider may tell when it is asked about the person.
    pub(crate) fn wants_more(settings: &Settings, token: &Claims) -> bool {
        text(token, "email").is_none() || claims::at(token, &settings.roles_claim).is_none()
    }
}

/// Some providers state truth as a text.
fn truth(claim: &Value) -> Option<bool> {
    match claim {
        Value::Bool(verified) => Some(*verified),
        Value::String(verified) => verified.parse().ok(),
        _ => None,
    }
}

/// What methods of authentication prove (RFC 8176). SMS and calls are left out: both can be redirected.
const KNOWLEDGE: [&str; 3] = ["pwd", "pin", "kba"];
const POSSESSION: [&str; 5] = ["otp", "hwk", "swk", "sc", "pop"];
const INHERENCE: [&str; 6] = ["fpt", "face", "iris", "retina", "vbm", "bio"];

/// Whether the provider checked several factors: it says so, or names methods of two kinds, or its `acr` is one that the
/// operator knows. A single method is one factor, whatever it is.
fn is_strong(settings: &Settings, token: &Claims) -> bool {
    let methods = texts(token.get("amr"));
    let kinds = [&KNOWLEDGE[..], &POSSESSION, &INHERENCE];
    let proved = kinds
        .iter()
        .filter(|kind| methods.iter().any(|method| kind.contains(method)));
    let known =
        text(token, "acr").is_some_and(|acr| settings.strong_acrs.iter().any(|one| one == acr));
    known || methods.contains(&"mfa") || proved.count() > 1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ClientSecret;

    fn of(token: Value, more: Value) -> Identity {
        let settings = Settings {
            issuer: "https://a.example".parse().unwrap(),
            client_id: "gatehouse".to_owned(),
            client_secret: ClientSecret::new("secret".to_owned()),
            redirect: "https://console.example/sign-on/callback".parse().unwrap(),
            scopes: Vec::new(),
            roles_claim: "roles".to_owned(),
            strong_acrs: vec!["urn:example:gold".to_owned()],
        };
        let (Value::Object(token), Value::Object(more)) = (token, more) else {
            panic!("claims are objects");
        };
        Identity::of("ada", &settings, &token, &more)
    }

    #[test]
    fn several_factors_are_two_kinds_or_what_the_provider_calls_so() {
        for (claims, strong) in [
            (json!({}), false),
            (json!({ "amr": ["pwd"] }), false),
            (json!({ "amr": ["otp"] }), false),
            (json!({ "amr": ["hwk", "swk"] }), false),
            (json!({ "amr": ["pwd", "sms"] }), false),
            (json!({ "amr": ["pwd", "otp"] }), true),
            (json!({ "amr": ["hwk", "pin"] }), true),
            (json!({ "amr": ["swk", "face"] }), true),
            (json!({ "amr": ["mfa"] }), true),
            (json!({ "amr": "mfa" }), true),
            (json!({ "acr": "urn:example:silver" }), false),
            (json!({ "acr": "urn:example:gold" }), true),
        ] {
            assert_eq!(of(claims.clone(), json!({})).is_strong, strong, "{claims}");
            assert!(
                !of(json!({}), claims).is_strong,
                "only a signed token says so"
            );
        }
    }

    #[test]
    fn the_token_comes_first_and_an_unverified_address_is_none() {
        let more = json!({ "email": "b@example.com", "name": "Ada", "roles": "viewer" });
        let found = of(
            json!({ "email": "a@example.com", "roles": [] }),
            more.clone(),
        );
        assert_eq!(found.email.as_deref(), Some("a@example.com"));
        assert_eq!(found.name.as_deref(), Some("Ada"));
        assert!(found.roles.is_empty(), "the token says that there are none");
        assert_eq!(of(json!({}), more).roles, ["viewer"]);
        for unverified in [json!(false), json!("false")] {
            let token = json!({ "email": "a@example.com", "email_verified": unverified });
            assert_eq!(of(token, json!({})).email, None);
        }
    }

    #[test]
    fn an_address_is_verified_if_the_same_answer_says_so() {
        let here =
            |verified: Value| json!({ "email": "a@example.com", "email_verified": verified });
        let there = json!({ "email": "b@example.com", "email_verified": true });
        let address = json!({ "email": "a@example.com" });
        for (token, more, verified) in [
            (here(json!(true)), json!({}), true),
            (here(json!("true")), json!({}), true),
            (json!({}), here(json!(true)), true),
            (address.clone(), here(json!(true)), true),
            (address.clone(), json!({}), false),
            (address.clone(), there, false),
            (address, json!({ "email_verified": true }), false),
            (here(json!("yes")), json!({}), false),
            (here(json!(1)), json!({}), false),
            (here(json!(false)), here(json!(true)), false),
            (json!({ "email_verified": true }), json!({}), false),
        ] {
            let found = of(token.clone(), more.clone());
            assert_eq!(found.is_verified, verified, "{token} {more}");
        }
    }
}
