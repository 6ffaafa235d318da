//! Styles, scripts and icons. Their names contain a hash of their content, so browsers keep them for ever and never use an
//! outdated one.

use std::sync::LazyLock;

use poem::{Response, http::header};
use sha2::{Digest as _, Sha256};

use crate::page::{Answer, PageError, PageRequest};

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

/// The style sheet: first what all pages share, then what some pages add, then what narrow windows change.
const SHEET: &str = concat!(
    include_str!("../assets/styles/tokens.css"),
    include_str!("../assets/styles/elements.css"),
    include_str!("../assets/styles/rail.css"),
    include_str!("../assets/styles/page.css"),
    include_str!("../assets/styles/controls.css"),
    include_str!("../assets/styles/signs.css"),
    include_str!("../assets/styles/tables.css"),
    include_str!("../assets/styles/charts.css"),
    include_str!("../assets/styles/webhooks.css"),
    include_str!("../assets/styles/overview.css"),
    include_str!("../assets/styles/sign_in.css"),
    include_str!("../assets/styles/sites.css"),
    include_str!("../assets/styles/people.css"),
    include_str!("../assets/styles/items.css"),
    include_str!("../assets/styles/rules.css"),
    include_str!("../assets/styles/desk.css"),
    include_str!("../assets/styles/dead-jobs.css"),
    include_str!("../assets/styles/narrow.css"),
);

static STYLES: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("console", "css", "text/css; charset=utf-8", SHEET));

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
pub(crate) async fn serve(request: PageRequest) -> Answer {
    let known = [&*STYLES, &*SCRIPT, &*ICONS];
    let asset = known
        .into_iter()
        .find(|asset| asset.url == request.path())
        .ok_or(PageError::NoSuchPage)?;
    Ok(Response::builder()
        .content_type(asset.content_type)
        .header(header::CACHE_CONTROL, "public, max-age=31536000, immutable")
        .body(asset.content))
}
