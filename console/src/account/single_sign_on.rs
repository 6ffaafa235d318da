//! Connecting the own account with the provider of single sign-on, and disconnecting it.

use std::sync::Arc;

use askama::Template;
use domain::id::IdentityId;
use management::{
    Management,
    account::{
        identities::{self, Connected},
        sign_on::{self, Purpose},
    },
};

use crate::{
    error_page::PageError, page, request::PageRequest, router::Answer, sign_in, time::Moment,
};

/// An identity as the page shows it.
pub(super) struct Identity {
    pub(super) id: IdentityId,
    /// What people call the provider, or its address if it is not configured now.
    pub(super) provider: String,
    pub(super) is_in_use: bool,
    /// The address there.
    pub(super) address: Option<String>,
    pub(super) since: Moment,
    pub(super) used: Option<Moment>,
}

impl Identity {
    pub(super) fn of(
        management: &Management,
        provider: Option<&str>,
        listed: Vec<Connected>,
    ) -> Vec<Self> {
        let rows = listed.into_iter().map(|one| {
            let is_in_use = identities::is_in_use(management, &one);
            let name = provider.filter(|_| is_in_use);
            Self {
                id: one.id,
                provider: name.map_or(one.issuer, str::to_owned),
                is_in_use,
                address: one.email,
                since: one.created_at.into(),
                used: one.last_used_at.map(Moment::from),
            }
        });
        rows.collect()
    }
}

/// Leads to the provider. It is a page with a link, because the policy for content lets no form leave the console, not even
/// by a redirect.
#[derive(Template)]
#[template(path = "account/connect.html")]
struct Connect<'a> {
    provider: &'a str,
    address: &'a str,
}

pub(crate) async fn connect(request: Arc<PageRequest>) -> Answer {
    let provider = request.provider().ok_or(PageError::NoSuchPage)?;
    let purpose = Purpose::Connect(request.session()?);
    let begun = match sign_on::begin(&request.management, &request.visitor, purpose).await {
        Ok(begun) => begun,
        Err(not) => return sign_in::single_sign_on::refused(&request, not),
    };
    let mut response = page::shown(&Connect {
        provider,
        address: begun.address.as_str(),
    });
    sign_in::single_sign_on::hold(&mut response, &begun);
    Ok(response)
}

pub(crate) async fn disconnect(request: Arc<PageRequest>) -> Answer {
    let (session, identity) = (request.session()?, request.id("identity")?);
    identities::disconnect(&request.management, &request.visitor, session, identity).await?;
    Ok(page::see_other("/account?done=disconnected"))
}
