//! How much people have seen, by day: everybody for leads, only oneself for others.

use std::sync::Arc;

use askama::Template;
use domain::scope::Scope;
use management::reviews::{self, Exposure};

use crate::{
    page::{self, Area, Frame},
    request::PageRequest,
    router::Answer,
};

#[derive(Template)]
#[template(path = "desk/exposure.html")]
struct Seen {
    frame: Frame,
    rows: Vec<Exposure>,
    is_complete: bool,
}

impl Seen {
    fn is_everybody(&self) -> bool {
        self.frame.may(Scope::ReviewsManage)
    }
}

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    let team = request.team()?;
    let caller = request.caller(Some(team))?;
    let exposures = reviews::exposures(&request.management, &caller, None, None).await?;
    Ok(page::shown(&Seen {
        frame: Frame::of(&request, Area::Team(team), "desk").await?,
        rows: exposures.rows,
        is_complete: exposures.is_complete,
    }))
}
