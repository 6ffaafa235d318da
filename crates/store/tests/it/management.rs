//! What people and tools see and change, on a real Postgres.

mod actors;
mod backtests;
mod closures;
mod decide;
mod deliveries;
mod endpoints;
mod erasures;
mod events;
mod item;
mod list;
mod recoveries;
mod shadows;
mod sites;
