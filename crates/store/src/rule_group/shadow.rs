//! Shadows: versions that judge beside the live one, without effect. Their answers are counted with
//! the verdicts of their group, and differences are kept for a while.

mod read;
mod record;
mod retention;

use domain::{
    id::{GroupVersionId, MediaId, RuleGroupId},
    media::Status,
};
use sqlx::PgConnection;

pub(crate) use self::record::record;
pub use self::{
    read::{Count, Difference, counts, differences},
    retention::{KEPT, forget_old},
};
use crate::Error;

/// What a shadow said about an item.
#[derive(Clone, Copy, Debug)]
pub struct Shadowed {
    /// The shadow.
    pub version: GroupVersionId,
    /// Where the item would have gone.
    pub status: Status,
    /// Whether a rule of the shadow asked for a score that was not there.
    pub unscored: bool,
}

/// What a shadow said about an item whose verdict is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compared {
    pub(crate) media: MediaId,
    /// Where the item went.
    pub(crate) live: Status,
    pub(crate) shadowed: Shadowed,
}

/// Lets a version of a group judge in the shadow, or none. Run it in a transaction that has locked
/// the group.
pub async fn set(
    conn: &mut PgConnection,
    group: RuleGroupId,
    version: Option<GroupVersionId>,
) -> Result<(), Error> {
    sqlx::query!(
        "update rule_groups set shadow_version_id = $2 where id = $1",
        group.as_uuid(),
        version.map(GroupVersionId::as_uuid),
    )
    .execute(conn)
    .await?;
    Ok(())
}
