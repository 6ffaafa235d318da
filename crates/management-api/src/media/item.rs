//! A media item with everything about it.

use std::collections::HashMap;

use api_common::{Field, RawJson, Schema, Time};
use domain::{
    decision::Unchecked,
    id::MediaId,
    image::ImageFormat,
    media::{ContentType, Modality, Status},
};
use serde::Serialize;
use serde_json::{Value, json};
use store::{
    analysis::ProviderReport,
    media::{self, KnownImage},
};
use uuid::Uuid;

use super::history::{MediaEvent, MediaVerdict};
use crate::example_values;

/// A media item: what was submitted, and everything that happened to it.
#[derive(Serialize, Schema)]
pub(crate) struct MediaItem {
    /// The item.
    id: Uuid,
    /// Its team.
    team_id: Uuid,
    /// The site that owns it.
    site_id: Uuid,
    /// The application's own identifier.
    #[schema(nullable)]
    app_media_id: Option<String>,
    /// Its author, from its metadata. `null` if its site had no `author_pointer` when it was accepted, or if it led nowhere.
    #[schema(nullable)]
    author: Option<String>,
    /// Its trace, as `trace.id` in the log and in the `traceparent` of its webhooks: 32 hexadecimal digits. It is the trace
    /// of the `traceparent` with which it was submitted. Without one, it has the digits of its ID.
    trace_id: String,
    /// `image` if it has an image, otherwise `text`.
    content_type: Field<ContentType>,
    /// Its status.
    status: Field<Status>,
    /// The number of the verdict in force, for `expected_verdict`. `null` while it is pending.
    #[schema(nullable)]
    verdict: Option<i16>,
    /// When it was accepted.
    created_at: Field<Time>,
    /// When its content was removed: `body`, `content_url`, `metadata`, the image, notes, and what providers said word for
    /// word. `null` if it was not (`content_retention_days` of its site).
    #[schema(nullable)]
    content_removed_at: Option<Field<Time>>,
    /// When everything that was stored about it was erased, but its times and verdicts. `null` if it was not.
    #[schema(nullable)]
    erased_at: Option<Field<Time>>,
    /// The text that was submitted.
    #[schema(nullable)]
    body: Option<String>,
    /// The URL from which its image is fetched.
    #[schema(nullable)]
    content_url: Option<String>,
    /// The format of its image, by its first bytes. `null` if no image is kept. `getMediaImage` returns the image itself.
    #[schema(nullable)]
    image_format: Option<Field<ImageFormat>>,
    /// The size of that image in bytes.
    #[schema(nullable)]
    image_bytes: Option<u32>,
    /// What is known about its image, also when it is no longer kept. `null` until it was examined.
    #[schema(nullable)]
    image: Option<MediaImage>,
    /// What was submitted as `metadata`, unchanged.
    #[schema(nullable)]
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
#[derive(Serialize, Schema)]
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

/// What the providers answered about an item.
#[derive(Serialize, Schema)]
struct MediaAnalysis {
    /// Scores from 0 to 1 by category: the highest of all providers, of text and image. `null` if no provider could score
    /// it.
    #[schema(nullable)]
    scores: Option<RawJson<HashMap<String, f64>>>,
    /// What each provider answered.
    providers: Vec<ProviderAnswer>,
    /// What could not be checked.
    unchecked: Vec<MediaUnchecked>,
    /// When the analysis ended.
    created_at: Field<Time>,
}

/// What one provider answered about an item.
#[derive(Serialize, Schema)]
struct ProviderAnswer {
    /// The provider's name.
    provider: String,
    /// What it was shown: the item's text or its image.
    modality: Field<Modality>,
    /// Its scores from 0 to 1 by category. Categories that it could not score are absent.
    scores: HashMap<String, f64>,
    /// How long it took, in milliseconds.
    elapsed_ms: u64,
    /// In one word, why it failed for good, so that another provider was asked. `null` if it did not fail. More values may
    /// be added.
    #[schema(nullable)]
    failure: Option<String>,
    /// Its answer in its own words, up to 64 KiB. `null` if it answers with scores only.
    #[schema(nullable)]
    raw: Option<String>,
    /// The earlier item of the same site with an equal text whose answer was used again. `null` if the provider was asked
    /// about this item.
    #[schema(nullable)]
    cached_from: Option<Uuid>,
}

/// Something about an item that could not be checked.
#[derive(Serialize, Schema)]
struct MediaUnchecked {
    /// What it is, for programs. More values may be added.
    what: String,
    /// The same for people.
    message: String,
}

impl TryFrom<media::Analysis> for MediaAnalysis {
    type Error = store::Error;

    fn try_from(analysis: media::Analysis) -> Result<Self, store::Error> {
        let providers: Vec<ProviderReport> = serde_json::from_str(analysis.providers.get())?;
        let unchecked: Vec<Unchecked> = serde_json::from_str(analysis.unchecked.get())?;
        let providers = providers.into_iter().map(ProviderAnswer::from).collect();
        Ok(Self {
            scores: analysis.scores.map(RawJson::from),
            providers,
            unchecked: unchecked.iter().map(MediaUnchecked::from).collect(),
            created_at: analysis.created_at.into(),
        })
    }
}

impl From<ProviderReport> for ProviderAnswer {
    fn from(report: ProviderReport) -> Self {
        let scores = report
            .scores
            .iter()
            .map(|(category, score)| (category.to_string(), score));
        Self {
            provider: report.provider,
            modality: Field(report.modality),
            scores: scores.collect(),
            elapsed_ms: report.elapsed_ms,
            failure: report.failure,
            raw: report.raw,
            cached_from: report.cached_from.map(MediaId::as_uuid),
        }
    }
}

impl From<&Unchecked> for MediaUnchecked {
    /// Details of a provider failure can reveal addresses in our network, so they are not shown.
    fn from(unchecked: &Unchecked) -> Self {
        Self {
            what: unchecked.what().to_owned(),
            message: unchecked.to_string(),
        }
    }
}

/// What is known about an item's image.
#[derive(Serialize, Schema)]
pub(crate) struct MediaImage {
    /// The width in pixels. `null` if it was not decoded.
    #[schema(nullable)]
    width: Option<u32>,
    /// The height in pixels. `null` if it was not decoded.
    #[schema(nullable)]
    height: Option<u32>,
    /// The SHA-256 of the file as it was submitted, in hexadecimal digits. `null` if there never was a file.
    #[schema(nullable)]
    sha256: Option<String>,
    /// The PDQ hash of the picture, in hexadecimal digits. `null` if the picture has too few features.
    #[schema(nullable)]
    pdq: Option<String>,
    /// The quality of the PDQ hash, from 0 to 100. Hashes are worth comparing from 50 on.
    #[schema(nullable)]
    pdq_quality: Option<u8>,
    /// Why it could not be analysed. `null` if it could.
    #[schema(nullable)]
    problem: Option<MediaUnchecked>,
}

impl MediaImage {
    /// `None` before the image was examined.
    pub(crate) fn of(image: KnownImage) -> Option<Self> {
        let problem = image
            .problem
            .map(|problem| MediaUnchecked::from(&Unchecked::ImageNotAnalysed { problem }));
        (image.sha256.is_some() || problem.is_some()).then(|| Self {
            width: image.size.map(|(width, _)| width),
            height: image.size.map(|(_, height)| height),
            sha256: image.sha256.map(|hash| hash.to_string()),
            pdq: image.pdq.map(|hash| hash.to_string()),
            pdq_quality: image.pdq_quality,
            problem,
        })
    }
}

/// An item that a moderator has approved.
pub(crate) fn example() -> Value {
    json!({
        "id": example_values::MEDIA,
        "team_id": example_values::TEAM,
        "site_id": example_values::SITE,
        "app_media_id": "comment-4711",
        "author": "u-17",
        "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
        "content_type": "text",
        "status": "approved",
        "verdict": 2,
        "created_at": example_values::CREATED_AT,
        "body": "Is this seat taken?",
        "content_removed_at": null,
        "erased_at": null,
        "content_url": null,
        "image_format": null,
        "image_bytes": null,
        "image": null,
        "metadata": { "user": { "id": "u-17" } },
        "rule_group_versions": [{
            "id": "01980f6d-05aa-7bbb-8ccc-0123456789ab",
            "number": 3,
            "rule_group_id": example_values::RULE_GROUP,
            "rule_group_name": "House rules",
        }],
        "analyses": [{
            "scores": { "adult": 0.01, "violence": 0.62 },
            "providers": [{
                "provider": "builtin",
                "modality": "text",
                "scores": { "adult": 0.01, "violence": 0.62 },
                "elapsed_ms": 3,
                "failure": null,
                "raw": null,
                "cached_from": null,
            }],
            "unchecked": [],
            "created_at": example_values::CREATED_AT,
        }],
        "verdicts": [
            {
                "number": 2,
                "status": "approved",
                "previous_status": "pending_review",
                "moderation_type": "manual",
                "details": { "rule_violations": [], "reason": "Satire, clearly marked as such." },
                "trace": {
                    "moderator": { "token_id": example_values::TOKEN, "token_name": "Ada's console" },
                    "reason": "Satire, clearly marked as such.",
                },
                "moderated_at": "2026-01-31T14:30:00.123456Z",
            },
            {
                "number": 1,
                "status": "pending_review",
                "previous_status": "pending",
                "moderation_type": "ai",
                "details": {
                    "rule_violations": [],
                    "reason": "Review requested by `Violence`.",
                    "flagged_categories": ["violence"],
                },
                "trace": { "evidence": [], "unchecked": [], "unscored": [] },
                "moderated_at": "2026-01-31T12:00:00.523456Z",
            },
        ],
        "events": [{
            "id": "01980f6d-06aa-7bbb-8ccc-0123456789ab",
            "kind": "media.moderated",
            "verdict": 2,
            "occurred_at": "2026-01-31T14:30:00.123456Z",
            "deliveries": [{
                "id": "01980f6d-07aa-7bbb-8ccc-0123456789ab",
                "endpoint_id": "01980f6d-08aa-7bbb-8ccc-0123456789ab",
                "state": "delivered",
                "attempts": 1,
                "next_attempt_at": null,
                "ended_at": "2026-01-31T14:30:00.423456Z",
            }],
        }],
    })
}
