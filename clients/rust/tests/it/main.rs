//! The client on a running service: `GATEHOUSE_DEMO` names its demo.json. Started by scripts/test-clients.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod failures;
mod submissions;
mod support;
mod webhooks;
