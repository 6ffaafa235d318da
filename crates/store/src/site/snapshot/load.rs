//! The statements that read what a submission needs to know.

use std::{collections::HashMap, sync::Arc};

use domain::{
    event::EventKind,
    id::{GroupVersionId, RuleGroupId, TeamId},
    key::SecretHash,
    metadata_pointer::MetadataPointer,
};
use sqlx::{PgPool, types::Json};
use uuid::Uuid;

use super::{Judges, Site, Subscriber};
use crate::Error;

pub(super) async fn load(
    pool: &PgPool,
    keys: &[SecretHash],
) -> Result<HashMap<SecretHash, Arc<Site>>, Error> {
    let hashes: Vec<Vec<u8>> = keys.iter().map(|key| key.as_bytes().to_vec()).collect();
    let rows = sqlx::query!(
        r#"
        select
            k.hash,
            s.id,
            s.team_id,
            s.revision,
            s.closure_id is not null as "is_closed!",
            s.author_pointer,
            s.compat_store,
            s.compat_unchecked,
            s.status_vocabulary,
            (
                select coalesce(json_agg(json_build_array(e.id, e.events) order by e.id), '[]')
                from webhook_endpoints e
                where e.site_id = s.id and e.disabled_at is null
            ) as "endpoints!: Json<Vec<(Uuid, Vec<EventKind>)>>",
            j.versions as "versions!",
            j.uses_ai as "uses_ai!"
        from site_keys k
        join sites s on s.id = k.site_id
        cross join lateral (
            select array_agg(v.id order by g.created_at, g.id) as versions, bool_or(v.uses_ai) as uses_ai
            from rule_groups g
            join rule_group_versions v on v.id = g.live_version_id
            where g.id = any(
                case when exists (select from site_rule_groups a where a.site_id = s.id)
                then array(select a.rule_group_id from site_rule_groups a where a.site_id = s.id)
                else array[s.default_rule_group_id] end
            )
        ) j
        where k.hash = any($1) and k.disabled_at is null
        "#,
        &hashes,
    )
    .fetch_all(pool)
    .await?;

    rows.into_iter()
        .map(|row| {
            let hash: [u8; 32] = row
                .hash
                .try_into()
                .map_err(|_| Error::Unreadable("a key hash of other than 32 bytes".into()))?;
            let author_pointer = row
                .author_pointer
                .map(MetadataPointer::try_from)
                .transpose();
            let author_pointer = author_pointer.map_err(|error| {
                Error::Unreadable(format!("the author pointer of site {} {error}", row.id))
            });
            let endpoints = row.endpoints.0.into_iter();
            let site = Site {
                id: row.id.into(),
                team: row.team_id.into(),
                revision: row.revision,
                is_closed: row.is_closed,
                endpoints: endpoints
                    .map(|(id, events)| Subscriber {
                        id: id.into(),
                        events,
                    })
                    .collect(),
                author_pointer: author_pointer?,
                compat_store: row.compat_store,
                compat_unchecked: row.compat_unchecked.parse()?,
                vocabulary: row.status_vocabulary.parse()?,
                judges: Judges {
                    versions: row.versions.into_iter().map(GroupVersionId::from).collect(),
                    uses_ai: row.uses_ai,
                },
            };
            Ok((SecretHash::from(hash), Arc::new(site)))
        })
        .collect()
}

pub(super) async fn live_version(
    pool: &PgPool,
    team: TeamId,
    group: RuleGroupId,
) -> Result<Option<Judges>, Error> {
    let row = sqlx::query!(
        "
        select v.id, v.uses_ai
        from rule_groups g
        join rule_group_versions v on v.id = g.live_version_id
        where g.id = $1 and g.team_id = $2 and g.disabled_at is null
        ",
        group.as_uuid(),
        team.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    Ok(row.map(|row| Judges {
        versions: vec![row.id.into()],
        uses_ai: row.uses_ai,
    }))
}
