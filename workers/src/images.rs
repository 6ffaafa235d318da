//! Examine: an item's image is fetched, unless it was sent along, decoded, hashed, and looked up in hash lists. What cannot be had or read
//! is noted, and the item goes on: its text is judged all the same, and the site's `on_failure` decides about the rest.

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
use metrics::{counter, histogram};
use queue::{Finish, Run};
use store::{
    PgPool,
    gather::Loader,
    image::{self, Examined, Source, ToExamine},
    jobs::MediaJob,
};
use tokio::{task::block_in_place, time::timeout};
use tracing::{debug, info};

use crate::{
    RETRY,
    darkroom::{Darkroom, Held},
    hash_lists::HashLists,
    outbound::{Fetch, FetchError, Outbound, OutboundError},
};

/// How long one run may take: waiting for room, fetching, and waiting for those whose pictures are developed before.
pub(crate) const EXAMINATION_DEADLINE: Duration = Duration::from_mins(2);
/// One fetch. With the waits between them, five take less than two minutes.
const FETCH_DEADLINE: Duration = Duration::from_secs(10);
/// The longest wait that a server may ask for between two of them.
const LONGEST_WISH: Duration = Duration::from_secs(15);
/// How long a run waits until there is room for its file; then it makes way for others.
const ROOM_PATIENCE: Duration = Duration::from_secs(20);
/// What we ask servers for; what they answer is known by its first bytes.
const ACCEPT: &str = "image/jpeg, image/png, image/gif, image/webp";

/// What the step works with.
#[derive(Clone)]
pub struct Examiner {
    images: Loader<MediaId, ToExamine>,
    pool: PgPool,
    outbound: Outbound,
    darkroom: Darkroom,
    lists: HashLists,
}

impl Examiner {
    /// An examiner who fetches through `outbound`, decodes in `darkroom`, and looks pictures up in `lists`.
    pub fn new(pool: PgPool, outbound: Outbound, darkroom: Darkroom, lists: HashLists) -> Self {
        // Shown as 0 from the start: a counter that first appears with its first image has no increase then.
        for outcome in OUTCOMES {
            examined(outcome).increment(0);
        }
        for outcome in FETCHES {
            tried(outcome).increment(0);
        }
        Self {
            images: image::loader(pool.clone()),
            pool,
            outbound,
            darkroom,
            lists,
        }
    }
}

/// What a run leaves behind.
type Ended = Finish<Option<Examined>>;

/// Runs one job. A server that may answer later is asked again, as long as there are attempts.
pub(crate) async fn examine(
    job: MediaJob,
    examiner: Data<Examiner>,
    run: Run,
) -> Result<Ended, BoxDynError> {
    let Some(item) = examiner.images.load(job.media).await? else {
        return Ok(Finish::Done(None));
    };
    let Some(_room) = examiner.room(&item).await else {
        return Ok(later());
    };
    let file = match &item.source {
        Source::Stored(_) => image::bytes(&examiner.pool, item.media).await?,
        Source::Url(url) => match examiner.fetch(item.team, url).await {
            Ok(file) => Some(file),
            Err(FetchError::Outbound(OutboundError::Busy(_))) => return Ok(later()),
            Err(error) if error.is_passing() && !run.is_last_attempt() => {
                debug!(media.id = %item.media, %error, "could not fetch an image; trying again");
                return Ok(again(&error, run));
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
    examiner.look(&item, file).await
}

impl Examiner {
    async fn room(&self, item: &ToExamine) -> Option<Held> {
        let bytes = match &item.source {
            Source::Stored(bytes) => *bytes,
            // What a server says of its file need not be true.
            Source::Url(_) => MAX_IMAGE_BYTES,
            Source::Gone => 0,
        };
        let room = self.darkroom.hold(item.team, bytes);
        timeout(ROOM_PATIENCE, room).await.ok()
    }

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

    /// Keeps a file that was fetched, and examines it.
    async fn look(&self, item: &ToExamine, file: Vec<u8>) -> Result<Ended, BoxDynError> {
        #[expect(clippy::cast_precision_loss, reason = "files have up to 10 MiB")]
        histogram!("gatehouse_image_bytes").record(file.len() as f64);
        let format = ImageFormat::sniff(&file);
        if let (Source::Url(_), Some(format)) = (&item.source, format)
            && !image::keep(&self.pool, item.media, format, &file).await?
        {
            // It is stored, or the item was decided: the next run sees which.
            return Err("another run has fetched the image".into());
        }
        let file = Bytes::from(file);
        let original = file.clone();
        let known = self
            .darkroom
            .develop(item.team, file.clone(), move |picture| {
                let (width, height) = (picture.width(), picture.height());
                let hashed = Hashed::new(&original, picture.rgb(), width, height);
                Ok(((width, height), hashed))
            });
        let known = known.await;
        // A file that nobody can decode may still be known.
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

/// The same job again, charged no attempt: there was no room, which is none of the item's doing. Not all at once.
fn later() -> Ended {
    Finish::Again {
        effect: None,
        delay: Duration::from_secs_f64(1.0 + 4.0 * rand::random::<f64>()),
        charged: false,
    }
}

/// The same job again, after the usual delay or when the server asked us to come back. Not an `Err`, which the queue would
/// log at each attempt.
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

const FETCHED: &str = "fetched";
/// [`FETCHED`], and all that [`failure`] says.
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

/// The value of the metric label `outcome` of a fetch that brought no file.
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
