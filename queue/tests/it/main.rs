//! The queue's promises, on a real Postgres: `DATABASE_URL` names a server on which databases can be made.

mod claiming;
mod dying;
mod finishing;
mod lifecycle;
mod outages;
mod retrying;
mod support;
