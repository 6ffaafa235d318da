//! What a team does until its first item.

use domain::scope::Scope;
use management::sites::{Counts, ManagedSite};

use crate::page::Frame;

/// A step to something that works.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    pub(crate) is_done: bool,
    /// Whether it is the first that is not done.
    pub(crate) is_next: bool,
    /// Where it is done, for those who may.
    pub(crate) way: Option<(String, &'static str)>,
}

impl Step {
    pub(crate) fn new(
        (name, text): (&'static str, &'static str),
        is_done: bool,
        way: Option<(String, &'static str)>,
    ) -> Self {
        Self {
            name,
            text,
            is_done,
            is_next: false,
            way,
        }
    }
}

/// Marks the first step that is not done.
pub(crate) fn in_order<const N: usize>(mut steps: [Step; N]) -> [Step; N] {
    if let Some(next) = steps.iter_mut().find(|step| !step.is_done) {
        next.is_next = true;
    }
    steps
}

/// The steps of a team that has submitted nothing yet.
pub(super) fn first_steps(frame: &Frame, sites: &[ManagedSite], counts: &[Counts]) -> [Step; 3] {
    let way = |scope, path, action| frame.may(scope).then_some((path, action));
    let list = frame.path("sites");
    let with_key = counts.iter().find(|counts| counts.keys > 0);
    // The site with a key is the one from which items come.
    let site = with_key.map_or_else(|| sites.first().map(|site| site.id), |one| Some(one.site));
    let page = site.map(|site| format!("{list}/{site}"));
    let keys = page
        .as_ref()
        .and_then(|page| way(Scope::KeysWrite, format!("{page}/keys"), "Keys"));
    let site = page.and_then(|page| way(Scope::SitesRead, page, "Open the site"));
    in_order([
        Step::new(
            (
                "Create a site",
                "A site is an application, with its own keys and rules.",
            ),
            !sites.is_empty(),
            way(Scope::SitesWrite, format!("{list}/new"), "New site"),
        ),
        Step::new(
            (
                "Create a key",
                "Your application sends it with each submission.",
            ),
            with_key.is_some(),
            keys,
        ),
        Step::new(
            (
                "Submit the first item",
                "Send a text or an image to the submission interface. It is counted here within two minutes.",
            ),
            false,
            site,
        ),
    ])
}
