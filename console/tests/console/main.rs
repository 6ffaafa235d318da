//! The console as a browser sees it, on a real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod audit;
mod browser;
mod closures;
mod cost;
mod dead_jobs;
mod desk;
mod desk_reports;
mod door;
mod erasures;
mod first;
mod hash_lists;
mod instance;
mod items;
mod known_answers;
mod matrix;
mod operators;
mod overview;
mod people;
mod previews;
mod protection;
mod providers;
mod queues;
mod recorded;
mod rules;
mod seed;
mod sign_on;
mod sites;
mod tokens;
mod turns;
mod usage;
mod webhooks;
