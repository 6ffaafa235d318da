//! E-mail addresses, by which people sign in. Gatehouse sends no mail; an address is a name that
//! people remember.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::id::UserId;

/// An e-mail address in lower case: two people never differ by case alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Email(String);

impl Email {
    /// What an address looks like, as a regular expression.
    pub const PATTERN: &str = r"^[!#-'*+\-./0-9=?A-Z^-~]+@[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*$";
    /// The most characters of an address (RFC 5321).
    pub const LONGEST: usize = 254;

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the address is one of this domain. Addresses of a subdomain are not.
    pub fn is_of(&self, domain: &Domain) -> bool {
        self.0.rsplit_once('@').map(|(_, host)| host) == Some(domain.as_str())
    }

    /// What an account is called after it gave its address up. Nobody has an address of the domain `invalid` (RFC 2606).
    pub fn given_up(account: UserId) -> Self {
        Self(format!("{account}@given-up.invalid"))
    }
}

/// A domain of e-mail addresses, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain(String);

impl Domain {
    /// The domain.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text is no domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a domain of e-mail addresses, such as example.com")]
pub struct InvalidDomain;

impl FromStr for Domain {
    type Err = InvalidDomain;

    fn from_str(text: &str) -> Result<Self, InvalidDomain> {
        // What can stand behind the @ of an address.
        let email: Email = format!("a@{text}").parse().map_err(|_| InvalidDomain)?;
        Ok(Self(email.0[2..].to_owned()))
    }
}

/// The text is no e-mail address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an e-mail address of at most 254 ASCII characters, such as ada@example.com")]
pub struct InvalidEmail;

impl FromStr for Email {
    type Err = InvalidEmail;

    fn from_str(text: &str) -> Result<Self, InvalidEmail> {
        let (local, host) = text.rsplit_once('@').ok_or(InvalidEmail)?;
        let printable = text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !b"<>()[]\\,;:\"".contains(&byte));
        let plain = !local.is_empty() && !local.contains('@') && !host.is_empty();
        let labels = host.split('.').all(|label| {
            let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            !label.is_empty() && label.bytes().all(known)
        });
        if text.len() <= Self::LONGEST && printable && plain && labels {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(InvalidEmail)
        }
    }
}

impl TryFrom<String> for Email {
    type Error = InvalidEmail;

    fn try_from(text: String) -> Result<Self, InvalidEmail> {
        text.parse()
    }
}

impl From<Email> for String {
    fn from(email: Email) -> Self {
        email.0
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_does_not_tell_people_apart_and_what_is_no_address_is_refused() {
        let ada: Email = "Ada.L+x@Example.COM".parse().unwrap();
        assert_eq!(ada.as_str(), "ada.l+x@example.com");
        assert!("root@localhost".parse::<Email>().is_ok());
        let long = format!("{}@example.com", "a".repeat(243));
        for text in [
            "",
            "ada",
            "@example.com",
            "ada@",
            "a@b@c",
            "a b@c.de",
            "a@b..c",
            "a@.b",
            "a@b_c",
            "<a>@b.c",
            "ä@b.c",
            "a@b.c\n",
            &long,
        ] {
            assert_eq!(text.parse::<Email>(), Err(InvalidEmail), "{text:?}");
        }
    }

    #[test]
    fn a_domain_is_compared_without_case_and_as_a_whole() {
        let domain: Domain = "BigCorp.example".parse().unwrap();
        assert_eq!(domain.as_str(), "bigcorp.example");
        let is_of = |email: &str| email.parse::<Email>().unwrap().is_of(&domain);
        assert!(is_of("ceo@bigcorp.example") && is_of("ceo@BIGCORP.EXAMPLE"));
        for other in [
            "ceo@mail.bigcorp.example",
            "ceo@notbigcorp.example",
            "ceo@bigcorp.example.org",
            "bigcorp.example@example.com",
        ] {
            assert!(!is_of(other), "{other}");
        }
        for text in [
            "",
            "@a.example",
            "a@b.example",
            "*.a.example",
            "a b",
            "a..b",
            "a.\0",
        ] {
            assert_eq!(text.parse::<Domain>(), Err(InvalidDomain), "{text:?}");
        }
    }

    #[test]
    fn an_address_that_was_given_up_is_an_address_of_nobody() {
        let given_up = Email::given_up(uuid::Uuid::from_u128(7).into());
        assert_eq!(given_up.as_str().parse(), Ok(given_up));
    }
}
