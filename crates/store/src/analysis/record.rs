//! Storing complete analyses.

use sqlx::PgConnection;

use super::Analysed;
use crate::json::to_json;

/// Stores complete analyses, with the reports of their earlier parts, which are no longer needed
/// then.
pub(crate) async fn record(
    conn: &mut PgConnection,
    analyses: &[&Analysed],
) -> Result<(), sqlx::Error> {
    if analyses.is_empty() {
        return Ok(());
    }
    let mut media = Vec::with_capacity(analyses.len());
    let mut scores = Vec::with_capacity(analyses.len());
    let mut images_scored = Vec::with_capacity(analyses.len());
    let mut unchecked = Vec::with_capacity(analyses.len());
    let mut gaps = Vec::with_capacity(analyses.len());
    let (mut reported, mut reports) = (Vec::new(), Vec::new());
    for analysed in analyses {
        media.push(analysed.media.as_uuid());
        scores.push(analysed.scores.as_ref().map(to_json).transpose()?);
        images_scored.push(analysed.image_scored);
        unchecked.push(to_json(&analysed.unchecked)?);
        gaps.push(to_json(&analysed.gaps)?);
        for report in &analysed.providers {
            reported.push(analysed.media.as_uuid());
            reports.push(to_json(report)?);
        }
    }
    sqlx::query!(
        "
        with of_pieces as (
            delete from analysis_pieces where media_id = any($1)
        ),
        of_texts as (
            delete from analysis_parts where media_id = any($1) returning media_id, report
        ),
        of_images as (
            delete from analysis_image_parts where media_id = any($1) returning media_id, report
        ),
        earlier as (
            select media_id, report from of_texts
            union all
            select media_id, report from of_images
        ),
        reports as (
            select media_id, json_agg(report order by last, number) as providers
            from (
                select media_id, report, false as last, 0 as number from earlier
                union all
                select media_id, report::json, true, number
                from unnest($6::uuid [], $7::text []) with ordinality as l (media_id, report, number)
            ) as r
            group by media_id
        )
        insert into analyses (media_id, scores, image_scored, providers, unchecked, gaps)
        select
            a.media_id, a.scores::json, a.image_scored, coalesce(r.providers, '[]'), a.unchecked::json, a.gaps::json
        from unnest($1::uuid [], $2::text [], $3::boolean [], $4::text [], $5::text [])
        as a (media_id, scores, image_scored, unchecked, gaps)
        join media m on m.id = a.media_id and m.erased_at is null
        left join reports r on r.media_id = a.media_id
        on conflict on constraint analyses_pkey do nothing
        ",
        &media,
        &scores as &[Option<String>],
        &images_scored as &[Option<bool>],
        &unchecked,
        &gaps,
        &reported,
        &reports,
    )
    .execute(conn)
    .await?;
    Ok(())
}
