//! What several forms about a draft send.

use domain::reason::Reason;
use management::Refused;

use crate::page::PageRequest;

/// What a person reads whose change was overtaken by another one.
pub(super) const OVERTAKEN: &str = "Somebody else changed the draft meanwhile. Nothing of your change was stored. \
     This is the draft as it is now.";

/// The revision of the draft that the form was made for. What cannot be one is none that ever was.
pub(super) fn revision(request: &PageRequest) -> i64 {
    request.form.get("revision").parse().unwrap_or(-1)
}

/// The note of a form. Empty: none.
pub(super) fn note(request: &PageRequest) -> Result<Option<Reason>, Refused> {
    let note = request.form.get("note");
    if note.trim().is_empty() {
        return Ok(None);
    }
    let note = Reason::try_from(note.to_owned());
    note.map(Some)
        .map_err(|wrong| Refused::field("note", wrong.to_string()))
}
