//! `gatehouse admin remove-example-data`.

use anyhow::bail;
use serde_json::{Value, json};
use store::{
    PgPool,
    example_data::{self, Turn},
};

/// Removes the example data. It is no error if there is none.
pub(super) async fn remove(pool: &PgPool) -> anyhow::Result<Value> {
    let Some(turn) = Turn::take(pool).await? else {
        bail!(
            "another process is creating or removing the example data: try again when it has ended"
        );
    };
    let removed = example_data::remove(pool).await?;
    turn.end().await?;
    Ok(
        json!({ "team_id": example_data::TEAM, "existed": removed.existed, "removed_items": removed.items }),
    )
}
