//! Parsers for values of options. For a wrong value, the error names the valid ones.

use std::{
    fmt::Display,
    net::{IpAddr, SocketAddr},
    ops::RangeInclusive,
    str::FromStr,
};

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use ipnet::IpNet;
use queue::QueueName;
use store::jobs;
use url::Url;
use uuid::Uuid;

/// One of these, by its name.
pub(crate) fn one_of<T>(
    all: impl IntoIterator<Item = T>,
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let all: Vec<T> = all.into_iter().collect();
    let names: Vec<&str> = all.iter().copied().map(name).collect();
    PossibleValuesParser::new(names).try_map(move |text| {
        let found = all.iter().copied().find(|one| name(*one) == text);
        found.ok_or("is none of the possible values")
    })
}

pub(crate) fn queue_name() -> impl TypedValueParser<Value = QueueName> {
    one_of(jobs::ALL, QueueName::as_str)
}

/// A whole number in this range.
pub(crate) fn whole<T>(
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync,
{
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            let (from, to) = (range.start(), range.end());
            format!("must be a whole number from {from} to {to}")
        })
    }
}

/// The id of something.
pub(crate) fn id<T: From<Uuid>>(text: &str) -> Result<T, String> {
    let id: Result<Uuid, _> = text.parse();
    id.map(T::from)
        .map_err(|_| "must be an id such as 018f3f3e-0000-7000-8000-000000000001".to_owned())
}

/// A time in RFC 3339, or a day, which begins at midnight UTC.
pub(crate) fn time(text: &str) -> Result<DateTime<Utc>, String> {
    let time = text.parse::<DateTime<Utc>>().ok();
    let day = || {
        let day: NaiveDate = text.parse().ok()?;
        Some(day.and_time(NaiveTime::MIN).and_utc())
    };
    time.or_else(day).ok_or_else(|| {
        "must be a time such as 2026-01-31T12:00:00Z, or a day such as 2026-01-31".to_owned()
    })
}

/// An address to listen on.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        "must be an IP address and a port, such as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080"
            .to_owned()
    })
}

/// A network. A single address counts as a network of one.
pub(super) fn network(text: &str) -> Result<IpNet, String> {
    let network = text
        .parse()
        .ok()
        .or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
    network
        .ok_or_else(|| "must be an IP address or a network, such as 10.1.0.7 or 10.1.0.0/16".into())
}

/// The URL of a server.
pub(super) fn http_url(text: &str) -> Result<Url, String> {
    let url: Option<Url> = text.parse().ok();
    url.filter(|url| matches!(url.scheme(), "http" | "https"))
        .ok_or_else(|| "must be a URL such as https://api.example.com".to_owned())
}

/// An origin: `https://console.example.com`.
pub(super) fn origin(text: &str) -> Result<Url, String> {
    let wrong = || format!("`{text}` is not an address such as https://console.example.com");
    let url: Url = text.parse().map_err(|_| wrong())?;
    let is_origin = matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    is_origin.then_some(url).ok_or_else(wrong)
}

/// The URL of a service.
pub(crate) fn service_url(text: &str) -> Result<Url, String> {
    let url: Url = text
        .parse()
        .map_err(|_| "must be a URL such as https://gatehouse.example.com".to_owned())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("must begin with https:// or http://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not contain a user name or a password".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must not contain a query or a fragment".to_owned());
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use domain::id::TeamId;

    use super::*;

    #[test]
    fn a_wrong_value_is_answered_with_the_right_ones() {
        let number = whole(2..=1_000_u32);
        assert_eq!(number("1000"), Ok(1_000));
        for wrong in ["", "x", "1", "1001", "-1", "2.0"] {
            let told = "must be a whole number from 2 to 1000".to_owned();
            assert_eq!(number(wrong), Err(told), "{wrong:?}");
        }
        assert!(id::<TeamId>("x").unwrap_err().contains("018f3f3e-"));
        assert!(
            address("localhost:80")
                .unwrap_err()
                .contains("127.0.0.1:8080")
        );
        assert_eq!(time("2026-01-31"), time("2026-01-31T01:00:00+01:00"));
        assert!(time("31.1.2026").unwrap_err().contains("2026-01-31T12"));
        assert!(network("10.0.0.0/99").unwrap_err().contains("10.1.0.0/16"));
    }
}
