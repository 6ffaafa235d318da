//! What was found of an item whose analysis is not complete. The parts of texts and of images are
//! kept in two tables: older binaries know only texts and read only the first table.

use std::collections::HashMap;

use domain::{
    decision::ImageProblem,
    id::MediaId,
    media::{Modality, UnknownName},
    score::Scores,
};
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use super::ProviderReport;
use crate::json::to_json;

/// What one provider said in an earlier run.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its name.
    pub provider: String,
    /// What it was shown.
    pub modality: Modality,
    /// Its scores; none if it failed for good.
    pub scores: Option<Scores>,
    /// Why it was not shown all of the image; none if it was.
    pub unseen: Option<ImageProblem>,
}

/// The maximum per category; none when nothing was scored.
pub(super) fn merged(parts: &[Part]) -> Option<Scores> {
    let mut merged = Scores::default();
    for scores in parts.iter().filter_map(|part| part.scores.as_ref()) {
        merged.merge_max(scores);
    }
    (!merged.is_empty()).then_some(merged)
}

/// Whether one of these parts has a score of the image; none when no provider has seen it.
pub(super) fn image_scored(parts: &[Part]) -> Option<bool> {
    let of_image = parts.iter().filter(|part| part.modality == Modality::Image);
    let scores: Vec<&Scores> = of_image.filter_map(|part| part.scores.as_ref()).collect();
    (!scores.is_empty()).then(|| scores.iter().any(|scores| !scores.is_empty()))
}

pub(super) async fn load(
    conn: &mut PgConnection,
    media: &[Uuid],
) -> Result<HashMap<Uuid, Vec<Part>>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select media_id as "media_id!", provider as "provider!", false as "image!", scores as "scores: Json<Scores>",
            null as unseen
        from analysis_parts
        where media_id = any($1)
        union all
        select media_id, provider, true, scores, report ->> 'unseen'
        from analysis_image_parts
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
            modality: if row.image {
                Modality::Image
            } else {
                Modality::Text
            },
            scores: row.scores.map(|scores| scores.0),
            unseen: row
                .unseen
                .map(|problem| problem.parse())
                .transpose()
                .map_err(|error: UnknownName| sqlx::Error::Decode(error.into()))?,
        });
    }
    Ok(parts)
}

pub(crate) async fn keep(
    conn: &mut PgConnection,
    parts: &[(MediaId, &[ProviderReport])],
) -> Result<(), sqlx::Error> {
    let mut media = Vec::new();
    let mut providers = Vec::new();
    let mut images = Vec::new();
    let mut scores = Vec::new();
    let mut reports = Vec::new();
    for (item, said) in parts {
        for report in *said {
            media.push(item.as_uuid());
            providers.push(report.provider.as_str());
            images.push(report.modality == Modality::Image);
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
        with parts as (
            select media_id, provider, image, scores::json, report::json
            from unnest($1::uuid [], $2::text [], $3::boolean [], $4::text [], $5::text [])
            as p (media_id, provider, image, scores, report)
            join media m on m.id = p.media_id and m.erased_at is null
        ),
        of_texts as (
            insert into analysis_parts (media_id, provider, scores, report)
            select media_id, provider, scores, report from parts where not image
            on conflict (media_id, provider) do nothing
        )
        insert into analysis_image_parts (media_id, provider, scores, report)
        select media_id, provider, scores, report from parts where image
        on conflict on constraint analysis_image_parts_pkey do nothing
        ",
        &media,
        &providers as &[&str],
        &images,
        &scores as &[Option<String>],
        &reports,
    )
    .execute(conn)
    .await?;
    Ok(())
}
