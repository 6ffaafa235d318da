//! The preview of an item's image: a small picture that a process of its own draws anew.

use domain::id::MediaId;
use management::media;
use poem::{Response, http::header};

use crate::page::{Answer, PageError, PageRequest};

/// Answers with the picture, only to an `<img>` of our own pages. A browser that opens its address saves a file at most.
pub(crate) async fn serve(request: PageRequest) -> Answer {
    if !request.is_picture {
        return Err(PageError::NotAlone);
    }
    let caller = request.caller()?;
    let item: MediaId = request.id("item")?;
    let jpeg = media::preview(&request.management, &caller, item).await?;
    let name = format!("attachment; filename=\"{item}-preview.jpeg\"");
    Ok(Response::builder()
        .content_type("image/jpeg")
        .header(header::CONTENT_DISPOSITION, name)
        .body(jpeg))
}
