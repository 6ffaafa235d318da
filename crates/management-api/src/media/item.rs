//! A media item with everything about it.

mod analysis;
mod examples;
mod image;

use std::collections::HashMap;

use api_common::{
    field::{Field, Time},
    raw_json::RawJson,
};
use domain::{
    image::ImageFormat,
    media::{ContentType, Status},
};
use poem_openapi::Object;
use serde::Serialize;
use serde_json::Value;
use store::media;
use uuid::Uuid;

use super::history::{MediaEvent, MediaVerdict};
use analysis::MediaAnalysis;
pub(crate) use image::MediaImage;

pub(super) use examples::example;

/// A media item: what was submitted, and everything that happened to it.
#[derive(Serialize, Object)]
pub(crate) struct MediaItem {
    /// The item.
    id: Uuid,
    /// Its team.
    team_id: Uuid,
    /// The site that owns it.
    site_id: Uuid,
    /// The application's own identifier.
    #[oai(nullable)]
    app_media_id: Option<String>,
    /// Its author, from its metadata. `null` if its site had no `author_pointer` when it was accepted, or if it led nowhere.
    #[oai(nullable)]
    author: Option<String>,
    /// Its trace, as `trace.id` in the log and in the `traceparent` of its webhooks: 32 hexadecimal digits. It is the trace
    /// of the `traceparent` with which it was submitted. Without one, it has the digits of its ID.
    trace_id: String,
    /// `image` if it has an image, otherwise `text`.
    content_type: Field<ContentType>,
    /// Its status.
    status: Field<Status>,
    /// The number of the verdict in force, for `expected_verdict`. `null` while it is pending.
    #[oai(nullable)]
    verdict: Option<i16>,
    /// When it was accepted.
    created_at: Field<Time>,
    /// When its content was removed: `body`, `content_url`, `metadata`, the image, notes, and what providers said word for
    /// word. `null` if it was not (`content_retention_days` of its site).
    #[oai(nullable)]
    content_removed_at: Option<Field<Time>>,
    /// When everything that was stored about it was erased, but its times and verdicts. `null` if it was not.
    #[oai(nullable)]
    erased_at: Option<Field<Time>>,
    /// The text that was submitted.
    #[oai(nullable)]
    body: Option<String>,
    /// The URL from which its image is fetched.
    #[oai(nullable)]
    content_url: Option<String>,
    /// The format of its image, by its first bytes. `null` if no image is kept. `getMediaImage` returns the image itself.
    #[oai(nullable)]
    image_format: Option<Field<ImageFormat>>,
    /// The size of that image in bytes.
    #[oai(nullable)]
    image_bytes: Option<u32>,
    /// What is known about its image, also when it is no longer kept. `null` until it was examined.
    #[oai(nullable)]
    image: Option<MediaImage>,
    /// What was submitted as `metadata`, unchanged.
    #[oai(nullable)]
    metadata: Option<RawJson<HashMap<String, Value>>>,
    /// The versions of rule groups that judge it, in order. They were live when it was accepted.
    rule_group_versions: Vec<PinnedVersion>,
    /// What the providers answered: one analysis, or none if no provider was asked yet.
    analyses: Vec<MediaAnalysis>,
    /// Its last 1,000 verdicts, newest first.
    verdicts: Vec<MediaVerdict>,
    /// Its last 1,000 events that are still kept, newest first.
    events: Vec<MediaEvent>,
}

/// A version of a rule group that judges an item.
#[derive(Serialize, Object)]
struct PinnedVersion {
    /// The version.
    id: Uuid,
    /// Its number. A group's versions count from 1.
    number: i32,
    /// The group.
    rule_group_id: Uuid,
    /// The group's present name.
    rule_group_name: String,
}

impl TryFrom<media::Item> for MediaItem {
    type Error = store::Error;

    fn try_from(item: media::Item) -> Result<Self, store::Error> {
        let analysis = item.analysis.map(MediaAnalysis::try_from).transpose()?;
        let verdicts = item.verdicts.into_iter().map(MediaVerdict::try_from);
        let kept = item.image.filter(|image| image.bytes.is_some());
        Ok(Self {
            id: item.media.as_uuid(),
            team_id: item.team.as_uuid(),
            site_id: item.site.as_uuid(),
            app_media_id: item.app_media_id,
            author: item.author,
            trace_id: item.trace.to_string(),
            content_type: Field(item.content_type),
            status: Field(item.status),
            verdict: item.verdict,
            created_at: item.created_at.into(),
            content_removed_at: item.content_removed_at.map(Field::from),
            erased_at: item.erased_at.map(Field::from),
            body: item.body,
            content_url: item.content_url,
            image_format: kept.and_then(|image| image.format).map(Field),
            image_bytes: kept.and_then(|image| image.bytes),
            image: item.image.and_then(MediaImage::of),
            metadata: item.metadata.map(RawJson::from),
            rule_group_versions: item
                .group_versions
                .into_iter()
                .map(PinnedVersion::from)
                .collect(),
            analyses: analysis.into_iter().collect(),
            verdicts: verdicts.collect::<Result<_, _>>()?,
            events: item.events.into_iter().map(MediaEvent::from).collect(),
        })
    }
}

impl From<media::PinnedVersion> for PinnedVersion {
    fn from(version: media::PinnedVersion) -> Self {
        Self {
            id: version.id.as_uuid(),
            number: version.number,
            rule_group_id: version.group.as_uuid(),
            rule_group_name: version.group_name,
        }
    }
}
