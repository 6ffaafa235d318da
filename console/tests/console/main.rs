//! The console as a browser sees it, on a real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod audit;
mod audited_changes;
mod browser;
mod browser_security;
mod closures;
mod connection_shares;
mod cost;
mod dead_jobs;
mod desk;
mod desk_reports;
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
mod providers;
mod queues;
mod rules;
mod seed;
mod sign_in;
mod single_sign_on;
mod sites;
mod tokens;
mod usage;
mod webhooks;
