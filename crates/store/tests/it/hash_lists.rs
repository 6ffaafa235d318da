//! Hash lists, the files that they are filled from and what they are held against, on a real
//! Postgres.

mod deltas;
mod entries;
mod fixture;
mod imports;
mod scans;
