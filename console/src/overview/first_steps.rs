//! What a team does until its first item.

use domain::scope::Scope;
use management::sites::{Counts, ManagedSite};

use crate::page::Frame;

/// A step to the first item.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    pub(super) is_done: bool,
    /// Whether it is the first that is not done.
    pub(super) is_next: bool,
    /// Where it is done, for those who may.
    pub(super) way: Option<(String, &'static str)>,
}

/// The steps of a team that has submitted nothing yet.
pub(super) fn first_steps(
    frame: &Frame,
    sites: &[ManagedSite],
    counts: &[Counts],
) -> [Step; 3] {
    let way = |scope, path, action| frame.may(scope).then_some((path, action));
    let list = frame.path("sites");
    let with_key = counts.iter().find(|counts| counts.keys > 0);
    // The site with a key is the one from which items come.
    let site = with_key.map_or_else(|| sites.first().map(|site| site.id), |one| Some(one.site));
    let page = site.map(|site| format!("{list}/{site}"));
    let mut steps = [
        Step {
            name: "Create a site",
            text: "A site is an application, with its own keys and rules.",
            is_done: !sites.is_empty(),
            is_next: false,
            way: way(Scope::SitesWrite, format!("{list}/new"), "New site"),
        },
        Step {
            name: "Create a key",
            text: "Your application sends it with each submission.",
            is_done: with_key.is_some(),
            is_next: false,
            way: page
                .as_ref()
                .and_then(|page| way(Scope::KeysWrite, format!("{page}/keys"), "Keys")),
        },
        Step {
            name: "Submit the first item",
            text: "Send a text or an image to the submission interface. It is counted here within two minutes.",
            is_done: false,
            is_next: false,
            way: page.and_then(|page| way(Scope::SitesRead, page, "Open the site")),
        },
    ];
    if let Some(next) = steps.iter_mut().find(|step| !step.is_done) {
        next.is_next = true;
    }
    steps
}
