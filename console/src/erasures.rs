//! Erasures of a team: the list, a new one, how far one has got, and continuing it if it failed.

use askama::Template;
use domain::{
    chain::State,
    erasure::{Counts, MOST_NAMED, MetadataValue, Subject, SubjectKind},
    id::{ErasureId, MediaId, TeamId},
    scope::Scope,
};
use management::{
    Refused,
    erasures::{self, Erasure, Wanted},
    sites::{self, ManagedSite},
};

use crate::{
    number::grouped,
    page::{self, Answer, Form, Frame, PageRequest, Problems, pager},
};

/// What a person types to start an erasure.
const PROOF: &str = "erase";

/// The sites that the form offers.
const SITES: i64 = 100;

#[derive(Template)]
#[template(path = "erasures.html")]
struct List {
    frame: Frame,
    rows: Vec<Erasure>,
    next: Option<String>,
    may_erase: bool,
    sites: Vec<ManagedSite>,
    problems: Problems,
}

/// How items were chosen, in words.
fn words(kind: SubjectKind) -> &'static str {
    match kind {
        SubjectKind::MediaIds => "items by their ids",
        SubjectKind::AppMediaIds => "items by the application’s ids",
        SubjectKind::Author => "the items of an author",
        SubjectKind::Metadata => "items with a value in their metadata",
        SubjectKind::Everything => "all items",
    }
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    page(&request, Problems::default()).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    let team = request.team()?;
    match start(&request, team).await {
        Ok(erasure) => request.lead_to(format!("erasures/{}?done=erasure-started", erasure.id)),
        Err(refused) => page(&request, Problems::of(refused)?).await,
    }
}

async fn start(request: &PageRequest, team: TeamId) -> Result<Erasure, Refused> {
    let wanted = read(&request.form, team)?;
    if request.form.get("typed") != PROOF {
        return Err(Refused::field("typed", format!("must be the word {PROOF}")));
    }
    let caller = request.caller()?;
    erasures::create(&caller, &wanted).await
}

async fn page(request: &PageRequest, problems: Problems) -> Answer {
    let frame = Frame::of(request, "erasures").await?;
    let caller = request.caller()?;
    let listed = erasures::list(&caller, pager::asked(request)).await?;
    let first = pager::first(SITES);
    let page = List {
        next: pager::next(request, &listed, |erasure| erasure.id),
        rows: listed,
        may_erase: frame.may(Scope::ErasuresWrite),
        sites: sites::list(&caller, first).await?,
        frame,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

/// The fields that can have problems beside them.
const FIELDS: &[&str] = &["what", "pointer", "site_id", "typed"];

fn read(form: &Form, team: TeamId) -> Result<Wanted, Refused> {
    let kind = form.get("kind").parse::<SubjectKind>();
    let kind = kind.map_err(|_| Refused::field("kind", "must be one of those that are offered"))?;
    let site = match form.get("site") {
        "" => None,
        site => Some(
            site.parse()
                .map_err(|_| Refused::field("site_id", "is no site of the team"))?,
        ),
    };
    Ok(Wanted {
        team: Some(team),
        site,
        subject: subject(form, kind)?,
    })
}

fn subject(form: &Form, kind: SubjectKind) -> Result<Subject, Refused> {
    let wrong = |message: String| Refused::field("what", message);
    let lines = form.get("what").lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty());
    let is_named = matches!(kind, SubjectKind::MediaIds | SubjectKind::AppMediaIds);
    if is_named && !(1..=MOST_NAMED).contains(&lines.clone().count()) {
        return Err(wrong(format!(
            "must have 1 to {MOST_NAMED} ids, one a line"
        )));
    }
    Ok(match kind {
        SubjectKind::MediaIds => {
            let ids = lines.map(|line| {
                let id = line.parse::<MediaId>();
                id.map_err(|_| wrong(format!("has “{line}”, which is no id of an item")))
            });
            Subject::MediaIds(ids.collect::<Result<_, _>>()?)
        }
        SubjectKind::AppMediaIds => Subject::AppMediaIds(lines.map(str::to_owned).collect()),
        SubjectKind::Author => {
            let author = form.get("what").trim().parse();
            Subject::Author(author.map_err(|error| wrong(format!("{error}")))?)
        }
        SubjectKind::Metadata => Subject::Metadata(MetadataValue {
            pointer: form
                .get("pointer")
                .trim()
                .to_owned()
                .try_into()
                .map_err(|error| Refused::field("pointer", format!("{error}")))?,
            value: serde_json::from_str(form.get("what").trim()).map_err(|_| {
                wrong("must be JSON: a text is in quotation marks, such as \"user-4711\"".into())
            })?,
        }),
        SubjectKind::Everything => Subject::Everything {},
    })
}

#[derive(Template)]
#[template(path = "erasures/erasure.html")]
struct Shown {
    frame: Frame,
    row: Erasure,
    /// What was removed so far, as label and number.
    counts: Vec<(&'static str, String)>,
    may_resume: bool,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let frame = Frame::of(&request, "erasures").await?;
    let caller = request.caller()?;
    let id: ErasureId = request.id("erasure")?;
    let erasure = erasures::get(&caller, id).await?;
    let failed = erasure.state == State::Failed;
    Ok(page::shown(&Shown {
        may_resume: failed && frame.may(Scope::ErasuresWrite),
        frame,
        counts: counted(&erasure.counts),
        row: erasure,
    }))
}

pub(crate) async fn resume(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let id: ErasureId = request.id("erasure")?;
    erasures::resume(&caller, id).await?;
    request.lead_to(format!("erasures/{id}?done=erasure-resumed"))
}

fn counted(counts: &Counts) -> Vec<(&'static str, String)> {
    let rows = [
        ("Items", counts.items),
        ("of these without a verdict", counts.without_verdict),
        ("Items under a legal hold, left as they are", counts.held),
        ("Images", counts.images),
        ("Analyses and parts of them", counts.analyses),
        ("Matches with hash lists", counts.hash_matches),
        ("Verdicts whose reasons were removed", counts.verdicts),
        ("Notes", counts.notes),
        ("Reasons in reviews", counts.opinions),
        ("Reviews", counts.reviews),
        ("Events", counts.events),
        ("Deliveries", counts.deliveries),
        ("Idempotency keys", counts.idempotency_keys),
        ("Dead jobs", counts.dead_jobs),
    ];
    rows.into_iter()
        .map(|(label, count)| (label, grouped(count)))
        .collect()
}
