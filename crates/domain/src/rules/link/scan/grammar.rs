//! What schemes, hosts and dots look like, also as people disguise them.

use unicode_normalization::char::is_combining_mark;
use url::Host;

use crate::text::{is_invisible, is_unspaced};

/// The longest scheme, including the character after it.
const LONGEST_SCHEME: usize = 20;

/// The longest address in brackets.
const LONGEST_ADDRESS: usize = 50;

/// How a host begins. This decides which characters its labels may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// After a scheme.
    Scheme,
    /// Without a scheme.
    Bare,
}

/// The host of some labels, in ASCII: percent signs decoded, names in other scripts as Punycode,
/// addresses in their usual form.
pub(super) fn host<'a>(labels: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut name = String::new();
    for label in labels {
        if !name.is_empty() {
            name.push('.');
        }
        name.extend(label.chars().filter(|c| !is_invisible(*c)));
    }
    Host::parse(&name).ok().map(|host| host.to_string())
}

/// The length of a scheme and what separates it from a host. For the schemes of the web, browsers
/// accept any number of slashes of either kind. People write `hxxp` for links that must not be
/// clicked.
pub(super) fn scheme(rest: &str) -> Option<usize> {
    let mut letters = rest.bytes().take(LONGEST_SCHEME);
    let length = letters.position(|b| !matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'+' | b'-'))?;
    let after = rest[length..]
        .strip_prefix(':')
        .or_else(|| rest[length..].strip_prefix("[:]"))?;
    let slashes = after.len() - after.trim_start_matches(['/', '\\']).len();
    let is_web = matches!(&rest[..length], "http" | "https" | "hxxp" | "hxxps" | "ftp");
    let starts = length > 0
        && (slashes >= 2 || is_web && after[slashes..].starts_with(|c| is_label(c, Start::Scheme)));
    starts.then(|| rest.len() - after.len() + slashes)
}

/// An IPv6 address in brackets.
pub(super) fn bracketed(authority: &str) -> Option<&str> {
    let inside = authority.strip_prefix('[')?;
    let end = inside
        .bytes()
        .take(LONGEST_ADDRESS)
        .position(|b| b == b']')?;
    Some(&authority[..end + 2])
}

/// Whether labels are the four numbers of an address.
pub(super) fn is_address(labels: &[&str]) -> bool {
    let is_number = |label: &&str| {
        label.len() <= 3 && label.bytes().all(|b| b.is_ascii_digit()) && label.parse::<u8>().is_ok()
    };
    labels.len() == 4 && labels.iter().all(is_number)
}

/// Whether what follows an address makes it a range of addresses (`10.0.0.0/8`), or is no path or port.
pub(super) fn is_range(rest: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    match rest.split_at_checked(1) {
        Some(("/", path)) => {
            let length = digits(path);
            (1..=2).contains(&length)
                && !path[length..].starts_with(|c| is_label(c, Start::Bare) || c == '/')
        }
        Some((":", port)) => digits(port) == 0,
        _ => true,
    }
}

/// The length of a dot between two labels, and whether it is spelled out.
pub(super) fn dot(rest: &str) -> Option<(usize, bool)> {
    let is_plain = |c: char| matches!(c, '.' | '。');
    if let Some(c) = rest.chars().next().filter(|c| is_plain(*c)) {
        return Some((c.len_utf8(), false));
    }
    let word = rest.trim_start_matches(' ');
    let lead = rest.len() - word.len();
    let (word, closing) = match word.as_bytes().first()? {
        b'[' => (&word[1..], Some(']')),
        b'(' => (&word[1..], Some(')')),
        b'{' => (&word[1..], Some('}')),
        _ => (word, None),
    };
    let after = word
        .strip_prefix("dot")
        .or_else(|| word.strip_prefix('.'))?;
    let after = match closing {
        Some(closing) => after.strip_prefix(closing)?,
        None if lead > 0 => after.strip_prefix(' ')?,
        None => return None,
    };
    let after = after.trim_start_matches(' ');
    Some((rest.len() - after.len(), closing.is_none()))
}

/// Whether a character can be part of a host's label. After a scheme, percent signs and symbols can
/// be, too.
pub(super) fn is_label(c: char, start: Start) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric()
            || c == '-'
            || c == '_'
            || (c == '%' && start == Start::Scheme);
    }
    let is_word = c.is_alphanumeric() || is_combining_mark(c);
    match start {
        Start::Bare => is_word && !is_unspaced(c),
        Start::Scheme => is_word || ('\u{2190}'..='\u{2BFF}').contains(&c) || c >= '\u{1F000}',
    }
}

/// Whether a character ends a link, including its path.
pub(super) fn ends_link(c: char) -> bool {
    matches!(
        c,
        ' ' | '"' | '<' | '>' | '(' | ')' | '{' | '}' | '|' | ',' | ';' | '`'
    ) || is_unspaced(c)
}
