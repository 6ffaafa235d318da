//! The own account: the password, the second factor, the sessions, and the teams.

pub(crate) mod factor;
pub(crate) mod password;
pub(crate) mod sessions;

use std::sync::Arc;

use askama::Template;
use management::account;
use poem::{Response, http::StatusCode};

use self::sessions::Row;
use crate::{
    page::{self, At, Frame},
    problems::Problems,
    router::Answer,
    trouble::Trouble,
    visit::Visit,
};

#[derive(Template)]
#[template(path = "account.html")]
struct Account {
    frame: Frame,
    sessions: Vec<Row>,
    /// What is wrong with the form of the password.
    problems: Problems,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Answer {
    page(&visit, StatusCode::OK, Problems::default()).await
}

async fn page(visit: &Visit, status: StatusCode, problems: Problems) -> Result<Response, Trouble> {
    let (this, listed) = account::sessions::list(&visit.management, visit.session()?).await?;
    let page = Account {
        frame: Frame::of(visit, At::Own, "account").await?,
        sessions: Row::of(this, listed),
        problems,
    };
    Ok(page::html(status, &page))
}
