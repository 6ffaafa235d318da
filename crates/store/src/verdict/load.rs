//! Loading what items are judged by, many items to a statement.

use std::{collections::HashMap, sync::Arc};

use domain::{
    decision::{ImageProblem, MissingScores, Unchecked},
    id::{GroupVersionId, MediaId},
    score::Scores,
};
use sqlx::{PgPool, types::Json};
use telemetry::trace::Context;
use uuid::Uuid;

use super::ToJudge;
use crate::{
    Error,
    gather::{Bounds, Loader},
    hash_list::matches,
};

const BOUNDS: Bounds = Bounds {
    waiting: 8_192,
    waiting_bytes: 1 << 20,
    // Texts have up to 100 KB each.
    batch: 64,
    batch_bytes: 1 << 20,
    runners: 2,
};

/// Loads pending items. An item that is decided already is not found.
pub fn loader(pool: PgPool) -> Loader<MediaId, ToJudge> {
    Loader::start(pool, "media to judge", BOUNDS, |pool, media| async move {
        load(&pool, &media, Wanted::Pending).await
    })
}

/// Which items are loaded to be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Those that wait for a verdict.
    Pending,
    /// Decided ones, too.
    All,
}

pub(crate) async fn load(
    pool: &PgPool,
    media: &[MediaId],
    wanted: Wanted,
) -> Result<HashMap<MediaId, ToJudge>, Error> {
    let ids: Vec<Uuid> = media.iter().map(|id| id.as_uuid()).collect();
    let rows = sqlx::query!(
        r#"
        select
            m.id,
            m.team_id,
            m.traceparent,
            m.body,
            m.content_type,
            m.group_versions,
            array(
                select g.shadow_version_id
                from rule_group_versions v
                join rule_groups g on g.id = v.rule_group_id
                where v.id = any(m.group_versions) and g.shadow_version_id <> v.id
            ) as "shadows!",
            s.on_failure,
            (extract(epoch from clock_timestamp() - m.created_at) * 1000)::bigint as "age_ms!",
            a.scores as "scores?: Json<Scores>",
            a.image_scored as "image_scored?",
            a.unchecked as "unchecked?: Json<Vec<Unchecked>>",
            a.gaps as "gaps?: Json<Vec<MissingScores>>",
            (select i.problem from media_images i where i.media_id = m.id) as image_problem
        from media m
        join sites s on s.id = m.site_id
        left join analyses a on a.media_id = m.id
        where m.id = any($1) and (m.status = 'pending' or $2)
        "#,
        &ids,
        wanted == Wanted::All,
    )
    .fetch_all(pool)
    .await?;
    let images = rows.iter().filter(|row| row.content_type == "image");
    let images: Vec<_> = images.map(|row| MediaId::from(row.id)).collect();
    let mut matches = matches::of(pool, &images).await?;
    rows.into_iter()
        .map(|row| {
            let media = MediaId::from(row.id);
            let problem = row.image_problem.map(|p| p.parse()).transpose()?;
            let noted = row.unchecked.map(|u| u.0).unwrap_or_default();
            let item = ToJudge {
                media,
                trace: Context::of_stored(row.id.into_bytes(), row.traceparent.as_deref()),
                team: row.team_id.into(),
                text: row.body.map(Arc::from),
                has_image: row.content_type == "image",
                image_matches: matches.remove(&media).unwrap_or_default(),
                group_versions: row
                    .group_versions
                    .into_iter()
                    .map(GroupVersionId::from)
                    .collect(),
                shadows: row.shadows.into_iter().map(GroupVersionId::from).collect(),
                image_scored: row.image_scored == Some(true),
                scores: row.scores.map(|scores| scores.0),
                gaps: row.gaps.map(|gaps| gaps.0).unwrap_or_default(),
                unchecked: unchecked(noted, row.image_scored, problem),
                on_failure: row.on_failure.parse()?,
                age_ms: u64::try_from(row.age_ms).unwrap_or(0),
            };
            Ok((media, item))
        })
        .collect()
}

/// What could not be checked of an item: what its analysis noted, and what is known of its image.
pub(super) fn unchecked(
    mut noted: Vec<Unchecked>,
    image_scored: Option<bool>,
    problem: Option<ImageProblem>,
) -> Vec<Unchecked> {
    if image_scored == Some(false) {
        noted.push(Unchecked::ImageNotScored);
    }
    noted.extend(problem.map(|problem| Unchecked::ImageNotAnalysed { problem }));
    noted
}
