//! Styles, scripts and icons. Their names contain a hash of their content, so browsers keep them for ever and never use an
//! outdated one.

use std::sync::{Arc, LazyLock};

use poem::{Response, http::header};
use sha2::{Digest as _, Sha256};

use crate::{router::Answer, trouble::Trouble, visit::Visit};

/// Digits of the hash in a name.
const DIGITS: usize = 12;

struct Asset {
    url: String,
    content_type: &'static str,
    content: &'static str,
}

impl Asset {
    fn new(stem: &str, extension: &str, content_type: &'static str, content: &'static str) -> Self {
        let hash = hex::encode(Sha256::digest(content));
        Self {
            url: format!("/assets/{stem}-{}.{extension}", &hash[..DIGITS]),
            content_type,
            content,
        }
    }
}

static STYLES: LazyLock<Asset> = LazyLock::new(|| {
    let content = include_str!("../assets/console.css");
    Asset::new("console", "css", "text/css; charset=utf-8", content)
});

static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let content = include_str!("../assets/console.js");
    Asset::new("console", "js", "text/javascript; charset=utf-8", content)
});

static ICONS: LazyLock<Asset> = LazyLock::new(|| {
    let content = include_str!("../assets/icons.svg");
    Asset::new("icons", "svg", "image/svg+xml", content)
});

/// The URL of the style sheet.
pub(crate) fn styles() -> &'static str {
    &STYLES.url
}

/// The URL of the script.
pub(crate) fn script() -> &'static str {
    &SCRIPT.url
}

/// The URL of the icons. Each has an id.
pub(crate) fn icons() -> &'static str {
    &ICONS.url
}

/// Serves one of them.
pub(crate) async fn serve(visit: Arc<Visit>) -> Answer {
    let known = [&*STYLES, &*SCRIPT, &*ICONS];
    let asset = known
        .into_iter()
        .find(|asset| asset.url == visit.path())
        .ok_or(Trouble::NoSuchPage)?;
    Ok(Response::builder()
        .content_type(asset.content_type)
        .header(header::CACHE_CONTROL, "public, max-age=31536000, immutable")
        .body(asset.content))
}
