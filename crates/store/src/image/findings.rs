//! What the examination of an image found, and its effect.

use domain::{
    decision::ImageProblem,
    id::{MediaId, TeamId},
    image_hash::{HashMatch, Hashed},
};
use queue::{Effect, FinishTx, Survivor};
use sqlx::PgConnection;
use uuid::Uuid;

use super::next;
use crate::{hash_list::matches, jobs::Marks};

/// The effect of having examined an image: what is known of it is kept, and the item goes on.
#[derive(Clone, Debug)]
pub struct Examined {
    /// The item.
    pub media: MediaId,
    /// Its team.
    pub team: TeamId,
    /// Whether the analysis is next; else the rules are.
    pub uses_ai: bool,
    /// Width and height in pixels; none if it could not be decoded.
    pub size: Option<(u32, u32)>,
    /// Its hashes; none if there never was a file.
    pub hashed: Option<Hashed>,
    /// The hash lists that it is on.
    pub matches: Vec<HashMatch>,
    /// Why it cannot be analysed; none if it can.
    pub problem: Option<ImageProblem>,
    /// What its request asks of all its jobs.
    pub marks: Marks,
}

impl Effect for Examined {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let examined: Vec<&Self> = batch.iter().map(|survivor| survivor.effect).collect();
        record(tx.conn, &examined).await?;
        let matches = examined
            .iter()
            .flat_map(|examined| examined.matches.iter().map(|on| (examined.media, *on)));
        matches::record(tx.conn, &matches.collect::<Vec<_>>(), None).await?;
        for examined in examined {
            tx.jobs.push(next(
                examined.media,
                examined.team,
                examined.uses_ai,
                examined.marks,
            ));
        }
        Ok(())
    }
}

async fn record(conn: &mut PgConnection, examined: &[&Examined]) -> Result<(), sqlx::Error> {
    let media: Vec<Uuid> = examined.iter().map(|e| e.media.as_uuid()).collect();
    let side = |side: u32| i32::try_from(side).unwrap_or(i32::MAX);
    let widths: Vec<Option<i32>> = examined
        .iter()
        .map(|e| e.size.map(|(width, _)| side(width)))
        .collect();
    let heights: Vec<Option<i32>> = examined
        .iter()
        .map(|e| e.size.map(|(_, height)| side(height)))
        .collect();
    let sha256: Vec<Option<&[u8]>> = examined
        .iter()
        .map(|e| {
            e.hashed
                .as_ref()
                .map(|hashed| &hashed.sha256.as_bytes()[..])
        })
        .collect();
    let pdq: Vec<Option<&[u8]>> = examined
        .iter()
        .map(|e| Some(&e.hashed.as_ref()?.pdq.as_ref()?.as_bytes()[..]))
        .collect();
    let qualities: Vec<Option<i16>> = examined
        .iter()
        .map(|e| e.size.and(e.hashed).map(|hashed| hashed.quality.into()))
        .collect();
    let problems: Vec<Option<&str>> = examined
        .iter()
        .map(|e| e.problem.map(ImageProblem::as_str))
        .collect();
    sqlx::query!(
        "
        insert into media_images (media_id, site_id, width, height, sha256, pdq, pdq_quality, problem)
        select m.id, m.site_id, i.width, i.height, i.sha256, i.pdq, i.pdq_quality, i.problem
        from unnest(
            $1::uuid [], $2::integer [], $3::integer [], $4::bytea [], $5::bytea [], $6::smallint [], $7::text []
        ) as i (media_id, width, height, sha256, pdq, pdq_quality, problem)
        join media m on m.id = i.media_id and m.status = 'pending'
        on conflict (media_id) do update set
            site_id = excluded.site_id,
            width = excluded.width,
            height = excluded.height,
            sha256 = excluded.sha256,
            pdq = excluded.pdq,
            pdq_quality = excluded.pdq_quality,
            problem = excluded.problem
        ",
        &media,
        &widths as &[Option<i32>],
        &heights as &[Option<i32>],
        &sha256 as &[Option<&[u8]>],
        &pdq as &[Option<&[u8]>],
        &qualities as &[Option<i16>],
        &problems as &[Option<&str>],
    )
    .execute(conn)
    .await?;
    Ok(())
}
