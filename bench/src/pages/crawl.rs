//! The pages that links lead to, as `tests/console/crawl.mjs` finds them: two of each kind.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    sync::LazyLock,
};

use anyhow::ensure;
use regex::Regex;

use super::browser::Browser;

/// Pages with the same path but for ids.
const EACH: usize = 2;
/// More means that the folding of paths is wrong.
const MOST: usize = 2_000;

static ID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").expect("the pattern is valid")
});

/// A page to measure.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub(super) path: String,
    /// The same for pages that are reported together.
    pub(super) kind: String,
}

impl Page {
    /// With ids and the values of the query folded.
    fn linked(path: String) -> Self {
        let (place, query) = path.split_once('?').unwrap_or((&path, ""));
        let mut kind = ID.replace_all(place, "{id}").into_owned();
        let names = query.split('&').filter(|pair| !pair.is_empty());
        let names: BTreeSet<&str> = names
            .map(|pair| pair.split_once('=').map_or(pair, |(name, _)| name))
            .collect();
        if !names.is_empty() {
            kind.push('?');
            kind.push_str(&names.into_iter().collect::<Vec<_>>().join("&"));
        }
        Self { path, kind }
    }

    /// A page that is reported for itself.
    pub(super) fn special(path: &str, what: &str) -> Self {
        let Self { path, kind } = Self::linked(path.to_owned());
        Self {
            path,
            kind: format!("{kind} ({what})"),
        }
    }
}

/// What a crawl found.
pub(super) struct Found {
    pub(super) pages: Vec<Page>,
    /// Links to something else than a page: where, and what was answered.
    pub(super) not_shown: Vec<String>,
}

/// Opens everything that can be reached from these paths.
pub(super) async fn crawl(browser: &mut Browser, starts: &[String]) -> anyhow::Result<Found> {
    let mut waiting: VecDeque<Page> = starts.iter().cloned().map(Page::linked).collect();
    let mut known: HashSet<String> = starts.iter().cloned().collect();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut found = Found {
        pages: Vec::new(),
        not_shown: Vec::new(),
    };
    while let Some(page) = waiting.pop_front() {
        let answered = browser.open(&page.path).await?;
        if answered.status != 200 {
            found
                .not_shown
                .push(format!("{} {}", answered.status, page.kind));
            continue;
        }
        for link in answered.links(&page.path)? {
            let next = Page::linked(link);
            if next.path.starts_with("/assets/") || known.contains(&next.path) {
                continue;
            }
            let seen = seen.entry(next.kind.clone()).or_default();
            if *seen >= EACH {
                continue;
            }
            *seen += 1;
            known.insert(next.path.clone());
            waiting.push_back(next);
        }
        found.pages.push(page);
        ensure!(
            found.pages.len() < MOST,
            "the console has no end: {:?}",
            found.pages.last()
        );
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_differ_by_ids_and_values_are_of_one_kind() {
        let one = "/t/01990000-0000-7000-8000-00000000aaaa/items?status=rejected&after=x";
        let other = "/t/01990000-0000-7000-8000-00000000bbbb/items?after=y&status=";
        assert_eq!(
            Page::linked(one.to_owned()).kind,
            "/t/{id}/items?after&status"
        );
        assert_eq!(
            Page::linked(one.to_owned()).kind,
            Page::linked(other.to_owned()).kind
        );
        assert_eq!(
            Page::special(one, "rejected").kind,
            "/t/{id}/items?after&status (rejected)"
        );
    }
}
