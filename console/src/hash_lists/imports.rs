//! Files of hashes that are read into a list: paste one, watch, see what was refused, cancel.

use askama::Template;
use domain::{id::HashImportId, image_hash::HashAlgorithm};
use management::{
    Refused,
    hash_lists::imports::{self, Import},
};

use super::page_header::{self, Head};
use crate::page::{self, Answer, Frame, PageError, PageRequest, Problems, pager};

/// Refused lines of a page.
const REFUSALS: i64 = 100;

#[derive(Template)]
#[template(path = "hash_lists/imports.html")]
struct Imports {
    frame: Frame,
    tab: &'static str,
    head: Head,
    rows: Vec<Import>,
    next: Option<String>,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "hash_lists/import.html")]
struct Shown {
    frame: Frame,
    head: Head,
    row: Import,
    refusals: Vec<imports::RefusedLine>,
    /// The address of the next page of refused lines.
    next: Option<String>,
}

/// How far an import has got.
fn percent(import: &Import) -> i64 {
    match import.total_lines {
        0 => 100,
        total => import.lines * 100 / total,
    }
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    page(&request, Problems::default()).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    match start(&request).await {
        Ok(import) => Ok(page::see_other(format!("{}/{}", request.path(), import.id))),
        Err(refused) => page(&request, Problems::of(refused)?).await,
    }
}

async fn start(request: &PageRequest) -> Result<Import, Refused> {
    let (caller, list) = page_header::named(request)?;
    let algorithm: HashAlgorithm = request
        .form
        .choice("algorithm", "must be `pdq` or `sha256`")?;
    let hashes = request.form.get("hashes");
    if hashes.trim().is_empty() {
        return Err(Refused::field("hashes", "must have at least one line"));
    }
    imports::create(&caller, list, algorithm, hashes.as_bytes()).await
}

async fn page(request: &PageRequest, problems: Problems) -> Answer {
    let (frame, head, caller) = page_header::of(request).await?;
    let asked = pager::asked(request);
    let found = imports::list(&caller, head.list.id, asked).await?;
    let page = Imports {
        frame,
        tab: "imports",
        head,
        next: pager::next(request, &found, |import| import.id),
        rows: found,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let (frame, head, caller) = page_header::of(&request).await?;
    let import: HashImportId = request.id("import")?;
    let import = imports::get(&caller, import).await?;
    if import.list != head.list.id {
        return Err(PageError::NoSuchPage);
    }
    let after = request.query.get("after").parse().unwrap_or(0);
    let refusals = imports::refusals(&caller, import.id, after, REFUSALS).await?;
    let is_full = i64::try_from(refusals.len()) == Ok(REFUSALS);
    let last = refusals.last().filter(|_| is_full);
    Ok(page::shown(&Shown {
        frame,
        head,
        row: import,
        next: last.map(|refused| pager::after(&request, refused.line)),
        refusals,
    }))
}

pub(crate) async fn cancel(request: PageRequest) -> Answer {
    let (caller, list) = page_header::named(&request)?;
    let import: HashImportId = request.id("import")?;
    let found = imports::get(&caller, import).await?;
    if found.list != list {
        return Err(PageError::NoSuchPage);
    }
    imports::cancel(&caller, import).await?;
    let path = request.path().trim_end_matches("/cancel").to_owned();
    Ok(page::see_other(path))
}
