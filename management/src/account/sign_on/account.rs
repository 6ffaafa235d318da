//! The account of somebody whom the provider knows.

use domain::{email::Email, id::UserId, name::Name};
use oidc::Identity;
use store::{
    PgConnection,
    person::{self, identity},
};

use super::{NotSignedOn, grants::Wanted};
use crate::{SignOn, passwords};

/// How much of a name is kept.
const LONGEST_NAME: usize = 100;

/// The account of the issuer's subject. A person with a role gets one at the first sign-in. An account is never found by
/// its e-mail address: anyone who can change the address at the provider would get the account.
pub(super) async fn find_or_create(
    conn: &mut PgConnection,
    sign_on: &SignOn,
    person: &Identity,
    wanted: &Wanted,
) -> Result<UserId, NotSignedOn> {
    let (issuer, subject) = (sign_on.issuer(), person.subject.as_str());
    if let Some(user) = identity::user(conn, issuer, subject).await? {
        return Ok(user);
    }
    let email: Option<Email> = person
        .email
        .as_deref()
        .and_then(|email| email.trim().parse().ok());
    let email = email.ok_or(NotSignedOn::NoEmail)?;
    if wanted.is_empty() {
        let is_known = person::account(conn, &email).await?.is_some();
        return Err(if is_known {
            NotSignedOn::KnownEmail
        } else {
            NotSignedOn::NoRole
        });
    }
    let name = name(person, &email);
    let hash = passwords::of_nobody();
    let created = person::create_without_password(conn, &email, &name, &hash).await?;
    let Some(user) = created else {
        // Perhaps the same person has signed in for the first time in two browsers at once.
        let user = identity::user(conn, issuer, subject).await?;
        return user.ok_or(NotSignedOn::KnownEmail);
    };
    if identity::create(conn, issuer, subject, user).await? {
        Ok(user)
    } else {
        Err(NotSignedOn::Lost)
    }
}

/// The person's name, or the address if there is none that can be shown.
fn name(person: &Identity, email: &Email) -> Name {
    let stated = person.name.as_deref().unwrap_or_default();
    let shown: String = stated.trim().chars().take(LONGEST_NAME).collect();
    let name = shown.trim().parse::<Name>();
    let address = || {
        email
            .as_str()
            .chars()
            .take(LONGEST_NAME)
            .collect::<String>()
            .parse()
    };
    name.or_else(|_| address())
        .expect("an address of printable ASCII is a name")
}
