//! Trying a text on the draft, beside what the live version says.

mod highlights;

use askama::Template;
use domain::{
    media::Status,
    rules::{Evidence, View, Violation},
    score::{Category, Scores},
};
use management::{
    Refused,
    rule_groups::trials::{self, ScoresFrom, Trial},
};

use self::highlights::Piece;
use super::page_header::{self, Head, Tab};
use crate::{
    page::{self, Answer, Frame, PageRequest, Problems},
    rules::row::effect,
    visible_text::truncate,
};

#[derive(Template)]
#[template(path = "rules/trial.html")]
struct Try {
    frame: Frame,
    head: Head,
    asks: bool,
    /// A field for the score of each category.
    scores: Vec<Field>,
    problems: Problems,
    wrong: Vec<String>,
    result: Option<Outcome>,
}

/// A field for a score.
struct Field {
    category: Category,
    name: String,
    typed: String,
    wrong: Option<String>,
}

/// What the rules say about the text.
struct Outcome {
    draft: Said,
    /// The same for the live version, if there is a draft.
    live: Option<Said>,
    pieces: Vec<Piece>,
    /// Scores that were compared with the rules.
    scores: Vec<(Category, String)>,
    scores_from: ScoresFrom,
}

impl Try {
    fn has_scores(&self) -> bool {
        self.scores
            .iter()
            .any(|field| !field.typed.is_empty() || field.wrong.is_some())
    }
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, Problems::default(), None).await
}

pub(crate) async fn run(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let (group, asks) = (request.id("group")?, request.form.has("ask"));
    let text = request.form.get("text").to_owned();
    let tried = match scores(&request) {
        Ok(scores) => trials::beside_live(&caller, group, text, scores, asks).await,
        Err(wrong) => Err(wrong),
    };
    match tried {
        Ok(beside) => {
            let text = beside.draft.text.as_deref().unwrap_or_default();
            let result = Outcome {
                pieces: highlights::pieces(text, &beside.draft.violations),
                scores: listed(beside.draft.scores),
                scores_from: beside.draft.scores_from,
                live: beside.live.as_ref().map(|live| Said::new(live, text)),
                draft: Said::new(&beside.draft, text),
            };
            page(&request, Problems::default(), Some(result)).await
        }
        Err(refused) => page(&request, Problems::of(refused)?, None).await,
    }
}

fn field(category: Category) -> String {
    format!("score-{category}")
}

/// The scores that were typed. None: none was.
fn scores(request: &PageRequest) -> Result<Option<Scores>, Refused> {
    let mut scores = Scores::new();
    let mut is_typed = false;
    for category in Category::ALL {
        let name = field(category);
        let typed = request.form.get(&name).trim();
        if typed.is_empty() {
            continue;
        }
        let score: Option<f64> = typed.parse().ok();
        let score = score.filter(|score| (0.0..=1.0).contains(score));
        let score = score.ok_or_else(|| Refused::field(name, "must be a number from 0 to 1"))?;
        scores.set(category, score);
        is_typed = true;
    }
    Ok(is_typed.then_some(scores))
}

fn listed(scores: Option<Scores>) -> Vec<(Category, String)> {
    let scores = scores.unwrap_or_default();
    let found = Category::ALL.into_iter();
    found
        .filter_map(|category| Some((category, format!("{:.2}", scores.get(category)?))))
        .collect()
}

async fn page(request: &PageRequest, problems: Problems, result: Option<Outcome>) -> Answer {
    let caller = request.caller()?;
    let (frame, head) = page_header::open(request, &caller, Tab::Try).await?;
    let fields = Category::ALL.into_iter().map(|category| {
        let name = field(category);
        Field {
            category,
            typed: request.form.get(&name).to_owned(),
            wrong: problems.at(&name),
            name,
        }
    });
    let mut names: Vec<String> = Category::ALL.into_iter().map(field).collect();
    names.push("text".to_owned());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let page = Try {
        wrong: problems.besides(&names),
        frame,
        head,
        asks: request.form.has("ask"),
        scores: fields.collect(),
        problems,
        result,
    };
    Ok(page::html(page.problems.status(), &page))
}

/// Rules that are listed.
const MATCHES: usize = 100;
/// Characters of a match that are shown.
const MATCH_CHARS: usize = 200;

/// What a set of rules says.
struct Said {
    status: Status,
    tone: &'static str,
    reason: Option<String>,
    matches: Vec<Match>,
    /// How many more rules match.
    more: usize,
    /// Categories that rules ask for and that have no score.
    unscored: String,
}

struct Match {
    rule: String,
    kind: &'static str,
    effect: (&'static str, &'static str),
    text: Option<String>,
    how: String,
}

impl Said {
    fn new(trial: &Trial, text: &str) -> Self {
        let matches = trial.violations.iter().take(MATCHES);
        let unscored = trial.unscored.iter().map(ToString::to_string);
        Self {
            status: trial.status,
            tone: tone(trial.status),
            reason: trial.reason.clone(),
            matches: matches
                .map(|violation| Match::new(violation, text))
                .collect(),
            more: trial.violations.len().saturating_sub(MATCHES),
            unscored: unscored.collect::<Vec<_>>().join(", "),
        }
    }
}

pub(super) const fn tone(status: Status) -> &'static str {
    match status {
        Status::Approved => "ok",
        Status::Rejected => "no",
        Status::PendingReview => "warn",
        Status::Pending => "",
    }
}

impl Match {
    fn new(violation: &Violation, text: &str) -> Self {
        let (matched, how) = match &violation.evidence {
            Evidence::Text { view, span, .. } => {
                let matched = text.get(span.clone()).unwrap_or_default();
                let how = match view {
                    View::Original => "as it was written",
                    View::Folded => "whatever its case, accents and look-alikes",
                    View::Loose => {
                        "in disguise: digits for letters, spelled-out or stretched words"
                    }
                };
                (Some(truncate(matched, MATCH_CHARS)), how.to_owned())
            }
            Evidence::Score {
                category,
                score,
                threshold,
                ..
            } => (
                None,
                format!("{category} {score:.2}, threshold {threshold}"),
            ),
            Evidence::Hash { distance, .. } => (None, format!("{distance} of 256 bits differ")),
        };
        Self {
            rule: violation.rule_name.clone(),
            kind: violation.rule_type.as_str(),
            effect: effect(violation.effect),
            text: matched,
            how,
        }
    }
}
