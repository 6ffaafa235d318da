//! What is said of queues.

/// What the jobs of a queue do.
pub(super) fn about(queue: &str) -> &'static str {
    match queue {
        "images" => "Fetches the images of items.",
        "analysis" => "Asks the providers about items.",
        "rules" => "Judges items by the rules of their site.",
        "webhooks" => "Sends events to the endpoints of teams.",
        "backtests" => "Tries versions of rules on past items.",
        "hash-imports" => "Imports hashes into hash lists.",
        "hash-scans" => "Compares stored images with new hashes.",
        "recoveries" => "Sends again what endpoints have missed.",
        "statistics" => "Counts for the overviews of teams.",
        "reviews" => "Tells what people decided on the desk.",
        "bulk-decisions" => "Makes one decision about many reviews.",
        "erasures" => "Removes everything that is stored about some items.",
        "removals" => "Removes items that were judged for one answer only.",
        "closures" => "Closes sites and teams, and erases them when their grace is over.",
        _ => "Not known to this version: another version of Gatehouse made it.",
    }
}

/// A length of time, to one unit.
pub(super) fn span(seconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 60.0 * MINUTE;
    const DAY: f64 = 24.0 * HOUR;
    let units = [(DAY, "d"), (HOUR, "h"), (MINUTE, "min")];
    match units.into_iter().find(|(unit, _)| seconds >= *unit) {
        Some((unit, name)) => format!("{:.0} {name}", (seconds / unit).floor()),
        None if seconds < 1.0 => "under 1 s".to_owned(),
        None => format!("{:.0} s", seconds.floor()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_queue_of_this_version_is_told_apart() {
        let mut told: Vec<_> = management::queues::names().map(about).collect();
        assert!(!told.contains(&about("another")), "{told:?}");
        let all = told.len();
        told.sort_unstable();
        told.dedup();
        assert_eq!(told.len(), all);
    }

    #[test]
    fn a_length_of_time_has_one_unit() {
        for (seconds, told) in [
            (0.2, "under 1 s"),
            (59.9, "59 s"),
            (60.0, "1 min"),
            (7_199.0, "1 h"),
            (200_000.0, "2 d"),
        ] {
            assert_eq!(span(seconds), told);
        }
    }
}
