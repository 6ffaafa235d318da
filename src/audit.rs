//! The audit log's rows of what is done from a command line.

use domain::{actor::Actor, audit::Action, id::TeamId};
use serde_json::Value;
use sqlx::PgConnection;
use store::audit::Entry;
use uuid::Uuid;

/// Records something that was done, in the transaction that does it. The team is none where it concerns all; the details
/// hold no secrets.
pub(crate) async fn record(
    conn: &mut PgConnection,
    action: Action,
    team: Option<TeamId>,
    target: Uuid,
    details: Value,
) -> anyhow::Result<()> {
    let entry = Entry {
        actor: Actor::CommandLine,
        action,
        team,
        target: Some(target),
        details: &details,
        request_id: None,
    };
    store::audit::record(conn, entry).await?;
    Ok(())
}
