//! How much people have seen, by day: everybody for leads, only oneself for others.

use askama::Template;
use domain::scope::Scope;
use management::reviews::{self, Exposure};

use crate::page::{self, Answer, Area, Frame, PageRequest};

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

pub(crate) async fn show(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let exposures = reviews::exposures(&request.management, &caller, None, None).await?;
    Ok(page::shown(&Seen {
        frame: Frame::of(&request, "desk").await?,
        rows: exposures.rows,
        is_complete: exposures.is_complete,
    }))
}
