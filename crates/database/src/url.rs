//! URLs of databases. A URL may name several hosts, as in libpq:
//! `postgres://user@host1,host2:5433/name`. sqlx knows only one host, so this module splits them.

use std::fmt;

use ::url::form_urlencoded;
use sqlx::postgres::PgConnectOptions;

/// The most hosts of one URL.
const MAX_HOSTS: usize = 16;
/// The most characters of a parameter's name in a message.
const LONGEST_SHOWN: usize = 64;
/// Is read here. sqlx does not know it.
const TARGET: &str = "target_session_attrs";
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

/// Where the servers of one database are.
#[derive(Clone)]
pub struct Hosts(Vec<PgConnectOptions>);

/// Why a URL cannot be used. It does not repeat the URL, which may hold a password.
#[derive(Debug, thiserror::Error)]
pub enum InvalidUrl {
    /// It is not a Postgres URL.
    #[error("a database URL begins with postgres:// or postgresql://")]
    Scheme,
    /// It names too many hosts.
    #[error("a database URL names at most {MAX_HOSTS} hosts")]
    TooManyHosts,
    /// One of several hosts has no name.
    #[error("a host between the commas of the database URL is empty")]
    EmptyHost,
    /// It asks for a server that cannot write.
    #[error(
        "target_session_attrs in the database URL is `{0}`, but Gatehouse writes: use read-write, or leave it out"
    )]
    Target(String),
    /// It has a parameter that nobody reads.
    #[error("the database URL has the parameter `{name}`, which Gatehouse does not know: {advice}")]
    Parameter {
        /// Its name.
        name: String,
        /// The nearest known parameter, or all.
        advice: String,
    },
    /// The same, or a wrong port, but it may be a part of the password.
    #[error(
        "the database URL has an @ behind its host. If the user's name or the password has one of the characters / ? # @ %, write it as \
         %2F %3F %23 %40 %25"
    )]
    Unquoted,
    /// A part of it is wrong.
    #[error("the database URL is wrong: {0}")]
    Part(String),
}

impl InvalidUrl {
    /// The driver says about each of its errors that it is one of the configuration, sometimes twice.
    fn part(error: &sqlx::Error) -> Self {
        let words = error.to_string();
        Self::Part(words.replace("error with configuration: ", ""))
    }
}

impl Hosts {
    /// Reads a URL. `target_session_attrs` may be `read-write` or `primary`. Both mean the same as
    /// its absence.
    ///
    /// # Errors
    /// [`InvalidUrl`] says what is wrong.
    pub fn parse(url: &str) -> Result<Self, InvalidUrl> {
        let (scheme, rest) = url.split_once("://").ok_or(InvalidUrl::Scheme)?;
        if !matches!(scheme, "postgres" | "postgresql") {
            return Err(InvalidUrl::Scheme);
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (account, hosts) = match authority.rsplit_once('@') {
            Some((account, hosts)) => (format!("{account}@"), hosts),
            None => (String::new(), authority),
        };
        // A password with a slash ends the authority, and goes on in the path up to the @.
        let is_cut = !authority.contains('@') && path.contains('@');
        let path = without_target(path)?;
        let hosts: Vec<&str> = hosts.split(',').collect();
        if hosts.len() > MAX_HOSTS {
            return Err(InvalidUrl::TooManyHosts);
        }
        if hosts.len() > 1 && hosts.contains(&"") {
            return Err(InvalidUrl::EmptyHost);
        }
        let each = hosts.into_iter().map(|host| {
            let one = format!("{scheme}://{account}{host}{path}");
            one.parse::<PgConnectOptions>().map_err(|error| {
                if is_cut {
                    InvalidUrl::Unquoted
                } else {
                    InvalidUrl::part(&error)
                }
            })
        });
        Ok(Self(each.collect::<Result<_, _>>()?))
    }

    /// The first host of the URL.
    pub(crate) fn first(&self) -> &PgConnectOptions {
        &self.0[0]
    }

    /// The same hosts, with another one first.
    pub(crate) fn led_by(mut self, place: usize) -> Self {
        self.0.swap(0, place);
        self
    }

    /// All hosts, in the URL's order.
    pub(crate) fn each(&self) -> &[PgConnectOptions] {
        &self.0
    }
}

impl fmt::Debug for Hosts {
    /// The URLs without passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(name);
        f.debug_list().entries(names).finish()
    }
}

/// The name of a server in the log.
pub(crate) fn name(options: &PgConnectOptions) -> String {
    match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    }
}

/// The path and query of a URL without `target_session_attrs`, which sqlx does not know.
fn without_target(path: &str) -> Result<String, InvalidUrl> {
    let Some((path, query)) = path.split_once('?') else {
        return Ok(path.to_owned());
    };
    for (name, _) in form_urlencoded::parse(query.as_bytes()) {
        if !is_known(&name) {
            // A password with a question mark ends the authority, and goes on here up to the @.
            return Err(if query.contains('@') {
                InvalidUrl::Unquoted
            } else {
                let advice = advice(&name);
                let name = name.chars().take(LONGEST_SHOWN).collect();
                InvalidUrl::Parameter { name, advice }
            });
        }
    }
    let mut kept = Vec::new();
    for parameter in query.split('&') {
        match parameter.split_once('=') {
            Some((TARGET, "read-write" | "primary")) => {}
            Some((TARGET, target)) => {
                return Err(InvalidUrl::Target(target.to_owned()));
            }
            _ => kept.push(parameter),
        }
    }
    Ok(format!("{path}?{}", kept.join("&")))
}

/// Whether a parameter has an effect. `options[search_path]` and the like set one setting.
fn is_known(name: &str) -> bool {
    let is_setting = name.starts_with("options[") && name.ends_with(']');
    name == TARGET || PARAMETERS.contains(&name) || is_setting
}

/// The nearest parameter, or all of them, for a message about an unknown one.
fn advice(name: &str) -> String {
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

    use tracing::{
        Event, Level, Metadata, Subscriber,
        span::{Attributes, Id, Record},
        subscriber::with_default,
    };

    use super::*;

    fn hosts(url: &str) -> Vec<(String, u16)> {
        let hosts = Hosts::parse(url).unwrap();
        let each = hosts.each().iter();
        each.map(|options| (options.get_host().to_owned(), options.get_port()))
            .collect()
    }

    #[test]
    fn several_hosts_share_all_else() {
        let url = "postgres://me:p%40ss,word@one,two:5433,[::1]:5434/name?sslmode=disable&target_session_attrs=read-write";
        assert_eq!(
            hosts(url),
            [
                ("one".to_owned(), 5432),
                ("two".to_owned(), 5433),
                ("[::1]".to_owned(), 5434)
            ]
        );
        for options in Hosts::parse(url).unwrap().each() {
            assert_eq!(options.get_username(), "me");
            assert_eq!(options.get_database(), Some("name"));
        }
    }

    #[test]
    fn one_host_a_socket_and_none_are_taken_as_before() {
        assert_eq!(hosts("postgresql://one"), [("one".to_owned(), 5432)]);
        let socket = Hosts::parse("postgres:///name?host=/run/postgresql&port=5433").unwrap();
        assert_eq!(socket.first().get_port(), 5433);
        assert_eq!(name(socket.first()), "/run/postgresql");
        assert_eq!(socket.first().get_database(), Some("name"));
    }

    #[test]
    fn what_is_wrong_is_told_without_the_password() {
        for (url, told) in [
            ("mysql://a:secret@b/c", "begins with postgres://"),
            ("a:secret@b/c", "begins with postgres://"),
            ("postgres://a:secret@one,,two/c", "is empty"),
            ("postgres://a:secret@one:x/c", "is wrong"),
            (
                "postgres://a:secret@b/c?target_session_attrs=standby",
                "`standby`",
            ),
            ("postgres://a:secret@b/c?sslmode=maybe", "is wrong"),
            (
                "postgres://a:secret@b/c?sslmod=require",
                "parameter `sslmod`, which Gatehouse does not know: did you mean `sslmode`?",
            ),
            (
                "postgres://a:secret@b/c?sslmode=disable&channel_binding=require",
                "parameter `channel_binding`, which Gatehouse does not know: it knows target_session_attrs, sslmode, ",
            ),
            (
                "postgres://a:secret@b/c?target_session=read-write",
                "did you mean `target_session_attrs`?",
            ),
            (
                "postgres://a:secret@b/c?sslmode=no",
                "is wrong: unknown value \"no\" for `ssl_mode`",
            ),
            ("postgres://a:x/secret@b/c", "write it as %2F"),
            ("postgres://a:x#secret@b/c", "write it as %2F"),
            ("postgres://a:x?secret@b/c", "write it as %2F"),
            ("postgres://a:x?secret=secret@b/c", "write it as %2F"),
        ] {
            let error = Hosts::parse(url).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        let hosts = Hosts::parse("postgres://a:secret@one,two:1/c").unwrap();
        assert_eq!(format!("{hosts:?}"), r#"["one:5432", "two:1"]"#);
    }

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
