//! A batch as the columns of its statement.

use domain::{
    author::Author,
    event::EventKind,
    id::{DeliveryId, EventId},
    submission::ImageSource,
};
use queue::NewJobs;
use uuid::Uuid;

use super::{NewMedia, routing::Routing};
use crate::{created_event::Created, jobs};

/// The columns of a batch. What belongs to one submission refers to it by `ordinal`, which counts
/// from 1.
#[derive(Default)]
pub(super) struct Columns<'a> {
    pub(super) id: Vec<Uuid>,
    /// The event that tells the acceptance at once; none if the item's job tells it.
    pub(super) event: Vec<Option<Uuid>>,
    pub(super) key_hash: Vec<&'a [u8]>,
    pub(super) revision: Vec<i64>,
    pub(super) content_type: Vec<&'static str>,
    pub(super) app_media_id: Vec<Option<&'a str>>,
    pub(super) body: Vec<Option<&'a str>>,
    pub(super) content_url: Vec<Option<&'a str>>,
    pub(super) metadata: Vec<Option<&'a str>>,
    pub(super) author: Vec<Option<&'a str>>,
    pub(super) idempotency_key: Vec<Option<&'a str>>,
    pub(super) fingerprint: Vec<Option<&'a [u8]>>,
    /// None where the item's id tells the trace.
    pub(super) traceparent: Vec<Option<Vec<u8>>>,
    /// Whether it is judged for one answer only.
    pub(super) transient: Vec<bool>,
    /// Arrays of UUIDs as text, because arrays of arrays of different lengths cannot be bound.
    pub(super) group_versions: Vec<String>,
    /// Whether its image was sent along, and so must be stored by now.
    pub(super) inline: Vec<bool>,
    /// How many webhooks it causes.
    pub(super) webhooks: Vec<i32>,
    pub(super) delivery: DeliveryColumns,
    pub(super) job_ordinal: Vec<i64>,
    pub(super) jobs: NewJobs,
}

#[derive(Default)]
pub(super) struct DeliveryColumns {
    pub(super) ordinal: Vec<i64>,
    pub(super) id: Vec<Uuid>,
    pub(super) endpoint: Vec<Uuid>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(batch: impl IntoIterator<Item = &'a NewMedia>, routing: &Routing) -> Self {
        let mut columns = Self::default();
        for media in batch {
            columns.push(media, routing);
        }
        columns
    }

    fn push(&mut self, media: &'a NewMedia, routing: &Routing) {
        let ordinal = i64::try_from(self.id.len() + 1).expect("batches are small");
        let NewMedia {
            id,
            key,
            site,
            judges,
            submission,
            author,
            idempotency,
            trace,
            arrived: _,
            marks,
            is_transient,
        } = media;
        self.id.push(id.as_uuid());
        self.key_hash.push(key.as_bytes());
        self.revision.push(site.revision);
        self.content_type.push(submission.content_type().as_str());
        self.app_media_id.push(submission.app_media_id.as_deref());
        self.body.push(submission.body.as_deref());
        let idempotency = idempotency.as_ref();
        self.idempotency_key
            .push(idempotency.map(|request| request.key.as_str()));
        self.fingerprint
            .push(idempotency.map(|request| &request.fingerprint.as_bytes()[..]));
        let traceparent = trace.to_store(id.as_uuid().into_bytes());
        self.traceparent.push(traceparent.map(Vec::from));
        self.metadata
            .push(submission.metadata.as_ref().map(|metadata| metadata.get()));
        self.author.push(author.as_ref().map(Author::as_str));
        let versions: Vec<String> = judges.versions.iter().map(ToString::to_string).collect();
        self.group_versions
            .push(format!("{{{}}}", versions.join(",")));

        let (url, inline) = match &submission.image {
            Some(ImageSource::Url(source)) => (Some(source.as_str()), false),
            Some(ImageSource::Inline { .. }) => (None, true),
            None => (None, false),
        };
        self.content_url.push(url);
        self.inline.push(inline);

        self.webhooks.push(media.webhooks());
        self.transient.push(*is_transient);

        let first = if submission.image.is_some() {
            jobs::IMAGES
        } else if judges.uses_ai || marks.all_scores {
            jobs::ANALYSIS
        } else {
            jobs::RULES
        };
        self.job_ordinal.push(ordinal);
        if *is_transient {
            // Nobody is told of its acceptance.
            self.event.push(None);
            self.jobs.push(jobs::begin(first, *id, site.team, *marks));
            return;
        }
        let subscribed = site
            .endpoints
            .iter()
            .filter(|e| e.events.contains(&EventKind::MediaCreated))
            .map(|e| e.id);
        let created = Created {
            media: *id,
            endpoints: subscribed.collect(),
        };
        if routing.is_short(first, site.team) {
            self.event.push(None);
            self.jobs
                .push(jobs::tell_and_begin(first, created, site.team, *marks));
            return;
        }
        self.jobs.push(jobs::begin(first, *id, site.team, *marks));
        let event = EventId::from(created.event());
        self.event.push(Some(event.as_uuid()));
        for endpoint in created.endpoints {
            let delivery = DeliveryId::of(event, endpoint);
            self.delivery.ordinal.push(ordinal);
            self.delivery.id.push(delivery.as_uuid());
            self.delivery.endpoint.push(endpoint.as_uuid());
            self.job_ordinal.push(ordinal);
            let turns = vec![vec![delivery]];
            self.jobs.push(jobs::deliver(turns, endpoint, site.team));
        }
    }
}
