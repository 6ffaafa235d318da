//! The machine's verdict in detail: rules that matched, scores, what providers answered, and what could not be checked.

use std::ops::Range;

use domain::{
    decision::Unchecked,
    media::Modality,
    rules::{Evidence, RuleEffect, View},
    score::{Category, Scores},
};
use management::media::{
    Item,
    explanation::{self, Explanation, FoundRule, Ground, ProviderReport},
};

use crate::{page::Area, visible_text::VisibleText};

/// How a page explains the machine's verdict.
pub(crate) struct Trace {
    pub(crate) rules: Vec<Rule>,
    /// How many more rules matched.
    pub(crate) more: usize,
    pub(crate) scores: Vec<Score>,
    pub(crate) providers: Vec<Provider>,
    pub(crate) unchecked: Vec<String>,
    /// Which categories nothing could score.
    pub(crate) unscored: Vec<String>,
    /// What the site's setting for failures did, if something could not be checked.
    pub(crate) policy: Option<&'static str>,
    /// The versions of rule groups that judge the item.
    pub(crate) versions: Vec<Version>,
    pub(crate) processing_time_ms: Option<u64>,
}

/// A rule that matched.
pub(crate) struct Rule {
    pub(crate) name: VisibleText,
    pub(crate) kind: &'static str,
    pub(crate) is_rejecting: bool,
    pub(crate) details: String,
    /// How the text was read to find it.
    pub(crate) reading: Option<&'static str>,
    /// The page of its group.
    pub(crate) group: Option<String>,
    /// The page of the hash list.
    pub(crate) list: Option<String>,
}

pub(crate) struct Score {
    pub(crate) category: Category,
    /// From 0 to 1.
    pub(crate) value: f64,
    /// The tone of its bar: whether a rule's threshold was reached.
    pub(crate) tone: &'static str,
}

impl Score {
    pub(crate) fn percent(&self) -> f64 {
        (self.value * 100.0).round()
    }

    pub(crate) fn shown(&self) -> String {
        format!("{:.2}", self.value)
    }
}

pub(crate) struct Provider {
    pub(crate) name: String,
    pub(crate) modality: Modality,
    pub(crate) elapsed_ms: u64,
    pub(crate) scored: usize,
    pub(crate) failure: Option<String>,
    /// Its answer in its own words.
    pub(crate) raw: Option<VisibleText>,
    /// The page of the item whose answer was used again.
    pub(crate) cached_from: Option<String>,
}

/// A version of a rule group.
pub(crate) struct Version {
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) number: i32,
    /// How long its rules took.
    pub(crate) took: Option<String>,
}

/// Rules that are shown. Thousands can match.
const RULES: usize = 100;

/// Characters of a provider's raw answer.
const RAW: usize = 8_000;

pub(crate) fn of(team: Area, item: &Item, why: Option<&Explanation>) -> Trace {
    let answers = item.analysis.as_ref().and_then(explanation::answers);
    let scores = why.and_then(|why| why.scores);
    let scores = scores.or_else(|| answers.as_ref().and_then(|answers| answers.scores));
    let found = why.map_or(&[][..], |why| &why.found);
    let reports = answers.map_or_else(Vec::new, |answers| answers.providers);
    let unchecked = why.map_or(&[][..], |why| &why.unchecked);
    let (rules, more) = rules(team, found);
    Trace {
        rules,
        more,
        scores: scores.map_or_else(Vec::new, |scores| bars(&scores, found)),
        providers: reports
            .into_iter()
            .map(|report| Provider::new(team, report))
            .collect(),
        unchecked: sentences(unchecked),
        unscored: why.map_or_else(Vec::new, unscored),
        policy: why.and_then(policy),
        versions: versions(team, item, why),
        processing_time_ms: why.and_then(|why| why.processing_time_ms),
    }
}

/// The first rules that matched, and how many more did.
pub(crate) fn rules(team: Area, found: &[FoundRule]) -> (Vec<Rule>, usize) {
    let first = found.iter().take(RULES);
    (
        first.map(|rule| Rule::new(team, rule)).collect(),
        found.len().saturating_sub(RULES),
    )
}

/// What could not be checked, as sentences.
pub(crate) fn sentences(unchecked: &[Unchecked]) -> Vec<String> {
    unchecked.iter().map(sentence).collect()
}

/// What could not be checked, as a sentence.
fn sentence(unchecked: &Unchecked) -> String {
    let clause = words(unchecked);
    let mut letters = clause.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters.by_ref()).chain(['.']).collect()
}

/// The same as a part of a sentence. Names of categories stand without signs around them.
pub(super) fn words(unchecked: &Unchecked) -> String {
    unchecked.to_string().replace('`', "")
}

/// Where rules matched in the text.
pub(crate) fn places(why: Option<&Explanation>) -> Vec<Range<usize>> {
    let found = why.map_or(&[][..], |why| &why.found).iter();
    found
        .filter_map(|rule| match &rule.evidence {
            Some(Evidence::Text { span, .. }) => Some(span.clone()),
            Some(Evidence::Score { .. } | Evidence::Hash { .. }) | None => None,
        })
        .collect()
}

impl Rule {
    fn new(team: Area, found: &FoundRule) -> Self {
        let evidence = found.evidence.as_ref();
        let group = evidence.map(|evidence| team.path(&format!("rules/{}", evidence.group())));
        let (reading, list) = match evidence {
            Some(Evidence::Text { view, .. }) => (reading(*view), None),
            Some(Evidence::Hash { list, .. }) => {
                (None, Some(team.path(&format!("hash-lists/{list}"))))
            }
            Some(Evidence::Score { .. }) | None => (None, None),
        };
        Self {
            name: VisibleText::new(&found.name, &[]),
            kind: found.rule_type.as_str(),
            is_rejecting: found.effect == Some(RuleEffect::Reject),
            details: found.details.clone(),
            reading,
            group,
            list,
        }
    }
}

const fn reading(view: View) -> Option<&'static str> {
    match view {
        View::Original => None,
        View::Folded => Some("Found behind case, accents, look-alikes or invisible characters."),
        View::Loose => Some("Found behind digits for letters, spacing or stretched letters."),
    }
}

pub(crate) fn bars(scores: &Scores, found: &[FoundRule]) -> Vec<Score> {
    let tone = |category| {
        let mut tone = "";
        for rule in found {
            match (&rule.evidence, rule.effect) {
                (Some(Evidence::Score { category: of, .. }), Some(effect)) if *of == category => {
                    match effect {
                        RuleEffect::Reject => return "no",
                        RuleEffect::Review => tone = "warn",
                    }
                }
                _ => {}
            }
        }
        tone
    };
    scores
        .iter()
        .map(|(category, value)| Score {
            category,
            value,
            tone: tone(category),
        })
        .collect()
}

impl Provider {
    fn new(team: Area, report: ProviderReport) -> Self {
        let cached_from = report.cached_from;
        Self {
            name: report.provider,
            modality: report.modality,
            elapsed_ms: report.elapsed_ms,
            scored: report.scores.iter().count(),
            failure: report.failure,
            raw: report.raw.map(|raw| VisibleText::truncated(&raw, RAW)),
            cached_from: cached_from.map(|item| team.path(&format!("items/{item}"))),
        }
    }
}

fn unscored(why: &Explanation) -> Vec<String> {
    let (text, image) = (why.unscored.text.iter(), why.unscored.image.iter());
    text.map(|category| format!("{category} of the text"))
        .chain(image.map(|category| format!("{category} of the image")))
        .collect()
}

fn policy(why: &Explanation) -> Option<&'static str> {
    if why.unchecked.is_empty() {
        return None;
    }
    Some(match why.ground {
        Ground::OnFailure(policy) => match policy {
            domain::media::OnFailure::Review => "The site’s setting for failures decided: review.",
            domain::media::OnFailure::Reject => "The site’s setting for failures decided: reject.",
            domain::media::OnFailure::Approve => {
                "The site’s setting for failures decided: approve."
            }
        },
        Ground::Rules(_) => "The site’s setting for failures did not decide: a rule did.",
        Ground::Person { .. } | Ground::Nothing | Ground::NotEvaluated => return None,
    })
}

fn versions(team: Area, item: &Item, why: Option<&Explanation>) -> Vec<Version> {
    let judged = why.map_or(&[][..], |why| &why.groups);
    let pinned = item.group_versions.iter();
    pinned
        .map(|version| {
            let judged = judged.iter().find(|judged| judged.version == version.id);
            Version {
                path: team.path(&format!("rules/{}", version.group)),
                name: version.group_name.clone(),
                number: version.number,
                took: judged.map(|judged| took(judged.micros)),
            }
        })
        .collect()
}

fn took(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        _ => format!("{} ms", micros / 1_000),
    }
}
