//! The images step. An item's image is fetched (unless it was sent inline), decoded, hashed, and
//! looked up in hash lists. If it cannot be fetched or read, the problem is recorded and the item
//! continues: its text is judged, and the site's `on_failure` decides about the image.

use std::time::Duration;

use apalis::prelude::{BoxDynError, Data};
use bytes::Bytes;
use chrono::Utc;
use domain::{
    decision::ImageProblem,
    id::{MediaId, TeamId},
    image::{ImageFormat, MAX_IMAGE_BYTES},
    image_hash::{HashMatch, Hashed, Sha256Digest},
    webhook::retry_after,
};
use metrics::{Histogram, counter, histogram};
use queue::{Finish, Run};
use store::{
    PgPool,
    gather::Loader,
    image::{self, Examined, Source, ToExamine},
    jobs::{Marks, MediaJob},
};
use telemetry::trace::Current;
use tokio::{task::block_in_place, time::timeout};
use tracing::{debug, info};

use crate::{
    decode_pool::{DecodePool, Held},
    hash_lists::HashLists,
    job_retries::{RETRY, later},
    outbound::{Fetch, FetchError, Outbound, OutboundError},
    trace_span::{enter, traced},
};

/// How long one run may take: waiting for room, fetching, and waiting for a turn to decode.
pub(crate) const EXAMINATION_DEADLINE: Duration = Duration::from_mins(2);
/// How long a run waits for room for its file. Then it goes back to the queue.
const ROOM_PATIENCE: Duration = Duration::from_secs(20);
/// What the step works with.
#[derive(Clone)]
pub(crate) struct Examiner {
    images: Loader<MediaId, ToExamine>,
    pool: PgPool,
    outbound: Outbound,
    decode_pool: DecodePool,
    lists: HashLists,
}

impl Examiner {
    /// Fetches through `outbound`, decodes in `decode_pool`, and looks pictures up in `lists`.
    pub(crate) fn new(
        pool: PgPool,
        outbound: Outbound,
        decode_pool: DecodePool,
        lists: HashLists,
    ) -> Self {
        // Set to 0 at the start. Otherwise Prometheus would not see the first increase.
        for outcome in OUTCOMES {
            examined(outcome).increment(0);
        }
        expect_none();
        Self {
            images: image::loader(pool.clone()),
            pool,
            outbound,
            decode_pool,
            lists,
        }
    }
}

/// How a run ends.
type Ended = Finish<Option<Examined>>;

/// Runs one job. A server that may answer later is asked again, as long as there are attempts.
pub(crate) async fn examine(
    job: MediaJob,
    examiner: Data<Examiner>,
    run: Run,
    trace: Data<Current>,
) -> Result<Ended, BoxDynError> {
    let running = async {
        let mut ended = examiner.run(job.media, &run).await?;
        if let Finish::Done(Some(examined)) = &mut ended {
            examined.marks = job.marks();
        }
        Ok(ended)
    };
    traced(&trace, &run, job.media, running).await
}

impl Examiner {
    async fn run(&self, media: MediaId, run: &Run) -> Result<Ended, BoxDynError> {
        let Some(item) = self.images.load(media).await? else {
            return Ok(Finish::Done(None));
        };
        enter(item.trace, run);
        let Some(_room) = self.room(&item).await else {
            return Ok(crowded());
        };
        let file = match &item.source {
            Source::Stored(_) => image::bytes(&self.pool, item.media).await?,
            Source::Url(url) => match self.fetch(item.team, url).await {
                Ok(file) => Some(file),
                Err(FetchError::Outbound(OutboundError::Busy(_))) => return Ok(crowded()),
                Err(error) if error.is_passing() && !run.is_last_attempt() => {
                    debug!(media.id = %item.media, %error, "could not fetch an image; trying again");
                    return Ok(again(&error, *run));
                }
                Err(error) => {
                    // Once for each item: a server that always fails must not fill the log with every attempt.
                    info!(media.id = %item.media, attempts = run.attempt, %error, "could not fetch an image");
                    return Ok(done(&item, Err(not_had(&error)), None));
                }
            },
            Source::Gone => None,
        };
        let Some(file) = file else {
            return Ok(done(&item, Err(ImageProblem::NotFetched), None));
        };
        self.look(&item, file).await
    }

    async fn room(&self, item: &ToExamine) -> Option<Held> {
        let bytes = match &item.source {
            Source::Stored(bytes) => *bytes,
            // A server can lie about the size of its file.
            Source::Url(_) => MAX_IMAGE_BYTES,
            Source::Gone => 0,
        };
        let room = self.decode_pool.hold(item.team, bytes);
        timeout(ROOM_PATIENCE, room).await.ok()
    }

    /// Stores a fetched file and examines it.
    async fn look(&self, item: &ToExamine, file: Vec<u8>) -> Result<Ended, BoxDynError> {
        #[expect(clippy::cast_precision_loss, reason = "files have up to 10 MiB")]
        sizes().record(file.len() as f64);
        let format = ImageFormat::sniff(&file);
        if let (Source::Url(_), Some(format)) = (&item.source, format)
            && !image::keep(&self.pool, item.media, format, &file).await?
        {
            // Either the file is stored already or the item was decided. The next run finds out
            // which.
            return Err("another run has fetched the image".into());
        }
        let file = Bytes::from(file);
        let original = file.clone();
        let known = self
            .decode_pool
            .decode(item.team, file.clone(), move |picture| {
                let (width, height) = (picture.width(), picture.height());
                let hashed = Hashed::new(&original, picture.rgb(), width, height);
                Ok(((width, height), hashed))
            });
        let known = known.await;
        // A file that cannot be decoded may still be on a list.
        let undecoded = || Hashed {
            sha256: block_in_place(|| Sha256Digest::of(&file)),
            pdq: None,
            quality: 0,
        };
        let hashed = known.map_or_else(|_| undecoded(), |(_, hashed)| hashed);
        let matches = self.lists.matches(item.team, &hashed).await?;
        let size = known.map(|(size, _)| size);
        Ok(done(item, size, Some((hashed, matches))))
    }
}

/// The same job again after a random delay. The item did not cause the lack of room.
fn crowded() -> Ended {
    later(Duration::from_secs_f64(1.0 + 4.0 * rand::random::<f64>()))
}

fn done(
    item: &ToExamine,
    size: Result<(u32, u32), ImageProblem>,
    hashed: Option<(Hashed, Vec<HashMatch>)>,
) -> Ended {
    let (hashed, matches) = hashed.unzip();
    let problem = size.err();
    let outcome = problem.map_or(EXAMINED, ImageProblem::as_str);
    examined(outcome).increment(1);
    if problem == Some(ImageProblem::Undecodable) {
        debug!(media.id = %item.media, "could not decode an image");
    }
    Finish::Done(Some(Examined {
        media: item.media,
        team: item.team,
        uses_ai: item.uses_ai,
        size: size.ok(),
        hashed,
        matches: matches.unwrap_or_default(),
        problem,
        marks: Marks::default(),
    }))
}

const EXAMINED: &str = "examined";
const OUTCOMES: [&str; 5] = [
    EXAMINED,
    ImageProblem::NotFetched.as_str(),
    ImageProblem::TooLarge.as_str(),
    ImageProblem::Unsupported.as_str(),
    ImageProblem::Undecodable.as_str(),
];

fn examined(outcome: &'static str) -> metrics::Counter {
    counter!("gatehouse_images_total", "outcome" => outcome)
}

/// The deadline of one fetch. Five fetches, and the waits between them, take less than two minutes.
const FETCH_DEADLINE: Duration = Duration::from_secs(10);
/// The longest wait between two fetches that a server may ask for.
const LONGEST_WISH: Duration = Duration::from_secs(15);
/// The formats that we ask servers for. The first bytes of the answer tell the actual format.
const ACCEPT: &str = "image/jpeg, image/png, image/gif, image/webp";

impl Examiner {
    async fn fetch(&self, team: TeamId, url: &str) -> Result<Vec<u8>, FetchError> {
        let socket = self.outbound.socket(team).await;
        let socket = socket.map_err(OutboundError::from)?;
        let file = Fetch {
            url,
            accept: ACCEPT,
            limit: MAX_IMAGE_BYTES,
            deadline: FETCH_DEADLINE,
        };
        let fetched = self.outbound.fetch(socket, file).await;
        tried(fetched.as_ref().map_or_else(failure, |_| FETCHED)).increment(1);
        fetched
    }
}

/// The same job again, after the usual delay or when the server asked us to come back. It is not an
/// `Err`, because the queue would log that at each attempt.
fn again(error: &FetchError, run: Run) -> Ended {
    let wish = match error {
        FetchError::Status {
            status,
            retry_after: Some(wish),
        } => retry_after(*status, wish, Utc::now()),
        FetchError::Status { .. }
        | FetchError::Outbound(_)
        | FetchError::Redirect
        | FetchError::Encoded
        | FetchError::TooLarge => None,
    };
    let wish = wish.unwrap_or_default().min(LONGEST_WISH);
    Finish::Again {
        effect: None,
        delay: RETRY.delay(run.attempt).max(wish),
        charged: true,
    }
}

fn not_had(error: &FetchError) -> ImageProblem {
    match error {
        FetchError::TooLarge => ImageProblem::TooLarge,
        FetchError::Outbound(_)
        | FetchError::Status { .. }
        | FetchError::Redirect
        | FetchError::Encoded => ImageProblem::NotFetched,
    }
}

/// Sets the counters of all outcomes to 0. Otherwise Prometheus would not see the first increase.
fn expect_none() {
    for outcome in FETCHES {
        tried(outcome).increment(0);
    }
    let _shown = sizes();
}

/// The sizes of files.
fn sizes() -> Histogram {
    histogram!("gatehouse_image_bytes")
}

const FETCHED: &str = "fetched";
/// [`FETCHED`], and all values of [`failure`].
const FETCHES: [&str; 11] = [
    FETCHED,
    "refused",
    "busy",
    "timeout",
    "connect",
    "tls",
    "protocol",
    "status",
    "redirect",
    "encoded",
    "too_large",
];

fn tried(outcome: &'static str) -> metrics::Counter {
    counter!("gatehouse_image_fetches_total", "outcome" => outcome)
}

/// The value of the metric label `outcome` for a failed fetch.
const fn failure(error: &FetchError) -> &'static str {
    match error {
        FetchError::Outbound(OutboundError::Refused(_)) => "refused",
        FetchError::Outbound(OutboundError::Busy(_)) => "busy",
        FetchError::Outbound(OutboundError::Timeout) => "timeout",
        FetchError::Outbound(OutboundError::Connect(_)) => "connect",
        FetchError::Outbound(OutboundError::Tls(_)) => "tls",
        FetchError::Outbound(OutboundError::Protocol(_)) => "protocol",
        FetchError::Status { .. } => "status",
        FetchError::Redirect => "redirect",
        FetchError::Encoded => "encoded",
        FetchError::TooLarge => "too_large",
    }
}
