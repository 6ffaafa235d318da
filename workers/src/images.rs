//! The images step. An item's image is fetched (unless it was sent inline), decoded, hashed, and
//! looked up in hash lists. If it cannot be fetched or read, the problem is recorded and the item
//! continues: its text is judged, and the site's `on_failure` decides about the image.

mod fetch;

use std::time::Duration;

use apalis::prelude::{BoxDynError, Data};
use bytes::Bytes;
use domain::{
    decision::ImageProblem,
    id::MediaId,
    image::{ImageFormat, MAX_IMAGE_BYTES},
    image_hash::{HashMatch, Hashed, Sha256Digest},
};
use metrics::counter;
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

use self::fetch::{again, expect_none, not_had, sizes};
use crate::{
    decode_pool::{DecodePool, Held},
    hash_lists::HashLists,
    outbound::{FetchError, Outbound, OutboundError},
    trace_span::{enter, traced},
};

/// How long one run may take: waiting for room, fetching, and waiting for a turn to decode.
pub(crate) const EXAMINATION_DEADLINE: Duration = Duration::from_mins(2);
/// How long a run waits for room for its file. Then it goes back to the queue.
const ROOM_PATIENCE: Duration = Duration::from_secs(20);
/// What the step works with.
#[derive(Clone)]
pub struct Examiner {
    images: Loader<MediaId, ToExamine>,
    pool: PgPool,
    outbound: Outbound,
    decode_pool: DecodePool,
    lists: HashLists,
}

impl Examiner {
    /// Fetches through `outbound`, decodes in `decode_pool`, and looks pictures up in `lists`.
    pub fn new(
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
            return Ok(later());
        };
        let file = match &item.source {
            Source::Stored(_) => image::bytes(&self.pool, item.media).await?,
            Source::Url(url) => match self.fetch(item.team, url).await {
                Ok(file) => Some(file),
                Err(FetchError::Outbound(OutboundError::Busy(_))) => return Ok(later()),
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

/// The same job again after a random delay. The item did not cause the lack of room, so it is not
/// charged an attempt.
fn later() -> Ended {
    Finish::Again {
        effect: None,
        delay: Duration::from_secs_f64(1.0 + 4.0 * rand::random::<f64>()),
        charged: false,
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
