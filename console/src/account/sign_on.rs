//! Connecting the own account with the provider of single sign-on.

use std::sync::Arc;

use askama::Template;
use management::account::sign_on::{self, Purpose};

use crate::{door, page, router::Answer, trouble::Trouble, visit::Visit};

/// Leads to the provider. It is a page with a link, because the policy for content lets no form leave the console, not even
/// by a redirect.
#[derive(Template)]
#[template(path = "account/connect.html")]
struct Connect<'a> {
    provider: &'a str,
    address: &'a str,
}

pub(crate) async fn connect(visit: Arc<Visit>) -> Answer {
    let provider = visit.provider().ok_or(Trouble::NoSuchPage)?;
    let purpose = Purpose::Connect(visit.session()?);
    let begun = match sign_on::begin(&visit.management, &visit.visitor, purpose).await {
        Ok(begun) => begun,
        Err(not) => return door::sign_on::refused(&visit, not),
    };
    let mut response = page::shown(&Connect {
        provider,
        address: begun.address.as_str(),
    });
    door::sign_on::hold(&mut response, &begun);
    Ok(response)
}
