//! Links as people write them, hide them, and as other things that look like links.

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
fn a_denied_domain_is_found_however_it_is_written() {
    for (text, place) in [
        ("see https://evil.com/x?y=1#z.", "evil.com"),
        ("see HTTP://WWW.Evil.COM", "WWW.Evil.COM"),
        ("see evil.com.", "evil.com"),
        ("see evil.com/x", "evil.com"),
        ("see evil.com:8080", "evil.com"),
        ("(evil.com),", "evil.com"),
        ("a.b.evil.com", "a.b.evil.com"),
        ("https://good.com@evil.com/", "evil.com"),
        ("https://good.com:pass@word@evil.com:443/", "evil.com"),
        ("https:\\\\evil.com", "evil.com"),
        ("https:evil.com", "evil.com"),
        ("https:/evil.com", "evil.com"),
        ("//evil.com/x", "evil.com"),
        ("hxxps://evil.com", "evil.com"),
        ("hxxps[:]//evil[.]com", "evil[.]com"),
        ("evil[.]com, evil(.)com", "evil[.]com"),
        ("evil(dot)com", "evil(dot)com"),
        ("evil [dot] com", "evil [dot] com"),
        ("evil dot com", "evil dot com"),
        ("evil . com", "evil . com"),
        ("https://%65vil%2Ecom/", "%65vil%2Ecom"),
        ("ev\u{200B}il.c\u{AD}om", "ev\u{200B}il.c\u{AD}om"),
        ("ｅｖｉｌ．ｃｏｍ", "ｅｖｉｌ．ｃｏｍ"),
        ("evil。com", "evil。com"),
        ("evil․com", "evil․com"),
        ("еvіl.com", "еvіl.com"),
        ("ëvil.com", "ëvil.com"),
        ("看evil.com看", "evil.com"),
        ("看https://evil.com看", "evil.com"),
        ("joe@evil.com", "evil.com"),
        ("mailto:joe@evil.com", "evil.com"),
        ("https://good.com/?to=https://evil.com/x", "evil.com"),
        ("https://good.com/a,evil.com", "evil.com"),
        ("so evil.com.Then more", "evil.com"),
        ("so evil.com.then more", "evil.com"),
        ("[here](https://evil.com)", "evil.com"),
        ("<a href=\"https://evil.com\">", "evil.com"),
    ] {
        assert_eq!(
            found("deny", &["other.org", "evil.com"], text),
            Some(place),
            "{text}"
        );
    }
}

#[test]
fn other_domains_are_not_the_denied_one() {
    for text in [
        "notevil.com",
        "evil.community",
        "evil.com.org",
        "evil-com",
        "evil com",
        "evilcom",
        "https://evil.co",
        "the devil. Come here",
        "https://good.org/evil",
        "my evil. commit it",
        "1.1",
        "...",
        "",
        "@evil",
        "https://",
        "https://@",
        "http://[",
        "http://[::1",
        "dot dot dot",
        "a dot",
        "evil dot commit",
    ] {
        assert_eq!(found("deny", &["evil.com"], text), None, "{text}");
    }
}

#[test]
fn other_scripts_and_addresses_are_compared_as_browsers_open_them() {
    for (domain, text) in [
        ("bücher.de", "https://xn--bcher-kva.de"),
        ("xn--bcher-kva.de", "BÜCHER.DE"),
        ("пример.рф", "см. пример.рф/х"),
        ("пример.рф", "https://xn--e1afmkfd.xn--p1ai/"),
        ("例子.中国", "https://例子。中国/"),
        ("203.0.113.9", "http://203.0.113.9:8080/"),
        ("203.0.113.9", "http://0xCB007109/"),
        ("[2001:db8::1]", "http://[2001:DB8:0::1]/x"),
        ("ru", "купить.ru"),
        (".Evil.COM.", "https://evil.com"),
    ] {
        assert!(found("deny", &[domain], text).is_some(), "{text}");
    }
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
        let named: usize = super::scan::mentions(&readings)
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
