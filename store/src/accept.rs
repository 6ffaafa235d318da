//! Accepting submissions: media, event, deliveries and jobs of many submissions in one statement, which is one
//! transaction. Only when it has committed is a submission answered.
//!
//! The statement itself checks the site key and the site's revision, so a key that was rotated, an endpoint that was
//! added or a group that was published a moment ago counts for every submission accepted after it.

mod rejection;
mod writer;

use std::{collections::HashSet, sync::Arc, time::Duration};

use domain::{
    event::EventKind,
    id::{DeliveryId, EventId, MediaId},
    key::SecretHash,
    submission::{ImageSource, Submission},
};
use queue::{NewJobs, Queue};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use self::rejection::Rejection;
use crate::{
    Error,
    gather::{Bounds, Gather},
    jobs,
    site::{Judges, Site},
};

/// A submission prepared for one revision of its site.
#[derive(Debug)]
pub struct NewMedia {
    /// The item's id, version 7.
    pub id: MediaId,
    /// The key that it was submitted with.
    pub key: SecretHash,
    /// The site, at the revision that all the rest depends on.
    pub site: Arc<Site>,
    /// What judges it.
    pub judges: Judges,
    /// What was submitted.
    pub submission: Submission,
}

/// What became of a prepared submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// Committed.
    Accepted,
    /// The key or the site is no longer what the submission was prepared for. Nothing was stored: prepare it again.
    Stale,
    /// Postgres did not take it in time. It may be stored all the same when a connection broke during the commit.
    Unavailable,
    /// Postgres refuses this very row, which the checks before should have refused. Nothing was stored.
    Refused,
}

/// How submissions are gathered and how long they may wait for Postgres.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The gathering's bounds.
    pub bounds: Bounds,
    /// How long a batch may wait out an outage of Postgres.
    pub patience: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            bounds: Bounds {
                waiting: 4_096,
                waiting_bytes: 256 << 20,
                batch: 256,
                batch_bytes: 16 << 20,
                // While one batch commits, the next one fills: a second writer would halve the batches and double
                // their number.
                runners: 1,
            },
            patience: Duration::from_secs(10),
        }
    }
}

/// Takes submissions of all callers of this process and writes them in batches.
#[derive(Clone)]
pub struct Acceptor {
    gather: Gather<NewMedia, Acceptance>,
}

impl Acceptor {
    /// Starts the writer. Through `queue` the workers hear of new jobs after each commit.
    pub fn start(pool: PgPool, queue: Queue, settings: Settings) -> Self {
        Rejection::expect_none();
        let gather = Gather::start(settings.bounds, move |batch| {
            writer::write(pool.clone(), queue.clone(), settings.patience, batch)
        });
        Self { gather }
    }

    /// Stores a submission together with everything that follows from it, or nothing.
    ///
    /// # Errors
    /// [`Error::Overloaded`] at once when too much is waiting.
    pub async fn accept(&self, media: NewMedia) -> Result<Acceptance, Error> {
        let weight = media.submission.weight();
        let answer = self.gather.ask(media, weight).await;
        if let Err(Error::Overloaded) = &answer {
            Rejection::Overloaded.count(1);
        }
        answer
    }

    /// How many submissions wait for a writer.
    pub fn waiting(&self) -> usize {
        self.gather.waiting()
    }
}

/// The columns of a batch. What belongs to one submission refers to it by `ordinal`, which counts from 1.
#[derive(Default)]
struct Columns<'a> {
    id: Vec<Uuid>,
    event: Vec<Uuid>,
    key_hash: Vec<&'a [u8]>,
    revision: Vec<i64>,
    content_type: Vec<&'static str>,
    app_media_id: Vec<Option<&'a str>>,
    body: Vec<Option<&'a str>>,
    content_url: Vec<Option<&'a str>>,
    metadata: Vec<Option<&'a str>>,
    /// Arrays of UUIDs as text, because arrays of arrays of different lengths cannot be bound.
    group_versions: Vec<String>,
    image: ImageColumns<'a>,
    delivery: DeliveryColumns,
    job_ordinal: Vec<i64>,
    jobs: NewJobs,
}

#[derive(Default)]
struct ImageColumns<'a> {
    ordinal: Vec<i64>,
    format: Vec<&'static str>,
    bytes: Vec<&'a [u8]>,
}

#[derive(Default)]
struct DeliveryColumns {
    ordinal: Vec<i64>,
    id: Vec<Uuid>,
    endpoint: Vec<Uuid>,
}

impl<'a> Columns<'a> {
    fn of(batch: impl IntoIterator<Item = &'a NewMedia>) -> Self {
        let mut columns = Self::default();
        for media in batch {
            columns.push(media);
        }
        columns
    }

    fn push(&mut self, media: &'a NewMedia) {
        let ordinal = i64::try_from(self.id.len() + 1).expect("batches are small");
        let NewMedia {
            id,
            key,
            site,
            judges,
            submission,
        } = media;
        self.id.push(id.as_uuid());
        self.event.push(EventId::from(Uuid::now_v7()).as_uuid());
        self.key_hash.push(key.as_bytes());
        self.revision.push(site.revision);
        self.content_type.push(submission.content_type().as_str());
        self.app_media_id.push(submission.app_media_id.as_deref());
        self.body.push(submission.body.as_deref());
        self.metadata
            .push(submission.metadata.as_ref().map(|metadata| metadata.get()));
        let versions: Vec<String> = judges.versions.iter().map(ToString::to_string).collect();
        self.group_versions
            .push(format!("{{{}}}", versions.join(",")));

        let mut url = None;
        match &submission.image {
            Some(ImageSource::Url(source)) => url = Some(source.as_str()),
            Some(ImageSource::Inline { format, bytes }) => {
                self.image.ordinal.push(ordinal);
                self.image.format.push(format.as_str());
                self.image.bytes.push(bytes);
            }
            None => {}
        }
        self.content_url.push(url);

        let next = if judges.uses_ai {
            jobs::analyse(*id, site.team)
        } else {
            jobs::judge(*id, site.team)
        };
        self.job_ordinal.push(ordinal);
        self.jobs.push(next);
        let subscribed = site
            .endpoints
            .iter()
            .filter(|e| e.events.contains(&EventKind::MediaCreated));
        for endpoint in subscribed {
            let delivery = DeliveryId::from(Uuid::now_v7());
            self.delivery.ordinal.push(ordinal);
            self.delivery.id.push(delivery.as_uuid());
            self.delivery.endpoint.push(endpoint.id.as_uuid());
            self.job_ordinal.push(ordinal);
            self.jobs.push(jobs::deliver(delivery, endpoint.id));
        }
    }
}

/// What an insert has stored.
struct Stored {
    media: HashSet<MediaId>,
    /// What was enqueued with it.
    jobs: NewJobs,
}

/// Stores those of the batch that still fit their site, and says which.
async fn insert(conn: &mut PgConnection, batch: &[&NewMedia]) -> Result<Stored, sqlx::Error> {
    let columns = Columns::of(batch.iter().copied());
    let jobs = columns.jobs.columns()?;
    let accepted = sqlx::query_scalar!(
        r#"
        with input as materialized (
            select *
            from unnest(
                $1::uuid [], $2::uuid [], $3::bytea [], $4::bigint [], $5::text [], $6::text [], $7::text [],
                $8::text [], $9::text [], $10::text []
            ) with ordinality as i (
                id, event_id, key_hash, revision, content_type, app_media_id, body,
                content_url, metadata, group_versions, ordinal
            )
        ),
        admitted as materialized (
            select i.*, s.id as site_id, s.team_id
            from input i
            join site_keys k on k.hash = i.key_hash and k.disabled_at is null
            join sites s on s.id = k.site_id and s.revision = i.revision
        ),
        new_media as (
            insert into media
                (id, team_id, site_id, content_type, app_media_id, body, content_url, metadata, group_versions)
            select
                id, team_id, site_id, content_type, app_media_id, body, content_url, metadata::json,
                group_versions::uuid []
            from admitted
        ),
        new_images as (
            insert into media_images (media_id, format, bytes)
            select a.id, i.format, i.bytes
            from unnest($11::bigint [], $12::text [], $13::bytea []) as i (ordinal, format, bytes)
            join admitted a using (ordinal)
        ),
        new_events as (
            insert into events (id, media_id, site_id, kind)
            select event_id, id, site_id, 'media.created' from admitted
        ),
        new_deliveries as (
            insert into deliveries (id, event_id, endpoint_id)
            select d.id, a.event_id, d.endpoint_id
            from unnest($14::bigint [], $15::uuid [], $16::uuid []) as d (ordinal, id, endpoint_id)
            join admitted a using (ordinal)
        ),
        new_jobs as (
            select queue.enqueue(
                array_agg(j.queue), array_agg(j.lane), array_agg(j.payload), array_agg(j.priority),
                array_agg(j.delay_ms), array_agg(j.max_attempts)
            )
            from unnest(
                $17::bigint [], $18::text [], $19::uuid [], $20::text [], $21::smallint [], $22::bigint [],
                $23::smallint []
            ) as j (ordinal, queue, lane, payload, priority, delay_ms, max_attempts)
            join admitted a using (ordinal)
        )
        -- Reading new_jobs makes it run.
        select a.id as "id!" from admitted a cross join new_jobs
        "#,
        &columns.id,
        &columns.event,
        &columns.key_hash as &[&[u8]],
        &columns.revision,
        &columns.content_type as &[&str],
        &columns.app_media_id as &[Option<&str>],
        &columns.body as &[Option<&str>],
        &columns.content_url as &[Option<&str>],
        &columns.metadata as &[Option<&str>],
        &columns.group_versions,
        &columns.image.ordinal,
        &columns.image.format as &[&str],
        &columns.image.bytes as &[&[u8]],
        &columns.delivery.ordinal,
        &columns.delivery.id,
        &columns.delivery.endpoint,
        &columns.job_ordinal,
        jobs.queues as &[&str],
        jobs.lanes,
        jobs.payloads,
        jobs.priorities,
        jobs.delays_ms,
        jobs.max_attempts,
    )
    .fetch_all(conn)
    .await?;
    let media: HashSet<MediaId> = accepted.into_iter().map(MediaId::from).collect();
    let jobs = if media.len() == batch.len() {
        columns.jobs
    } else {
        jobs_of(batch, &media)
    };
    Ok(Stored { media, jobs })
}

/// The jobs that came with those of the batch that are stored.
fn jobs_of(batch: &[&NewMedia], stored: &HashSet<MediaId>) -> NewJobs {
    Columns::of(
        batch
            .iter()
            .copied()
            .filter(|media| stored.contains(&media.id)),
    )
    .jobs
}

/// Which of these items exist: what a commit whose answer was lost has stored.
async fn existing(
    conn: &mut PgConnection,
    media: &[&NewMedia],
) -> Result<HashSet<MediaId>, sqlx::Error> {
    let ids: Vec<Uuid> = media.iter().map(|media| media.id.as_uuid()).collect();
    let found = sqlx::query_scalar!("select id from media where id = any($1)", &ids)
        .fetch_all(conn)
        .await?;
    Ok(found.into_iter().map(MediaId::from).collect())
}
