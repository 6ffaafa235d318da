//! An item's image that a person puts on a hash list.

use domain::id::HashListId;
use management::{Refused, hash_lists::entries};
use poem::http::StatusCode;

use super::{
    decision,
    item::{self, Form},
};
use crate::{
    hash_lists::entries::note,
    page::{Answer, PageRequest, Problems},
};

pub(crate) async fn create(request: PageRequest) -> Answer {
    let refused = match add(&request).await {
        Ok(()) => return Ok(decision::done(&request, "image-listed")),
        Err(refused) => refused,
    };
    let form = Form {
        status: StatusCode::UNPROCESSABLE_ENTITY,
        problems: Problems::of(refused)?,
        note: request.form.get("note"),
        list: request.form.get("list"),
        ..Form::default()
    };
    item::page(&request, form).await
}

async fn add(request: &PageRequest) -> Result<(), Refused> {
    let missing = || Refused::NotFound(management::Noun::Media);
    let team = request.team().map_err(|_| missing())?;
    let item = request.id("item").map_err(|_| missing())?;
    let caller = request.caller()?;
    let list: HashListId = request
        .form
        .get("list")
        .parse()
        .map_err(|_| Refused::field("list", "must be one of the lists"))?;
    let note = note(request)?;
    entries::add_image(&request.management, &caller, list, item, note).await?;
    Ok(())
}
