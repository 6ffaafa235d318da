//! The name of a browser, from what it says of itself. Anybody can say anything there, so it is only a help to recognise a session.

/// What marks a browser. Those that also name others come first: Edge and Opera call themselves Chrome, and Chrome calls itself Safari.
const BROWSERS: [(&str, &str); 6] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];

/// What marks an operating system. Android also calls itself Linux, and an iPhone also names Mac OS X.
const SYSTEMS: [(&str, &str); 6] = [
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// "Firefox on Linux", or the whole `User-Agent` header where a part of that is unknown.
pub(crate) fn name(header: &str) -> String {
    match (known(header, &BROWSERS), known(header, &SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        _ if header.is_empty() => "unknown".to_owned(),
        _ => header.to_owned(),
    }
}

fn known(header: &str, names: &[(&str, &'static str)]) -> Option<&'static str> {
    let found = names.iter().find(|(mark, _)| header.contains(mark));
    found.map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(said: &str, expected: &str) {
        assert_eq!(name(said), expected);
    }

    #[test]
    fn a_browser_has_a_name_that_people_know() {
        check(
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
            "Chrome on Linux",
        );
        check(
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
            "Edge on Windows",
        );
        check(
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
            "Safari on iPhone",
        );
        check(
            "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0",
            "Firefox on Android",
        );
    }

    #[test]
    fn what_is_unknown_is_shown_as_it_was_said() {
        check("curl/8.5.0", "curl/8.5.0");
        check("", "unknown");
    }
}
