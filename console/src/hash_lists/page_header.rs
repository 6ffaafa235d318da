//! What all pages of a hash list have at their top.

use domain::{id::HashListId, scope::Scope};
use management::{
    Caller, Forbidden, Refused,
    hash_lists::{self, VisibleHashList},
};

use crate::{
    page::{Frame, PageError, PageRequest},
    visible_text::VisibleText,
};

/// A hash list, and what the person can do with it.
pub(super) struct Head {
    pub(super) list: VisibleHashList,
    pub(super) path: String,
    pub(super) description: Option<VisibleText>,
    /// Whether it belongs to the team; on the pages of the instance, whether it is shared. Of shared lists, a team sees neither
    /// entries nor imports.
    pub(super) is_own: bool,
    pub(super) may_change: bool,
    pub(super) may_scan: bool,
}

impl Head {
    /// The path of the form that deletes the list.
    pub(super) fn deletion(&self) -> String {
        format!("{}/delete", self.path)
    }
}

/// The page's frame, and the list that its address names.
pub(super) async fn of(request: &PageRequest) -> Result<(Frame, Head, Caller), PageError> {
    let caller = request.caller()?;
    let id: HashListId = request.id("list")?;
    let list = hash_lists::get(&caller, id).await?;
    let frame = Frame::of(request, "hash-lists").await?;
    // Lists of teams are not the instance's.
    if frame.is_instance() && list.team.is_some() {
        return Err(Refused::NotFound(management::Noun::HashList).into());
    }
    let is_own = list.team == frame.at.team();
    let may_scan = frame.may(Scope::HashListsWrite);
    let description = list.description.as_deref();
    let head = Head {
        path: frame.path(&format!("hash-lists/{id}")),
        description: description.map(|text| VisibleText::new(text, &[])),
        is_own,
        may_change: is_own && may_scan,
        may_scan,
        list,
    };
    Ok((frame, head, caller))
}

/// Refuses people who cannot change the list. The route has refused those who cannot change any.
pub(super) fn require_change(head: &Head) -> Result<(), Refused> {
    if head.may_change {
        return Ok(());
    }
    Err(Refused::Forbidden(
        Forbidden::SharedList,
        "The list is shared: operators change it.".into(),
    ))
}

/// The list that the address of a form names.
pub(super) fn named(request: &PageRequest) -> Result<(Caller, HashListId), Refused> {
    let missing = |_| Refused::NotFound(management::Noun::HashList);
    let caller = request.caller()?;
    Ok((caller, request.id("list").map_err(missing)?))
}
