//! An item's image that a person puts on a hash list.

use std::sync::Arc;

use domain::id::HashListId;
use management::{Refused, hash_lists::entries};
use poem::http::StatusCode;

use super::{
    decision,
    item::{self, Form},
};
use crate::{hash_lists::entries::note, problems::Problems, router::Answer, request::PageRequest};

pub(crate) async fn create(visit: Arc<PageRequest>) -> Answer {
    let refused = match add(&visit).await {
        Ok(()) => return Ok(decision::done(&visit, "image-listed")),
        Err(refused) => refused,
    };
    let form = Form {
        status: StatusCode::UNPROCESSABLE_ENTITY,
        problems: Problems::of(refused)?,
        note: visit.form.get("note"),
        list: visit.form.get("list"),
        ..Form::default()
    };
    item::page(&visit, form).await
}

async fn add(visit: &PageRequest) -> Result<(), Refused> {
    let missing = || Refused::NotFound(management::Noun::Media);
    let team = visit.team().map_err(|_| missing())?;
    let item = visit.id("item").map_err(|_| missing())?;
    let caller = visit.caller(Some(team))?;
    let list: HashListId = visit
        .form
        .get("list")
        .parse()
        .map_err(|_| Refused::field("list", "must be one of the lists"))?;
    let note = note(visit)?;
    entries::add_image(&visit.management, &caller, list, item, note).await?;
    Ok(())
}
