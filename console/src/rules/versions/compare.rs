//! What differs between two versions, or between a version and the draft.

use askama::Template;
use domain::id::GroupVersionId;
use management::rule_groups::{diff, versions::ListedVersion};

use crate::{
    page::{self, Answer, Frame, PageRequest},
    rules::{
        diff::Differences,
        group::lists_of,
        page_header::{self, Head, Tab},
    },
};

#[derive(Template)]
#[template(path = "rules/compare.html")]
struct Compare {
    frame: Frame,
    head: Head,
    versions: Vec<ListedVersion>,
    /// The earlier one.
    from: GroupVersionId,
    /// The later one. None: the draft.
    to: Option<GroupVersionId>,
    differences: Differences,
}

impl Compare {
    fn is_from(&self, version: &ListedVersion) -> bool {
        self.from == version.id
    }

    fn is_to(&self, version: &ListedVersion) -> bool {
        self.to == Some(version.id)
    }

    fn is_live(&self, version: &GroupVersionId) -> bool {
        self.head.group().live == *version
    }
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let asked = |name: &str| request.query.get(name).parse::<GroupVersionId>().ok();
    let (group, from, to) = (request.id("group")?, asked("from"), asked("to"));
    let difference = diff::between(&request.management, &caller, group, from, to).await?;
    let changed = difference.changed.iter().map(|(_, to)| to);
    let named = difference.added.iter().chain(&difference.removed);
    let lists = lists_of(&request, &caller, named.chain(changed)).await?;
    let versions = super::choices(&request, &caller).await?;
    let (frame, head) = page_header::open(&request, &caller, Tab::Versions).await?;
    Ok(page::shown(&Compare {
        from: from.unwrap_or(head.group().live),
        to,
        frame,
        head,
        versions,
        differences: Differences::of(&difference, &lists),
    }))
}
