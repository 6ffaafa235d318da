//! How letters are replaced, drawn and separated.

/// Replaces each letter; spaces stay.
pub(super) fn each(term: &str, replace: impl Fn(usize, char) -> String) -> String {
    let replaced = |(at, c)| {
        if c == ' ' {
            " ".to_owned()
        } else {
            replace(at, c)
        }
    };
    term.chars().enumerate().map(replaced).collect()
}

/// The letter at the same place in another row.
pub(super) fn replaced(c: char, from: &str, to: &str) -> String {
    let at = from.chars().position(|letter| letter == c);
    at.and_then(|at| to.chars().nth(at))
        .unwrap_or(c)
        .to_string()
}

/// Letters of an alphabet that begins at a code point.
pub(super) fn shifted(term: &str, first: u32) -> String {
    each(term, |_, c| {
        char::from_u32(first + u32::from(c) - u32::from('a'))
            .unwrap_or(c)
            .to_string()
    })
}

pub(super) fn accents(c: char) -> &'static str {
    match c {
        'a' => "àâäãåāą",
        'c' => "çćč",
        'e' => "éèêëęē",
        'i' => "íìîïīį",
        'n' => "ñńň",
        'o' => "óòôöõøō",
        'u' => "úùûüūů",
        's' => "śšş",
        'y' => "ýÿ",
        'z' => "źžż",
        _ => "",
    }
}

pub(super) fn pick(from: &str, at: usize, otherwise: char) -> String {
    let count = from.chars().count();
    let picked = from.chars().nth(at.checked_rem(count).unwrap_or(0));
    picked.unwrap_or(otherwise).to_string()
}

pub(super) fn drawn(c: char) -> String {
    match c {
        'a' => "/\\",
        'd' => "|)",
        'h' => "|-|",
        'k' => "|<",
        'm' => "|\\/|",
        'n' => "|\\|",
        'o' => "()",
        'u' => "|_|",
        'v' => "\\/",
        'w' => "\\/\\/",
        'x' => "><",
        _ => return c.to_string(),
    }
    .to_owned()
}

/// The letters with separators between them, in turn. The words of a phrase stay apart.
pub(super) fn spelled(term: &str, separators: &[&str]) -> String {
    let word = |word: &str| {
        let mut spelled = String::new();
        for (at, c) in word.chars().enumerate() {
            if at > 0 {
                spelled.push_str(separators[(at - 1) % separators.len()]);
            }
            spelled.push(c);
        }
        spelled
    };
    term.split(' ').map(word).collect::<Vec<_>>().join("   ")
}

/// The term, with something between two of its letters.
pub(super) fn cut(term: &str, nth: usize, with: &str) -> String {
    let first = term.split(' ').next().map_or(0, str::len);
    let at = 1 + nth % (first - 1);
    format!("{}{with}{}", &term[..at], &term[at..])
}
