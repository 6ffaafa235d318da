//! What was found of an item whose analysis is not complete.

use std::collections::HashMap;

use domain::{id::MediaId, score::Scores};
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use super::{ProviderReport, to_json};

/// What one provider said in an earlier run.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its name.
    pub provider: String,
    /// Its scores; none if it failed for good.
    pub scores: Option<Scores>,
}

/// The maximum per category; none when nothing was scored.
pub(super) fn merged(parts: &[Part]) -> Option<Scores> {
    let mut merged = Scores::default();
    for scores in parts.iter().filter_map(|part| part.scores.as_ref()) {
        merged.merge_max(scores);
    }
    (!merged.is_empty()).then_some(merged)
}

pub(super) async fn load(
    conn: &mut PgConnection,
    media: &[Uuid],
) -> Result<HashMap<Uuid, Vec<Part>>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select media_id, provider, scores as "scores: Json<Scores>"
        from analysis_parts
        where media_id = any($1)
        "#,
        media,
    )
    .fetch_all(conn)
    .await?;
    let mut parts: HashMap<Uuid, Vec<Part>> = HashMap::new();
    for row in rows {
        parts.entry(row.media_id).or_default().push(Part {
            provider: row.provider,
            scores: row.scores.map(|scores| scores.0),
        });
    }
    Ok(parts)
}

pub(super) async fn keep(
    conn: &mut PgConnection,
    parts: &[(MediaId, &[ProviderReport])],
) -> Result<(), sqlx::Error> {
    let mut media = Vec::new();
    let mut providers = Vec::new();
    let mut scores = Vec::new();
    let mut reports = Vec::new();
    for (item, said) in parts {
        for report in *said {
            media.push(item.as_uuid());
            providers.push(report.provider.as_str());
            let found = report.failure.is_none().then_some(&report.scores);
            scores.push(found.map(to_json).transpose()?);
            reports.push(to_json(report)?);
        }
    }
    if media.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "
        insert into analysis_parts (media_id, provider, scores, report)
        select media_id, provider, scores::json, report::json
        from unnest($1::uuid [], $2::text [], $3::text [], $4::text []) as p (media_id, provider, scores, report)
        on conflict (media_id, provider) do nothing
        ",
        &media,
        &providers as &[&str],
        &scores as &[Option<String>],
        &reports,
    )
    .execute(conn)
    .await?;
    Ok(())
}
