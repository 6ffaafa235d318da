//! Hash lists, the files that they are filled from and what they are held against, on a real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod deltas;
mod entries;
mod fixture;
mod imports;
mod scans;
