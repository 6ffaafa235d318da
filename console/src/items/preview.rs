//! The preview of an item's image: a small picture that a process of its own draws anew.

use std::sync::Arc;

use domain::id::MediaId;
use management::media;
use poem::{Response, http::header};

use crate::{router::Answer, error_page::PageError, request::PageRequest};

/// Answers with the picture, only to an `<img>` of our own pages. A browser that opens its address saves a file at most.
pub(crate) async fn serve(visit: Arc<PageRequest>) -> Answer {
    if !visit.is_picture {
        return Err(PageError::NotAlone);
    }
    let caller = visit.caller(Some(visit.team()?))?;
    let item: MediaId = visit.id("item")?;
    let jpeg = media::preview(&visit.management, &caller, item).await?;
    let name = format!("attachment; filename=\"{item}-preview.jpeg\"");
    Ok(Response::builder()
        .content_type("image/jpeg")
        .header(header::CONTENT_DISPOSITION, name)
        .body(jpeg))
}
