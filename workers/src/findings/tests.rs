//! What becomes of an item's image.

use std::sync::Arc;

use domain::{
    image_hash::{HashAlgorithm, HashMatch, ListKind},
    media::{Modality, OnFailure, Status},
    rules::{CompiledGroup, RuleBody},
};
use uuid::Uuid;

use super::*;

const LIST: Uuid = Uuid::from_u128(1);

fn group(lists: &[Uuid]) -> Compiled {
    let document = serde_json::json!({
        "name": "known images", "type": "image_hash", "lists": lists, "effect": "reject",
    });
    let body: RuleBody = serde_json::from_value(document).unwrap();
    let rules = [body.into_rule(Uuid::from_u128(9).into())];
    let compiled = CompiledGroup::compile(Uuid::nil().into(), Uuid::nil().into(), &rules);
    Compiled::Ready(Arc::new(compiled.unwrap()))
}

/// An image without a text, which no provider looked at.
fn image(matches: &[ListKind]) -> ToJudge {
    let found = |kind: &ListKind| HashMatch {
        list: LIST.into(),
        kind: *kind,
        entry: Uuid::from_u128(2).into(),
        algorithm: HashAlgorithm::Pdq,
        distance: 5,
    };
    ToJudge {
        image_scored: false,
        media: Uuid::from_u128(3).into(),
        trace: telemetry::trace::Context::of_item([7; 16]),
        team: Uuid::from_u128(4).into(),
        text: None,
        has_image: true,
        image_matches: matches.iter().map(found).collect(),
        group_versions: Vec::new(),
        shadows: Vec::new(),
        scores: None,
        gaps: Vec::new(),
        unchecked: Vec::new(),
        on_failure: OnFailure::Review,
        age_ms: 0,
    }
}

#[test]
fn an_image_is_judged_by_the_lists_that_it_is_on() {
    let unknown = vec![Unchecked::ImageNotExamined];
    for (matches, lists, status, unchecked) in [
        (&[ListKind::Deny][..], LIST, Status::Rejected, vec![]),
        (&[ListKind::Allow], LIST, Status::Approved, vec![]),
        // On no list, and on one that no rule names: nobody has looked at it.
        (&[], LIST, Status::PendingReview, unknown.clone()),
        (
            &[ListKind::Deny],
            Uuid::max(),
            Status::PendingReview,
            unknown.clone(),
        ),
    ] {
        let item = image(matches);
        let examined = vec![GroupFindings::of(&item, &group(&[lists]))];
        assert_eq!(wanted(&examined), []);
        let verdict = verdict_on(&item, examined);
        assert_eq!(
            (verdict.status, verdict.trace.unchecked),
            (status, unchecked),
            "{matches:?}"
        );
    }
}

#[test]
fn being_on_an_allow_list_does_not_hide_what_else_was_not_checked() {
    let failed = Unchecked::ProviderFailed {
        provider: "openai".to_owned(),
        modality: Modality::Image,
        detail: String::new(),
    };
    let mut item = image(&[ListKind::Allow]);
    item.unchecked.push(failed.clone());
    let examined = vec![GroupFindings::of(&item, &group(&[LIST]))];
    let verdict = verdict_on(&item, examined);
    assert_eq!(
        (verdict.status, verdict.trace.unchecked),
        (Status::PendingReview, vec![failed])
    );
}
