//! The console as a browser sees it, on a real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod audit;
mod browser;
mod closures;
mod cost;
mod dead_jobs;
mod desk;
mod desk_reports;
mod sign_in;
mod erasures;
mod first_person;
mod hash_lists;
mod instance;
mod items;
mod known_answers;
mod matrix;
mod operators;
mod overview;
mod people;
mod previews;
mod browser_security;
mod providers;
mod queues;
mod audited_changes;
mod rules;
mod seed;
mod single_sign_on;
mod sites;
mod tokens;
mod connection_shares;
mod usage;
mod webhooks;
