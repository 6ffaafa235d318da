//! Lists that deny and allow, and what is reported about a match.

use uuid::Uuid;

use super::*;
use crate::rules::{CompiledGroup, Content, RuleBody, RuleErrors};
use crate::score::Scores;

fn list(number: u128) -> HashListId {
    Uuid::from_u128(number).into()
}

fn compile(lists: &[u128], more: serde_json::Value) -> Result<CompiledGroup, RuleErrors> {
    let lists: Vec<_> = lists.iter().map(|number| list(*number)).collect();
    let mut document = serde_json::json!({ "name": "known", "type": "image_hash", "lists": lists, "effect": "reject" });
    document
        .as_object_mut()
        .unwrap()
        .append(&mut serde_json::from_value(more).unwrap());
    let body: RuleBody = serde_json::from_value(document).unwrap();
    let rules = [body.into_rule(Uuid::from_u128(7).into())];
    CompiledGroup::compile(Uuid::nil().into(), Uuid::nil().into(), &rules)
}

fn found(number: u128, kind: ListKind, algorithm: HashAlgorithm, distance: u32) -> HashMatch {
    HashMatch {
        list: list(number),
        kind,
        entry: Uuid::from_u128(number + 100).into(),
        algorithm,
        distance,
    }
}

fn violations(group: &CompiledGroup, image_matches: &[HashMatch]) -> Vec<Violation> {
    let scores = Scores::default();
    group.examine(&Content {
        text: None,
        scores: &scores,
        image_matches,
    })
}

#[test]
fn the_nearest_match_is_told_and_other_rules_lists_do_not_count() {
    let group = compile(&[3, 1, 2], serde_json::json!({})).unwrap();
    let deny = |number, distance| found(number, ListKind::Deny, HashAlgorithm::Pdq, distance);
    assert_eq!(violations(&group, &[]), []);
    assert_eq!(violations(&group, &[deny(9, 0)]), []);
    let [violation] = &violations(&group, &[deny(1, 31), deny(2, 12), deny(9, 0)])[..] else {
        panic!("one violation");
    };
    assert_eq!(
        (violation.confidence, violation.rule_type),
        (1.0, RuleType::ImageHash)
    );
    assert_eq!(
        violation.details,
        "The image looks like one on the list 00000000-0000-0000-0000-000000000002: 12 of 256 bits differ."
    );
    assert_eq!(
        serde_json::to_value(&violation.evidence).unwrap(),
        serde_json::json!({
            "kind": "hash", "group": Uuid::nil(), "list": list(2), "entry": Uuid::from_u128(102), "algorithm": "pdq", "distance": 12,
        })
    );
    let same = found(3, ListKind::Deny, HashAlgorithm::Sha256, 0);
    let told = violations(&group, &[deny(1, 0), same]);
    assert!(
        told[0]
            .details
            .starts_with("The image is the same file as one on the list ")
    );
}

#[test]
fn an_allow_list_of_the_same_rule_excuses_an_image_and_another_s_does_not() {
    let deny = found(1, ListKind::Deny, HashAlgorithm::Pdq, 0);
    let allow = found(2, ListKind::Allow, HashAlgorithm::Pdq, 31);
    let both = compile(&[1, 2], serde_json::json!({})).unwrap();
    assert_eq!(violations(&both, &[deny, allow]), []);
    assert_eq!(violations(&both, &[allow]), []);
    let denying = compile(&[1], serde_json::json!({})).unwrap();
    assert_eq!(violations(&denying, &[deny, allow]).len(), 1);
}

#[test]
fn an_image_is_recognised_by_enabled_rules_on_lists_of_either_kind() {
    let group = compile(&[1, 2], serde_json::json!({})).unwrap();
    let off = compile(&[1, 2], serde_json::json!({ "enabled": false })).unwrap();
    for kind in [ListKind::Deny, ListKind::Allow] {
        let matches = [found(2, kind, HashAlgorithm::Pdq, 3)];
        assert!(group.recognises(&matches));
        assert_eq!(group.allows(&matches), kind == ListKind::Allow);
        assert!(!off.recognises(&matches) && violations(&off, &matches).is_empty());
        assert!(!off.allows(&matches));
    }
    assert!(!group.recognises(&[found(9, ListKind::Deny, HashAlgorithm::Pdq, 0)]));
    assert!(!group.uses_ai() && !group.examines_text());
}

#[test]
fn lists_are_one_to_a_hundred_different_ones_and_there_are_no_exceptions() {
    let many: Vec<u128> = (0..=100).collect();
    assert!(compile(&many[1..], serde_json::json!({})).is_ok());
    for (lists, more, message) in [
        (
            &[][..],
            serde_json::json!({}),
            "rules[0].lists (`known`): at least one list is required",
        ),
        (
            &many,
            serde_json::json!({}),
            "rules[0].lists (`known`): must contain at most 100 lists",
        ),
        (
            &[1, 2, 1],
            serde_json::json!({ "enabled": false }),
            "rules[0].lists[2] (`known`): is listed twice",
        ),
        (
            &[1],
            serde_json::json!({ "exceptions": ["x"] }),
            "rules[0].exceptions (`known`): an image_hash rule has no exceptions: put the image on an allow list",
        ),
    ] {
        let errors = compile(lists, more).err().unwrap();
        assert_eq!(errors.to_string(), message);
    }
}
