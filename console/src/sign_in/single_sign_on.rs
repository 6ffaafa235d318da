//! Signing in at the provider of single sign-on: the browser is sent there, and comes back.

use askama::Template;
use domain::key::LinkSecret;
use management::account::sign_on::{self, Finished, NotSignedOn, Purpose, Returned};
use poem::http::StatusCode;

use super::{entered, entered_to_join};
use crate::{
    cookie,
    page::{self, Answer, Message, PageError, PageRequest},
};

/// There is an account with the person's address, and nobody has proved to own it.
#[derive(Template)]
#[template(path = "sign_in/unproven.html")]
struct Unproven<'a> {
    text: &'a str,
}

/// Leads to the provider once more. It is a page with a link, as for connecting an account.
#[derive(Template)]
#[template(path = "sign_in/take_address.html")]
struct TakeAddress<'a> {
    provider: &'a str,
    address: &'a str,
}

const TO_SIGN_IN: (&str, &str) = ("/sign-in", "Back to signing in");
const TO_ACCOUNT: (&str, &str) = ("/account", "Back to your account");

/// Sends the browser to the provider. A link leads here, because the policy for content lets no form leave the console.
pub(crate) async fn begin(request: PageRequest) -> Answer {
    go(&request, Purpose::Enter).await
}

/// Sends the browser to the provider, so that the person who is signed in authenticates there once more.
pub(crate) async fn again(request: PageRequest) -> Answer {
    let session = request.session()?;
    go(&request, Purpose::ProveAgain(session)).await
}

/// Sends the browser to the provider, to accept an invitation as the person who is known there.
pub(crate) async fn join(request: PageRequest) -> Answer {
    let link = request.part::<LinkSecret>("link")?;
    go(&request, Purpose::Join(link)).await
}

/// Begins to take the address from an account that nobody has proved to own it. Only a form of ours begins it: another site
/// could otherwise have somebody lose an account.
pub(crate) async fn take_address(request: PageRequest) -> Answer {
    let provider = request.provider().ok_or(PageError::NoSuchPage)?;
    let purpose = Purpose::TakeAddress;
    let begun = match sign_on::begin(&request.management, &request.visitor, purpose).await {
        Ok(begun) => begun,
        Err(not) => return refused(&request, not),
    };
    let page = page::shown(&TakeAddress {
        provider,
        address: begun.address.as_str(),
    });
    Ok(cookie::set(page, cookie::hold_attempt(&begun.kept)))
}

async fn go(request: &PageRequest, purpose: Purpose) -> Answer {
    let begun = match sign_on::begin(&request.management, &request.visitor, purpose).await {
        Ok(begun) => begun,
        Err(not) => return refused(request, not),
    };
    let there = page::see_other(begun.address.as_str());
    Ok(cookie::set(there, cookie::hold_attempt(&begun.kept)))
}

/// The browser comes back.
pub(crate) async fn end(request: PageRequest) -> Answer {
    let query = &request.query;
    let returned = Returned {
        state: query.get("state"),
        code: query.get("code"),
        error: query.get("error"),
        issuer: query.get("iss"),
    };
    let (management, visitor) = (&request.management, &request.visitor);
    let finished = sign_on::finish(
        management,
        visitor,
        request.held(),
        request.attempt(),
        returned,
    )
    .await;
    let response = match finished {
        Ok(Finished::Entered(signed_in)) => entered(&signed_in, None),
        Ok(Finished::Joining(signed_in, link)) => entered_to_join(&signed_in, &link),
        Ok(Finished::ProvedAgain) => page::shown(&Message {
            title: "Thank you",
            text: "You have signed in again. Close this tab, and continue in the one where you were.",
            link: ("/", "Go to the start"),
        }),
        Ok(Finished::Connected) => page::see_other("/account?done=connected"),
        Err(not) => refused(&request, not)?,
    };
    Ok(cookie::set(response, cookie::forget_attempt()))
}

/// The page that says why not.
pub(crate) fn refused(request: &PageRequest, not: NotSignedOn) -> Answer {
    let status = match not {
        NotSignedOn::Refused(refused) => return Err(refused.into()),
        NotSignedOn::NotSetUp => return Err(PageError::NoSuchPage),
        NotSignedOn::Outage => StatusCode::SERVICE_UNAVAILABLE,
        NotSignedOn::Untrusted => StatusCode::BAD_GATEWAY,
        NotSignedOn::Denied | NotSignedOn::NoRole => StatusCode::FORBIDDEN,
        NotSignedOn::Lost
        | NotSignedOn::NoEmail
        | NotSignedOn::KnownEmail
        | NotSignedOn::NotInvited
        | NotSignedOn::Unproven
        | NotSignedOn::KnownPerson
        | NotSignedOn::OtherPerson => StatusCode::UNPROCESSABLE_ENTITY,
    };
    if matches!(not, NotSignedOn::Unproven) {
        let text = &not.to_string();
        return Ok(page::html(status, &Unproven { text }));
    }
    // Whoever is signed in goes back to the account.
    let link = if request.held().is_some() {
        TO_ACCOUNT
    } else {
        TO_SIGN_IN
    };
    let page = Message {
        title: "You were not signed in",
        text: &not.to_string(),
        link,
    };
    Ok(page::html(status, &page))
}
