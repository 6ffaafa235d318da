//! Loading what providers are asked about, many items to a statement.

use std::{collections::HashMap, sync::Arc, time::Duration};

use domain::id::{GroupVersionId, MediaId};
use sqlx::PgPool;
use telemetry::trace::Context;
use uuid::Uuid;

use super::{ToAnalyse, parts, pieces};
use crate::{
    Error,
    gather::{Bounds, Loader},
    hash_list::matches,
    jobs, provider,
};

const BOUNDS: Bounds = Bounds {
    waiting: 8_192,
    waiting_bytes: 1 << 20,
    // Texts have up to 100 KB each.
    batch: 64,
    batch_bytes: 1 << 20,
    runners: 2,
};

/// Loads pending items. Items that are decided already are not found.
pub fn loader(pool: PgPool) -> Loader<MediaId, ToAnalyse> {
    Loader::start(pool, "media to analyse", BOUNDS, |pool, media| async move {
        load(&pool, &media).await
    })
}

#[expect(clippy::too_many_lines, reason = "nearly all of it is one statement")]
pub(super) async fn load(
    pool: &PgPool,
    media: &[MediaId],
) -> Result<HashMap<MediaId, ToAnalyse>, Error> {
    let ids: Vec<Uuid> = media.iter().map(|id| id.as_uuid()).collect();
    // A version that uses AI and names no category was published by an older binary, which did not
    // store the categories. It may ask for any.
    let rows = sqlx::query!(
        r#"
        select
            m.id,
            m.team_id,
            m.site_id,
            m.traceparent,
            m.body,
            exists (
                select from media_images i
                where i.media_id = m.id and i.bytes is not null and i.problem is null
            ) as "has_picture!",
            m.group_versions,
            m.content_type,
            (select i.problem from media_images i where i.media_id = m.id) as image_problem,
            array(
                select g.shadow_version_id
                from rule_group_versions v
                join rule_groups g on g.id = v.rule_group_id
                where v.id = any(m.group_versions) and g.shadow_version_id <> v.id
            ) as "shadows!",
            s.on_failure,
            s.providers,
            s.policy,
            s.answer_cache_seconds,
            exists (
                select from queue.queues q where q.queue = $2 and q.paused_until > now()
                union all
                select
                from queue.groups g
                where g.queue = $2 and g.grp = m.team_id and (g.cap is not null or g.paused_until > now())
                union all
                select
                from queue.lanes l
                where l.queue = $2 and l.lane = m.team_id and (l.cap is not null or l.paused_until > now())
            ) as "rules_are_held!",
            (
                select coalesce(array_agg(distinct c.category), '{}')
                from rule_group_versions v
                cross join unnest(v.categories) as c (category)
                where v.id = any(m.group_versions)
            ) as "wanted!",
            exists (
                select
                from rule_group_versions v
                where v.id = any(m.group_versions) and v.uses_ai and v.categories = '{}'
            ) as "any!",
            exists (
                select from analysis_parts p where p.media_id = m.id
                union all
                select from analysis_image_parts p where p.media_id = m.id
                union all
                select from analysis_pieces p where p.media_id = m.id
            ) as "begun!",
            (extract(epoch from clock_timestamp() - m.created_at) * 1000)::bigint as "age_ms!"
        from media m
        join sites s on s.id = m.site_id
        where m.id = any($1) and m.status = 'pending'
        "#,
        &ids,
        jobs::RULES.as_str(),
    )
    .fetch_all(pool)
    .await?;
    let images = rows.iter().filter(|row| row.content_type == "image");
    let images: Vec<_> = images.map(|row| MediaId::from(row.id)).collect();
    let mut matches = matches::of(pool, &images).await?;
    let begun: Vec<Uuid> = rows.iter().filter(|r| r.begun).map(|r| r.id).collect();
    let (mut parts, mut pieces) = if begun.is_empty() {
        (HashMap::new(), HashMap::new())
    } else {
        let mut conn = pool.acquire().await?;
        let parts = parts::load(&mut conn, &begun).await?;
        (parts, pieces::load(&mut conn, &begun).await?)
    };
    rows.into_iter()
        .map(|row| {
            let media = MediaId::from(row.id);
            let wanted = if row.any {
                Vec::new()
            } else {
                provider::categories(&row.wanted)?
            };
            let item = ToAnalyse {
                media,
                trace: Context::of_stored(row.id.into_bytes(), row.traceparent.as_deref()),
                team: row.team_id.into(),
                site: row.site_id.into(),
                text: row.body.map(Arc::from),
                has_picture: row.has_picture,
                image_matches: matches.remove(&media).unwrap_or_default(),
                group_versions: row
                    .group_versions
                    .into_iter()
                    .map(GroupVersionId::from)
                    .collect(),
                shadows: row.shadows.into_iter().map(GroupVersionId::from).collect(),
                on_failure: row.on_failure.parse()?,
                has_image: row.content_type == "image",
                image_problem: row.image_problem.map(|p| p.parse()).transpose()?,
                rules_are_held: row.rules_are_held,
                wanted,
                preferred: row.providers,
                policy: row.policy.map(Arc::from),
                answers_hold: row
                    .answer_cache_seconds
                    .and_then(|seconds| Some(Duration::from_secs(seconds.try_into().ok()?))),
                parts: parts.remove(&row.id).unwrap_or_default(),
                pieces: pieces.remove(&row.id).unwrap_or_default(),
                age: Duration::from_millis(u64::try_from(row.age_ms).unwrap_or(0)),
            };
            Ok((media, item))
        })
        .collect()
}
