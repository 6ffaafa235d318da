//! The known name that somebody probably meant by an unknown one.

/// No known name is longer. The time to compare two names grows with the product of their lengths.
const LONGEST: usize = 100;
/// How alike two names must be: 0 is not at all, 1 is equal. `LOG_LEVEL` and `LOG` are (0.84), `SECRET` and `USER` are not (0.75).
const ALIKE: f64 = 0.77;

/// The known name that is most like this one, if any is like it.
pub(super) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if name.len() > LONGEST {
        return None;
    }
    known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, known)| known)
}

/// What serde says about an unknown name, with the nearest known name in place of the list of all, if one is near.
pub(super) fn with_nearest(message: &str) -> String {
    let is_unknown = ["unknown field `", "unknown variant `"]
        .iter()
        .any(|beginning| message.starts_with(beginning));
    // The unknown name, then all known ones: "unknown field `a`, expected one of `b`, `c`".
    let mut names = message.split('`').skip(1).step_by(2);
    let near = names
        .next()
        .filter(|_| is_unknown)
        .and_then(|unknown| nearest(unknown, names));
    match (message.split_once(", expected "), near) {
        (Some((what, _)), Some(near)) => format!("{what}: did you mean `{near}`?"),
        (None, _) | (_, None) => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 5] = ["CONCURRENCY", "CONNECTIONS", "LOG", "LOG_FORMAT", "USER"];

    #[test]
    fn the_most_similar_name_is_found_if_it_is_similar() {
        for (name, near) in [
            ("CONCURENCY", Some("CONCURRENCY")),
            ("LOG_LEVEL", Some("LOG")),
            ("LOGFORMAT", Some("LOG_FORMAT")),
            ("SECRET", None),
            ("FROBNICATE", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, KNOWN), near, "{name}");
        }
        assert_eq!(nearest(&"LOG".repeat(100_000), KNOWN), None);
    }

    #[test]
    fn a_message_has_the_nearest_name_or_all_names() {
        let near = "unknown field `concurency`, expected one of `name`, `concurrency`";
        assert_eq!(
            with_nearest(near),
            "unknown field `concurency`: did you mean `concurrency`?"
        );
        let one = "unknown field `providers`, expected `provider`";
        assert_eq!(
            with_nearest(one),
            "unknown field `providers`: did you mean `provider`?"
        );
        for unchanged in [
            "unknown field `timeout`, expected one of `name`, `concurrency`",
            "unknown field `name`, there are no fields",
            "duplicate key `name` in table `names`",
            "unknown field `",
        ] {
            assert_eq!(with_nearest(unchanged), unchanged);
        }
    }
}
