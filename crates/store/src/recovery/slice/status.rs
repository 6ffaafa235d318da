//! How far a recovery has got, and whether it can go on.

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::{EndpointId, RecoveryId, SiteId, TeamId},
    recovery::RecoveryKind,
};
use sqlx::PgPool;
use uuid::Uuid;

use crate::{Error, id_time::ids_within};

pub(super) struct Standing {
    pub(super) endpoint: EndpointId,
    pub(super) site: SiteId,
    pub(super) team: TeamId,
    pub(super) kind: RecoveryKind,
    /// The kinds of event that are wanted.
    pub(super) events: Vec<String>,
    pub(super) since: DateTime<Utc>,
    pub(super) until: DateTime<Utc>,
    pub(super) walked_to: Option<Uuid>,
    /// Whether everything is visible that was being written when the recovery was created.
    pub(super) is_settled: bool,
    /// Why it cannot go on.
    pub(super) obstacle: Option<&'static str>,
}

impl Standing {
    /// The range of ids to look at: after the first and before the second.
    pub(super) fn bounds(&self) -> (Uuid, Uuid) {
        let (from, before) = ids_within(Some(self.since), Some(self.until));
        (self.walked_to.unwrap_or(from), before)
    }
}

pub(super) async fn standing(
    pool: &PgPool,
    recovery: RecoveryId,
) -> Result<Option<Standing>, Error> {
    let row = sqlx::query!(
        r#"
        select
            r.endpoint_id, r.site_id, r.team_id, r.kind, r.event, r.since, r.until, r.walked_to,
            pg_snapshot_xmin(pg_current_snapshot()) > r.begins_after as "is_settled!",
            p.events as "events?",
            p.disabled_at is not null as "is_disabled!"
        from webhook_recoveries r
        left join webhook_endpoints p on p.id = r.endpoint_id and p.deleted_at is null
        where r.id = $1 and r.state = 'running'
        "#,
        recovery.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    row.map(|row| {
        let kind: RecoveryKind = row.kind.parse()?;
        let obstacle = match &row.events {
            None => Some("the endpoint was deleted"),
            Some(_) if row.is_disabled => {
                Some("the endpoint is disabled: enable it, and start another")
            }
            Some(_) => None,
        };
        // An event that was sent once may be sent again, whatever the endpoint subscribes to now.
        let mut events = match kind {
            RecoveryKind::Failed | RecoveryKind::Delivered => {
                let all = EventKind::ALL.iter();
                all.map(ToString::to_string).collect()
            }
            RecoveryKind::Missing => row.events.unwrap_or_default(),
        };
        if let Some(only) = row.event {
            events.retain(|event| *event == only);
        }
        Ok(Standing {
            endpoint: row.endpoint_id.into(),
            site: row.site_id.into(),
            team: row.team_id.into(),
            kind,
            events,
            since: row.since,
            until: row.until,
            walked_to: row.walked_to,
            is_settled: row.is_settled,
            obstacle,
        })
    })
    .transpose()
}
