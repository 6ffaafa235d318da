//! The apalis workers of Gatehouse: analysis, rules, webhooks, maintenance.

pub mod outbound;
