//! The items of an archive, a member at a time.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::{
    author::Author,
    id::{MediaId, SiteId},
    media::{ContentType, Status},
    scope::Scope,
    submission::{MAX_APP_MEDIA_ID, MAX_CONTENT_URL, SubmissionLimits},
};
use serde::Deserialize;
use serde_json::value::RawValue;
use store::{
    export::PAGE,
    import::{self, Batch},
};
use uuid::Uuid;

use super::Target;
use crate::{Caller, Refused, boxed, sites};

/// What came of a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Items that were stored.
    pub added: u64,
    /// Items that were there already, and stay as they are.
    pub there: u64,
    /// Items without a verdict, which are left out: they would be judged and told a second time.
    pub pending: u64,
}

/// Stores the items of a member, in one transaction. Items that are there stay as they are.
///
/// # Errors
/// The caller may not do it; an item belongs to another site here; a line is not as an export writes it.
#[boxed]
pub async fn items(caller: &Caller, target: &Target, lines: Vec<Line>) -> Result<Stored, Refused> {
    let mut session = caller.change(Scope::SitesWrite).await?;
    sites::require_open(&mut session, target.site).await?;
    let ids: Vec<Uuid> = lines.iter().map(|line| line.id.as_uuid()).collect();
    let there = import::existing(session.conn(), &ids).await?;
    let there: HashMap<MediaId, SiteId> = there.into_iter().collect();
    if let Some((media, site)) = there.iter().find(|(_, site)| **site != target.site) {
        let detail = format!(
            "The item {media} is there already, at the site {site}. An item cannot be at two sites: import into another \
             database, or name that site with --site."
        );
        return Err(Refused::Invalid(detail.into()));
    }
    let mut stored = Stored::default();
    let mut batch = Batch::default();
    for line in lines {
        let is_there = there.contains_key(&line.id);
        let is_new = || batch.items.iter().any(|item| item.id == line.id);
        if line.page.is_some() {
            // Of an item that was left out, there is nothing to add to.
            if is_there || is_new() {
                line.add_history_to(&mut batch);
            }
        } else if is_there {
            stored.there += 1;
        } else if line.is_pending() {
            stored.pending += 1;
        } else {
            let here = |version: &Uuid| target.versions.get(version).copied();
            line.add_to(&mut batch, here)
                .map_err(|wrong| Refused::Invalid(wrong.to_string().into()))?;
            stored.added += 1;
        }
    }
    let to = (target.team, target.site);
    import::add(session.conn(), to, &batch).await?;
    session.commit_unrecorded().await?;
    Ok(stored)
}

/// A line: an item, or more verdicts and notes of one.
#[derive(Debug, Deserialize)]
pub struct Line {
    /// The item.
    pub id: MediaId,
    /// The number of the line, if the item has further ones. The first one has none.
    pub page: Option<u32>,
    status: Option<String>,
    content_type: Option<String>,
    app_media_id: Option<String>,
    author: Option<String>,
    body: Option<String>,
    content_url: Option<String>,
    metadata: Option<String>,
    created_at: Option<DateTime<Utc>>,
    content_removed_at: Option<DateTime<Utc>>,
    traceparent: Option<String>,
    /// The versions that judge it.
    #[serde(default)]
    pub group_versions: Vec<Uuid>,
    verdict: Option<i16>,
    waiting_since: Option<DateTime<Utc>>,
    image: Option<GivenImage>,
    analysis: Option<GivenAnalysis>,
    verdicts: Vec<GivenVerdict>,
    notes: Vec<GivenNote>,
}

#[derive(Debug, Deserialize)]
struct GivenImage {
    format: Option<String>,
    width: Option<i32>,
    height: Option<i32>,
    sha256: Option<String>,
    pdq: Option<String>,
    pdq_quality: Option<i16>,
    problem: Option<String>,
    base64: Option<String>,
}

#[derive(Debug, Deserialize)]
struct GivenAnalysis {
    scores: Option<Box<RawValue>>,
    providers: Box<RawValue>,
    unchecked: Box<RawValue>,
    gaps: Option<Box<RawValue>>,
    image_scored: Option<bool>,
    created_at: DateTime<Utc>,
}

#[derive(Debug, Deserialize)]
struct GivenVerdict {
    number: i16,
    status: String,
    previous_status: String,
    moderation_type: String,
    details: Box<RawValue>,
    trace: Box<RawValue>,
    moderated_at: DateTime<Utc>,
}

#[derive(Debug, Deserialize)]
struct GivenNote {
    id: Uuid,
    actor_id: Uuid,
    body: String,
    written_at: DateTime<Utc>,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WrongLine(pub String);

impl Line {
    /// Reads a line.
    ///
    /// # Errors
    /// It is no line of an archive.
    pub fn parse(line: &str) -> Result<Self, WrongLine> {
        // serde's message could quote content.
        serde_json::from_str(line).map_err(|error| {
            WrongLine(format!(
                "it is no item, at character {} of the line",
                error.column()
            ))
        })
    }

    /// Whether it is an item without a verdict.
    pub fn is_pending(&self) -> bool {
        self.page.is_none() && self.status.as_deref() == Some(Status::Pending.as_str())
    }

    /// Adds the item to a batch. `here` says what a version of the archive is in this database.
    ///
    /// # Errors
    /// It is not as an export writes it.
    pub(super) fn add_to(
        self,
        batch: &mut import::Batch,
        here: impl Fn(&Uuid) -> Option<Uuid>,
    ) -> Result<(), WrongLine> {
        let media = self.id;
        let wrong = |what: &str| WrongLine(format!("item {media}: {what}"));
        self.check().map_err(wrong)?;
        let missing = |name: &str| WrongLine(format!("item {media} has no `{name}`"));
        let versions = self.group_versions.iter().map(here);
        let versions: Option<Vec<Uuid>> = versions.collect();
        let verdict = self.verdict.ok_or_else(|| missing("verdict"))?;
        batch.items.push(import::Item {
            id: media,
            status: self.status.ok_or_else(|| missing("status"))?,
            content_type: self.content_type.ok_or_else(|| missing("content_type"))?,
            app_media_id: self.app_media_id,
            author: self.author,
            body: self.body,
            content_url: self.content_url,
            metadata: self.metadata,
            created_at: self.created_at.ok_or_else(|| missing("created_at"))?,
            content_removed_at: self.content_removed_at,
            traceparent: self.traceparent,
            group_versions: versions
                .ok_or_else(|| wrong("the archive has not all versions that judged it"))?,
            verdict,
            waiting_since: self.waiting_since,
        });
        if let Some(image) = self.image {
            batch.images.push(import::Image {
                media_id: media,
                format: image.format,
                base64: image.base64,
                width: image.width,
                height: image.height,
                sha256: image.sha256,
                pdq: image.pdq,
                pdq_quality: image.pdq_quality,
                problem: image.problem,
            });
        }
        if let Some(analysis) = self.analysis {
            batch.analyses.push(import::Analysis {
                media_id: media,
                scores: analysis.scores.map(text),
                providers: text(analysis.providers),
                unchecked: text(analysis.unchecked),
                gaps: analysis.gaps.map(text),
                image_scored: analysis.image_scored,
                created_at: analysis.created_at,
            });
        }
        add_history(media, self.verdicts, self.notes, batch);
        Ok(())
    }

    /// Adds only the verdicts and notes to a batch.
    pub(super) fn add_history_to(self, batch: &mut import::Batch) {
        add_history(self.id, self.verdicts, self.notes, batch);
    }

    /// The bounds that submissions have, because the rest of Gatehouse relies on them; and names that this version knows.
    fn check(&self) -> Result<(), &'static str> {
        fn bytes(text: Option<&String>) -> usize {
            text.map_or(0, String::len)
        }
        fn chars(text: Option<&String>) -> usize {
            text.map_or(0, |text| text.chars().count())
        }
        let limits = SubmissionLimits::default();
        let status = self.status.as_deref().unwrap_or_default();
        let kind = self.content_type.as_deref().unwrap_or_default();
        let image = self.image.as_ref().and_then(|image| image.base64.as_ref());
        let numbers = self
            .verdicts
            .iter()
            .map(|verdict| i32::from(verdict.number));
        let in_first_line = i32::from(self.verdict.unwrap_or(0)).min(PAGE);
        for (is_wrong, what) in [
            (
                status.parse::<Status>().is_err() || kind.parse::<ContentType>().is_err(),
                "this version does not know its status or its content type",
            ),
            (
                bytes(self.body.as_ref()) > limits.text
                    || bytes(self.metadata.as_ref()) > limits.metadata
                    || bytes(self.content_url.as_ref()) > MAX_CONTENT_URL
                    || chars(self.app_media_id.as_ref()) > MAX_APP_MEDIA_ID
                    || chars(self.author.as_ref()) > Author::LONGEST
                    || bytes(image) > limits.image.div_ceil(3) * 4,
                "it is larger than a submission can be",
            ),
            (
                !numbers.eq(1..=in_first_line),
                "some of its verdicts are missing",
            ),
        ] {
            if is_wrong {
                return Err(what);
            }
        }
        Ok(())
    }
}

fn add_history(
    media: MediaId,
    verdicts: Vec<GivenVerdict>,
    notes: Vec<GivenNote>,
    batch: &mut import::Batch,
) {
    batch
        .verdicts
        .extend(verdicts.into_iter().map(|verdict| import::Verdict {
            media_id: media,
            number: verdict.number,
            status: verdict.status,
            previous_status: verdict.previous_status,
            moderation_type: verdict.moderation_type,
            details: text(verdict.details),
            trace: text(verdict.trace),
            moderated_at: verdict.moderated_at,
        }));
    batch
        .notes
        .extend(notes.into_iter().map(|note| import::Note {
            id: note.id,
            media_id: media,
            actor_id: note.actor_id,
            body: note.body,
            written_at: note.written_at,
        }));
}

fn text(json: Box<RawValue>) -> String {
    Box::<str>::from(json).into()
}
