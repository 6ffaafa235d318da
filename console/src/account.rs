//! The own account: the password, the second factor, the sessions, and the teams.

pub(crate) mod password;
pub(crate) mod second_factor;
pub(crate) mod sessions;
pub(crate) mod single_sign_on;

use std::sync::Arc;

use askama::Template;
use management::account;
use poem::{Response, http::StatusCode};

use self::{sessions::Row, single_sign_on::Identity};
use crate::{
    error_page::PageError,
    page::{self, Area, Frame},
    problems::Problems,
    request::PageRequest,
    router::Answer,
};

#[derive(Template)]
#[template(path = "account.html")]
struct Account {
    frame: Frame,
    sessions: Vec<Row>,
    has_password: bool,
    /// What people call the provider of single sign-on, and whether the account is connected with it.
    provider: Option<(String, bool)>,
    identities: Vec<Identity>,
    recovery_codes: i64,
    /// What is wrong with the form of the password.
    problems: Problems,
}

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    page(&request, StatusCode::OK, Problems::default()).await
}

async fn page(
    request: &PageRequest,
    status: StatusCode,
    problems: Problems,
) -> Result<Response, PageError> {
    let (this, listed) = account::sessions::list(&request.management, request.session()?).await?;
    let owner = request.mine().await?;
    let provider = request.provider();
    let connected = account::identities::list(&request.management, request.session()?).await?;
    let page = Account {
        has_password: owner.has_password,
        provider: provider.map(|name| (name.to_owned(), owner.is_connected)),
        identities: Identity::of(&request.management, provider, connected),
        recovery_codes: owner.recovery_codes,
        frame: Frame::of(request, Area::Own, "account").await?,
        sessions: Row::of(this, listed),
        problems,
    };
    Ok(page::html(status, &page))
}
