//! The parameters of a database URL. sqlx ignores those that it does not know, with a warning that has their values.

/// Is read here. sqlx does not know it.
pub(super) const TARGET: &str = "target_session_attrs";
/// The parameters that sqlx knows. It ignores all others, also a misspelt `sslmode`.
const PARAMETERS: [&str; 18] = [
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
    "statement-cache-capacity",
    "ssl-mode",
    "ssl-root-cert",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
];
/// The last of these parameters that has no other name.
const DISTINCT: usize = 13;
/// How alike two names must be, from 0 to 1, for one to be a misspelling of the other.
const ALIKE: f64 = 0.8;
/// No parameter's name is longer. The time to compare two names grows with the product of their lengths.
const LONGEST: usize = 64;

/// Whether a parameter has an effect. `options[search_path]` and the like set one setting.
pub(super) fn is_known(name: &str) -> bool {
    let is_setting = name.starts_with("options[") && name.ends_with(']');
    name == TARGET || PARAMETERS.contains(&name) || is_setting
}

/// The nearest parameter, or all of them, for a message about an unknown one.
pub(super) fn advice(name: &str) -> String {
    let known = PARAMETERS.into_iter().chain([TARGET]);
    let near = known
        .filter(|_| name.len() <= LONGEST)
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    match near {
        Some((_, near)) => format!("did you mean `{near}`?"),
        None => format!("it knows {TARGET}, {}", PARAMETERS[..DISTINCT].join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use sqlx::postgres::PgConnectOptions;
    use tracing::{
        Event, Level, Metadata, Subscriber,
        span::{Attributes, Id, Record},
        subscriber::with_default,
    };

    use super::*;
    use crate::Hosts;

    /// Counts warnings.
    #[derive(Clone, Default)]
    struct Heard(Arc<AtomicU32>);

    impl Subscriber for Heard {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() == Level::WARN
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    /// Whether sqlx says that it ignores a parameter.
    fn is_ignored(parameter: &str) -> bool {
        let heard = Heard::default();
        let url = format!("postgres://h/d?{parameter}");
        let read: Result<PgConnectOptions, _> = with_default(heard.clone(), || url.parse());
        read.unwrap();
        heard.0.load(Ordering::Relaxed) > 0
    }

    #[test]
    fn the_known_parameters_are_those_of_the_driver() {
        for name in PARAMETERS.into_iter().chain(["options[search_path]"]) {
            let value = match name {
                "sslmode" | "ssl-mode" => "disable",
                "hostaddr" => "127.0.0.1",
                "port" | "statement-cache-capacity" => "1",
                _ => "x",
            };
            assert!(!is_ignored(&format!("{name}={value}")), "{name}");
        }
        for name in [TARGET, "sslmod"] {
            assert!(is_ignored(&format!("{name}=x")), "{name}");
        }
        // The driver ignores it silently.
        assert!(!is_known("options[x"));
        let written = "postgres://h/d?options%5Bsearch_path%5D=x&target_session_attrs=primary";
        assert!(Hosts::parse(written).is_ok());
    }
}
