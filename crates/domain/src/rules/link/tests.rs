//! Links as people write them, hide them, and as other things that look like links.

mod spellings;

use serde_json::json;
use uuid::Uuid;

use super::super::{CompiledGroup, Content, Evidence, Rule, RuleBody, RuleErrors, View, Violation};
use crate::score::Scores;

fn compile(
    policy: &str,
    domains: &[&str],
    exceptions: &[&str],
) -> Result<CompiledGroup, RuleErrors> {
    let body: RuleBody =
        serde_json::from_value(json!({"name": "l", "type": "link", "policy": policy,
        "domains": domains, "exceptions": exceptions, "effect": "reject"}))
        .unwrap();
    let rules: [Rule; 1] = [body.into_rule(Uuid::nil().into())];
    CompiledGroup::compile(Uuid::nil().into(), Uuid::nil().into(), &rules)
}

fn examine(group: &CompiledGroup, text: &str) -> Vec<Violation> {
    group.examine(&Content {
        text: Some(text),
        scores: &Scores::new(),
        image_matches: &[],
    })
}

/// The place of the match in the text, if there is one.
fn found<'t>(policy: &str, domains: &[&str], text: &'t str) -> Option<&'t str> {
    let group = compile(policy, domains, &[]).unwrap();
    let violation = examine(&group, text).pop()?;
    let Evidence::Text { span, .. } = violation.evidence else {
        panic!("{text}")
    };
    Some(&text[span])
}

#[test]
fn a_link_to_anything_else_is_not_allowed() {
    let allowed = ["good.com", "bücher.de", "203.0.113.9"];
    for (text, place) in [
        ("https://evil.com/x", Some("evil.com")),
        ("evil.com", Some("evil.com")),
        ("www.evil.whatever", Some("www.evil.whatever")),
        ("www.evil", Some("www.evil")),
        ("https://good.com@evil.com", Some("evil.com")),
        ("https://evil.com/good.com", Some("evil.com")),
        ("https://good.com.evil.com", Some("good.com.evil.com")),
        ("https://gооd.com", Some("gооd.com")),
        ("http://localhost", Some("localhost")),
        ("http://1.2.3.4", Some("1.2.3.4")),
        ("http://[::1]:80/", Some("[::1]")),
        ("https://💩.la", Some("💩.la")),
        ("evil[.]com", Some("evil[.]com")),
        ("look:evil.co.uk/", Some("evil.co.uk")),
        ("https://good.com/?to=https://evil.com", Some("evil.com")),
        ("The end.Next it was evil.com", Some("evil.com")),
        ("so evil.com.Then", Some("evil.com")),
        (
            "https://good.com/x https://bücher.de http://203.0.113.9/",
            None,
        ),
        ("www.good.com, m.good.com: GOOD.com!", None),
        ("https://xn--bcher-kva.de", None),
        (
            "The end.Next one, e.g. this, i.e. that, at 10 a.m. or 3.14, v1.2.3 of 1.2.3.4...ok",
            None,
        ),
        ("joe@evil.com and mailto:joe@evil.com", None),
        ("https://good.com/main.rs and good.com/x/evil.com", None),
        (
            "index.html, letter.docx, Mr.Smith, Dr.No, array.len()",
            None,
        ),
        ("the polka dot in it", None),
        ("你好。今天", None),
    ] {
        assert_eq!(found("allow", &allowed, text), place, "{text}");
    }
    assert_eq!(found("allow", &[], "to good.com"), Some("good.com"));
}

#[test]
fn exceptions_excuse_and_the_match_is_masked() {
    let group = compile("allow", &["good.com"], &["socket.io"]).unwrap();
    assert_eq!(examine(&group, "with Socket.IO"), []);
    let violation = examine(&group, "with socket.io, see ev\u{200B}il.com")
        .pop()
        .unwrap();
    assert_eq!(violation.matched_text.as_deref(), Some("e*******m"));
    assert!(matches!(
        violation.evidence,
        Evidence::Text {
            view: View::Folded,
            ..
        }
    ));
}

#[test]
fn what_is_no_domain_is_refused() {
    for domain in [
        "",
        ".",
        "https://evil.com",
        "evil.com/x",
        "evil.com:80",
        "*.evil.com",
        "a b.com",
        "evil..com",
        "joe@evil.com",
        "%65vil.com",
        &"a".repeat(64),
        &"a.".repeat(128),
        "[::",
    ] {
        let errors = compile("deny", &["fine.org", domain], &[])
            .err()
            .unwrap_or_else(|| panic!("{domain}"));
        assert_eq!(
            errors.iter().next().unwrap().field,
            "domains[1]",
            "{domain}"
        );
    }
    assert!(compile("deny", &[], &[]).is_err());
}

#[test]
fn case_33_a_text_of_nothing_but_hosts_is_read_once() {
    for part in [
        "a.", "a.co ", "https://", "http:a@", "[.]", " dot a", "www.", "%", "a@", "//", "+", "a+",
        "http:a;", "http:[",
    ] {
        let text = part.repeat(100_000 / part.len());
        let readings = crate::text::Readings::new(&text);
        let named: usize = super::scan::mentions(&readings, true)
            .iter()
            .map(|mention| mention.at.len())
            .sum();
        assert!(named <= 2 * text.len(), "{part}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_scanned_and_places_are_on_character_boundaries(
        text in "(\\PC|[a-c.:/@%\\[\\] 。看-]|https?://|www\\.|dot|com){0,30}",
    ) {
        for (policy, domains) in [("deny", &["a", "b", "c", "com"][..]), ("allow", &[][..])] {
            let group = compile(policy, domains, &[]).unwrap();
            for violation in examine(&group, &text) {
                let Evidence::Text { span, .. } = violation.evidence else { unreachable!() };
                proptest::prop_assert!(text.get(span).is_some_and(|part| !part.is_empty()));
            }
        }
    }
}
