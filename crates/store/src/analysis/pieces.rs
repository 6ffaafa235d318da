//! What providers said of single pieces of a long text, or of single frames of an animation, whose
//! analysis is not complete.

use std::collections::HashMap;

use domain::{
    id::MediaId,
    media::Modality,
    score::{Category, Scores},
};
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use crate::{Error, json::to_json, provider};

/// What a provider said of a piece.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The provider's name.
    pub provider: String,
    /// Whether it is a piece of the text, or a frame of the image.
    pub modality: Modality,
    /// Where the piece begins, in bytes of the text, or the frame's number.
    pub start: usize,
    /// The piece's bytes, or one frame.
    pub length: usize,
    /// What the provider was asked for.
    pub categories: Vec<Category>,
    /// Its scores.
    pub scores: Scores,
    /// The stored part of its answer.
    pub raw: Option<String>,
}

pub(super) async fn load(
    conn: &mut PgConnection,
    media: &[Uuid],
) -> Result<HashMap<Uuid, Vec<Piece>>, Error> {
    let rows = sqlx::query!(
        r#"
        select media_id, provider, modality, start, length, categories, scores as "scores: Json<Scores>", raw
        from analysis_pieces
        where media_id = any($1)
        "#,
        media,
    )
    .fetch_all(conn)
    .await?;
    let mut pieces: HashMap<Uuid, Vec<Piece>> = HashMap::new();
    for row in rows {
        pieces.entry(row.media_id).or_default().push(Piece {
            provider: row.provider,
            modality: row.modality.parse()?,
            start: usize::try_from(row.start).unwrap_or(0),
            length: usize::try_from(row.length).unwrap_or(0),
            categories: provider::categories(&row.categories)?,
            scores: row.scores.0,
            raw: row.raw,
        });
    }
    Ok(pieces)
}

pub(crate) async fn keep(
    conn: &mut PgConnection,
    pieces: &[(MediaId, &[Piece])],
) -> Result<(), sqlx::Error> {
    let mut media = Vec::new();
    let (mut providers, mut modalities) = (Vec::new(), Vec::new());
    let (mut starts, mut lengths) = (Vec::new(), Vec::new());
    let (mut categories, mut scores, mut raws) = (Vec::new(), Vec::new(), Vec::new());
    for (item, said) in pieces {
        for piece in *said {
            media.push(item.as_uuid());
            providers.push(piece.provider.as_str());
            modalities.push(piece.modality.as_str());
            // A text has up to 100 KB.
            starts.push(i32::try_from(piece.start).unwrap_or(i32::MAX));
            lengths.push(i32::try_from(piece.length).unwrap_or(i32::MAX));
            // Arrays of arrays must all have the same length.
            let names: Vec<&str> = piece.categories.iter().map(|c| c.as_str()).collect();
            categories.push(names.join(","));
            scores.push(to_json(&piece.scores)?);
            raws.push(piece.raw.as_deref());
        }
    }
    if media.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "
        insert into analysis_pieces (media_id, provider, modality, start, length, categories, scores, raw)
        select
            p.media_id, p.provider, p.modality, p.start, p.length, string_to_array(p.categories, ','), p.scores::json, p.raw
        from unnest(
            $1::uuid [], $2::text [], $3::text [], $4::integer [], $5::integer [], $6::text [], $7::text [], $8::text []
        ) as p (media_id, provider, modality, start, length, categories, scores, raw)
        join media m on m.id = p.media_id and m.erased_at is null
        on conflict on constraint analysis_pieces_pkey do nothing
        ",
        &media,
        &providers as &[&str],
        &modalities as &[&str],
        &starts,
        &lengths,
        &categories,
        &scores,
        &raws as &[Option<&str>],
    )
    .execute(conn)
    .await?;
    Ok(())
}
