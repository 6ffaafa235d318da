//! How a provider is reached over the network: its address, deadline, concurrency and circuit breaker.

use std::{ops::RangeInclusive, time::Duration};

use anyhow::{anyhow, bail, ensure};
use domain::breaker::BreakerSettings;
use workers::provider::{Auth, Remote, Style};

use super::Entry;
use crate::config::providers::{
    CONCURRENCY, DEADLINE, LONGEST_DEADLINE_SECONDS, address, file::kind::Kind,
};

impl Entry {
    /// How it is reached, at the given URL or the usual one.
    pub(super) fn remote(
        &self,
        usual_url: Option<&str>,
        auth: Auth,
        style: Option<&Style>,
    ) -> anyhow::Result<Remote> {
        let url = match (&self.url, usual_url) {
            (Some(url), _) => url.clone(),
            (None, Some(usual)) => usual.parse()?,
            (None, None) => bail!("it needs its url"),
        };
        let url = match self.kind {
            Kind::Http => address::plain(url),
            _ if self.path.is_some() => address::plain(url),
            _ => address::base(url),
        };
        let url = url.map_err(|wrong| anyhow!("its url {wrong}"))?;
        let usual = BreakerSettings::default();
        let first = usual.first.as_secs();
        let longest = usual.longest.as_secs();
        let deadline = self.deadline_seconds;
        let deadline = within(
            "deadline_seconds",
            deadline,
            DEADLINE.as_secs(),
            1..=LONGEST_DEADLINE_SECONDS,
        )?;
        let concurrency = within(
            "concurrency",
            self.concurrency,
            CONCURRENCY as u64,
            1..=1_000,
        )?;
        let (usual_piece, largest_piece) = self.kind.piece_bytes();
        let pieces = within(
            "piece_bytes",
            self.piece_bytes,
            usual_piece,
            1_000..=largest_piece,
        )?;
        let failures = self.breaker_failures;
        let failures = within(
            "breaker_failures",
            failures,
            usual.failures.into(),
            1..=1_000,
        )?;
        let wait = within("breaker_seconds", self.breaker_seconds, first, 1..=longest)?;
        Ok(Remote {
            name: self.name.clone(),
            url,
            auth,
            headers: self.headers()?,
            scope: self.scope(style)?,
            deadline: Duration::from_secs(deadline),
            concurrency: usize::try_from(concurrency)?,
            breaker: BreakerSettings {
                failures: u32::try_from(failures)?,
                first: Duration::from_secs(wait),
                ..usual
            },
            piece_bytes: usize::try_from(pieces)?,
            proxy: self.way.clone(),
        })
    }
}

/// The value of a member, or the usual one if it is absent.
pub(super) fn within(
    member: &str,
    given: Option<u64>,
    usual: u64,
    range: RangeInclusive<u64>,
) -> anyhow::Result<u64> {
    let value = given.unwrap_or(usual);
    let (least, most) = (range.start(), range.end());
    ensure!(
        range.contains(&value),
        "its {member} must be from {least} to {most}"
    );
    Ok(value)
}
