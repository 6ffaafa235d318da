//! What `id` says about an account.

use std::process::Command;

use anyhow::{Context as _, ensure};
use rustix::process::{Gid, Uid, getgroups};

use super::SystemAccount;

/// The groups that this process is in, its own first.
pub(crate) fn own_groups() -> Vec<u32> {
    let others = getgroups().unwrap_or_default();
    let own = rustix::process::getegid();
    std::iter::once(own)
        .chain(others)
        .map(Gid::as_raw)
        .collect()
}

pub(super) fn ask_id(arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("id")
        .args(arguments)
        .env("LC_ALL", "C")
        .output()
        .context("cannot run `id`")?;
    ensure!(
        output.status.success(),
        "`id {}` failed",
        arguments.join(" ")
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Reads `uid=101(gatehouse) gid=104(gatehouse) groups=...`, and the numbers of all groups.
pub(super) fn parse(names: &str, numbers: &str) -> Option<SystemAccount> {
    let mut fields = names.split_whitespace();
    let (uid, name) = fields
        .next()?
        .strip_prefix("uid=")?
        .strip_suffix(')')?
        .split_once('(')?;
    let gid = fields.next()?.strip_prefix("gid=")?;
    let gid = gid.split_once('(').map_or(gid, |(number, _)| number);
    let groups: Result<Vec<_>, _> = numbers
        .split_whitespace()
        .map(|number| number.parse().map(Gid::from_raw))
        .collect();
    Some(SystemAccount {
        name: name.to_owned(),
        uid: Uid::from_raw(uid.parse().ok()?),
        gid: Gid::from_raw(gid.parse().ok()?),
        groups: groups.ok()?,
    })
}
