//! The rules for people, on a real Postgres: what `docs/people.md` promises.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod factor;
mod fixture;
mod hostile;
mod links;
mod races;
mod roles;
mod sessions;
mod sign_in;
mod strangers;
