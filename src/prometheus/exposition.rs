//! The text of `/metrics`.

/// Counters of Postgres. They may fall, after a failover for example, which our recorder does not
/// let a counter do. So it keeps them as gauges.
const FOREIGN_COUNTERS: [&str; 2] = [
    "gatehouse_wal_archive_failures_total",
    "gatehouse_wal_bytes_total",
];

/// What Prometheus gets: without the values that this process does not know at present (NaN), and
/// with the right type of foreign counters.
pub(super) fn page(rendered: &str) -> String {
    let mut page = String::with_capacity(rendered.len());
    for line in rendered.split_inclusive('\n') {
        if !line.starts_with('#') && line.trim_end().ends_with(" NaN") {
            continue;
        }
        match foreign_counter(line) {
            Some(name) => page.extend(["# TYPE ", name, " counter\n"]),
            None => page.push_str(line),
        }
    }
    page
}

/// The foreign counter whose type this line has.
fn foreign_counter(line: &str) -> Option<&'static str> {
    let described = line.strip_prefix("# TYPE ")?;
    let name = described.split(' ').next()?;
    FOREIGN_COUNTERS
        .into_iter()
        .find(|foreign| *foreign == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out_and_foreign_counters_are_counters() {
        let rendered = "# HELP a An NaN\n# TYPE a gauge\na{b=\"NaN\"} 1\na{b=\"c\"} NaN\n\n\
                        # TYPE gatehouse_wal_bytes_total gauge\ngatehouse_wal_bytes_total 5\n";
        assert_eq!(
            page(rendered),
            "# HELP a An NaN\n# TYPE a gauge\na{b=\"NaN\"} 1\n\n\
             # TYPE gatehouse_wal_bytes_total counter\ngatehouse_wal_bytes_total 5\n"
        );
    }
}
