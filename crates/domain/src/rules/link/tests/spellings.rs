//! The ways in which people write a domain.

use super::*;

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
