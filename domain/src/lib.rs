//! What moderation means: ids, media, rules, decisions, events, signatures. No I/O, no clock, no async.

pub mod audit;
pub mod backtest;
pub mod breaker;
pub mod builtin;
pub mod decision;
pub mod event;
pub mod id;
pub mod idempotency;
pub mod image;
pub mod key;
pub mod limit;
pub mod media;
pub mod name;
pub mod plan;
pub mod policy;
pub mod reason;
pub mod rule_diff;
pub mod rule_file;
pub mod rules;
pub mod scope;
pub mod score;
pub mod signature;
pub mod submission;
pub mod text;
pub mod webhook;
pub mod whole;
