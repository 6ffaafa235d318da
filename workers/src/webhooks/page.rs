//! A run of a page: its deliveries are sent one after the other.
//!
//! That is right for endpoints that answer at once. When one does not, or a request fails, the rest of the page becomes jobs
//! of one turn each, which run side by side up to the cap of the endpoint's lane. When the endpoint wants nothing now (its breaker is
//! open, its limit is reached) the rest waits as one page.
//!
//! What was sent is recorded while the page goes on, together with what it has still to send. A page whose worker dies sends
//! again only what was not recorded.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    pin::pin,
    time::{Duration, Instant},
};

use apalis::prelude::BoxDynError;
use domain::{
    breaker::Right,
    id::{DeliveryId, EndpointId},
};
use metrics::{Counter, counter};
use queue::{Checkpoint, Finish, NotRecorded, Run};
use store::{
    Error,
    delivery::{Asker, Attempted, DeliveryState, HandedOn, Loaded, Progress, ToDeliver},
    jobs::{self, DeliveryJob},
};
use tokio::time::timeout;
use tracing::{debug, warn};

use super::{
    Courier,
    attempt::attempt,
    pace::Place,
    turn::{Turn, soon, turn},
};

/// How long what was sent stays unrecorded at most while the page goes on, but for the request that is under way.
const UNRECORDED: Duration = Duration::from_millis(250);

/// After so long, the rest makes way for other pages: runs have a deadline, and stops wait for them.
const LONGEST: Duration = Duration::from_secs(5);

/// Turns that are loaded at once, after the first, which shows whether the endpoint answers quickly.
const AHEAD: usize = 8;

/// How long it is believed what was loaded.
const FRESH: Duration = Duration::from_secs(1);

/// Why a page was spread.
#[derive(Clone, Copy)]
enum Spread {
    /// A request took long.
    Slow,
    /// A request failed.
    Failed,
    /// The process has little else to do.
    Idle,
    /// An earlier run did not come to its end: one of the deliveries may be the reason.
    Rerun,
}

impl Spread {
    const ALL: [Self; 4] = [Self::Slow, Self::Failed, Self::Idle, Self::Rerun];

    fn counter(self) -> Counter {
        let reason = match self {
            Self::Slow => "slow",
            Self::Failed => "failed",
            Self::Idle => "idle",
            Self::Rerun => "rerun",
        };
        counter!("gatehouse_webhook_pages_spread_total", "reason" => reason)
    }
}

/// Shows all metrics as 0 from the start.
pub(super) fn expect_none() {
    for reason in Spread::ALL {
        reason.counter().increment(0);
    }
}

/// How a run ends.
enum End {
    /// Nothing is left.
    Done,
    /// A single delivery failed, and is tried again after this time.
    Failed(Duration),
    /// What is left waits so long.
    Later(Duration),
}

/// A page that is being sent.
pub(super) struct Page<'a> {
    courier: &'a Courier,
    checkpoint: &'a Checkpoint,
    endpoint: EndpointId,
    team: Asker,
    /// It is no page, but a delivery that stays in its job until it ends.
    is_single: bool,
    is_rerun: bool,
    /// When it had its first place.
    began: Instant,
    place: Option<Place>,
    /// What is still to be sent. No turn is empty. The first one stays here until its request has ended.
    turns: VecDeque<jobs::Turn>,
    loaded: HashMap<DeliveryId, Option<Loaded>>,
    /// When that was loaded; none: nothing was yet.
    loaded_at: Option<Instant>,
    /// Deliveries of which this run has made an attempt.
    made: HashSet<DeliveryId>,
    /// When all was recorded that is not below.
    recorded_at: Instant,
    attempted: Vec<Attempted>,
    handed_on: Vec<HandedOn>,
}

impl<'a> Page<'a> {
    pub(super) fn new(
        courier: &'a Courier,
        checkpoint: &'a Checkpoint,
        run: Run,
        job: DeliveryJob,
    ) -> Self {
        let now = Instant::now();
        Self {
            courier,
            checkpoint,
            endpoint: run.lane.0.into(),
            team: job.team,
            is_single: job.single().is_some(),
            is_rerun: run.attempt > 1,
            began: now,
            place: None,
            turns: job
                .turns
                .into_iter()
                .filter(|turn| !turn.is_empty())
                .collect(),
            loaded: HashMap::new(),
            loaded_at: None,
            made: HashSet::new(),
            recorded_at: now,
            attempted: Vec::new(),
            handed_on: Vec::new(),
        }
    }

    pub(super) async fn run(mut self) -> Result<Finish<Option<Progress>>, BoxDynError> {
        let end = match self.send_all().await {
            Ok(end) => end,
            // What was sent must be recorded, whatever happened then.
            Err(Failure::Store(error)) if !self.is_recorded() => {
                warn!(%error, endpoint.id = %self.endpoint, "the rest of a webhook page must wait");
                End::Later(soon())
            }
            Err(Failure::Store(error)) => return Err(error.into()),
            Err(Failure::Unreadable) => return Err("the delivery cannot be read".into()),
            Err(Failure::NotRecorded(error)) => return Err(error.into()),
        };
        Ok(match end {
            End::Done => Finish::Done(self.take_progress()),
            End::Failed(delay) => Finish::Again {
                effect: self.take_progress(),
                delay,
                charged: true,
            },
            End::Later(delay) => Finish::Again {
                effect: self.take_progress(),
                delay,
                charged: false,
            },
        })
    }

    async fn send_all(&mut self) -> Result<End, Failure> {
        if self.is_rerun && self.turns.len() > 1 {
            self.spread_from(0, Spread::Rerun);
        }
        while let Some(delivery) = self.turns.front().and_then(|turn| turn.first().copied()) {
            let has_place = self.has_place().await?;
            if self.courier.stopping.is_cancelled() || self.began.elapsed() > LONGEST {
                return Ok(End::Later(Duration::ZERO));
            }
            if !has_place {
                return Ok(End::Later(soon()));
            }
            if self.recorded_at.elapsed() > UNRECORDED {
                self.record().await?;
            }
            match self.load(delivery).await? {
                Some(Loaded::Ready(delivery)) => {
                    if let Some(end) = self.send(&delivery).await? {
                        return Ok(end);
                    }
                }
                Some(Loaded::Unreadable) if self.is_single => return Err(Failure::Unreadable),
                // Its own job says so again and again, and nobody else suffers from it.
                Some(Loaded::Unreadable) => {
                    self.remove_first();
                    self.hand_on(vec![delivery], Duration::ZERO);
                }
                // It has ended.
                None => self.remove_first(),
            }
        }
        Ok(End::Done)
    }

    /// Sends the first delivery. None: the next one may follow.
    async fn send(&mut self, delivery: &ToDeliver) -> Result<Option<End>, Failure> {
        self.team = Some(delivery.team);
        if delivery.disabled {
            self.remove_first();
            self.attempted.push(Attempted {
                delivery: delivery.delivery,
                attempt: None,
                state: DeliveryState::Discarded,
                disable: None,
            });
            return Ok(None);
        }
        let courier = self.courier;
        let is_held = delivery
            .held_by
            .is_some_and(|first| !self.made.contains(&first));
        let slow = courier.pace.slow();
        let turn = turn(&courier.pool, &courier.outbound, delivery, is_held);
        let (right, socket) = match meanwhile(turn, slow, self.record()).await?? {
            Turn::Now(right, socket) => (right, socket),
            Turn::Held(wait) if self.is_single => return Ok(Some(End::Later(wait))),
            Turn::Held(wait) => {
                let held = self.turns.pop_front().unwrap_or_default();
                self.hand_on(held, wait);
                return Ok(None);
            }
            Turn::Later(wait) => return Ok(Some(End::Later(wait))),
        };
        let attempt = attempt(courier, delivery, right, socket);
        let Some(attempted) = meanwhile(attempt, slow, self.make_room()).await? else {
            return Ok(Some(End::Later(soon())));
        };
        self.made.insert(delivery.delivery);
        self.remove_first();
        let (state, is_gone) = (attempted.state, attempted.disable.is_some());
        self.attempted.push(attempted);
        if let DeliveryState::Pending(delay) = state {
            if self.is_single {
                return Ok(Some(End::Failed(delay)));
            }
            self.hand_on(vec![delivery.delivery], delay);
        }
        if self.turns.is_empty() {
            return Ok(Some(End::Done));
        }
        if right != Right::Everybody || is_gone {
            // The others wait for what has been found out.
            return Ok(Some(End::Later(Duration::ZERO)));
        }
        match state {
            DeliveryState::Pending(_) | DeliveryState::Exhausted => {
                self.spread_from(0, Spread::Failed);
            }
            DeliveryState::Delivered | DeliveryState::Discarded => {
                let is_limited = delivery.max_per_second.is_some();
                if !is_limited && self.began.elapsed() > slow && courier.pace.is_calm() {
                    self.spread_from(0, Spread::Idle);
                }
            }
        }
        Ok(None)
    }

    /// Waits for a place, unless it has one. False: the job comes again later.
    async fn has_place(&mut self) -> Result<bool, Failure> {
        if self.place.is_none() {
            let courier = self.courier;
            let place = courier.pace.place(self.team);
            let place = courier.stopping.run_until_cancelled(place);
            let place = meanwhile(place, courier.pace.slow(), self.record()).await?;
            self.place = place.flatten();
            if self.loaded_at.is_none() {
                self.began = Instant::now();
            }
        }
        Ok(self.place.is_some())
    }

    /// The first delivery, and with it those that follow.
    async fn load(&mut self, delivery: DeliveryId) -> Result<Option<Loaded>, Failure> {
        if self.loaded_at.is_some_and(|at| at.elapsed() > FRESH) {
            self.loaded.clear();
        }
        if let Some(found) = self.loaded.remove(&delivery) {
            return Ok(found);
        }
        let ahead = if self.loaded_at.is_none() { 1 } else { AHEAD };
        let wanted: Vec<DeliveryId> = self.turns.iter().take(ahead).flatten().copied().collect();
        let loader = &self.courier.deliveries;
        let found = loader.load_all_for(self.team, &wanted).await;
        self.loaded_at = Some(Instant::now());
        for (delivery, found) in wanted.into_iter().zip(found) {
            let found = match found {
                Err(Error::Unreadable(error)) if !self.is_single => {
                    debug!(%error, delivery.id = %delivery, "cannot read a delivery of a webhook page");
                    Some(Loaded::Unreadable)
                }
                found => found?,
            };
            self.loaded.insert(delivery, found);
        }
        Ok(self.loaded.remove(&delivery).flatten())
    }

    /// The request that is under way takes long: its job waits for nothing but its answer, and leaves all else to others.
    async fn make_room(&mut self) -> Result<(), NotRecorded> {
        self.place = None;
        self.loaded.clear();
        if self.turns.len() > 1 {
            self.spread_from(1, Spread::Slow);
        }
        self.record().await
    }

    /// Makes a job of its own of each turn from this one on.
    fn spread_from(&mut self, first: usize, reason: Spread) {
        reason.counter().increment(1);
        for turn in self.turns.split_off(first) {
            self.hand_on(turn, Duration::ZERO);
        }
    }

    fn hand_on(&mut self, turn: jobs::Turn, delay: Duration) {
        self.handed_on.push(HandedOn {
            turns: vec![turn],
            delay,
        });
    }

    /// Takes the first delivery out of the page.
    fn remove_first(&mut self) {
        if let Some(turn) = self.turns.front_mut() {
            turn.remove(0);
            if turn.is_empty() {
                self.turns.pop_front();
            }
        }
    }

    fn is_recorded(&self) -> bool {
        self.attempted.is_empty() && self.handed_on.is_empty()
    }

    /// Records what was sent and handed on, and what is still to be sent.
    async fn record(&mut self) -> Result<(), NotRecorded> {
        match self.take_progress() {
            Some(progress) => self.checkpoint.record(progress).await,
            None => Ok(()),
        }
    }

    fn take_progress(&mut self) -> Option<Progress> {
        self.recorded_at = Instant::now();
        if self.is_recorded() {
            return None;
        }
        let rest = !self.is_single && !self.turns.is_empty();
        Some(Progress {
            endpoint: self.endpoint,
            team: self.team?,
            attempted: std::mem::take(&mut self.attempted),
            handed_on: std::mem::take(&mut self.handed_on),
            rest: rest.then(|| self.turns.iter().cloned().collect()),
        })
    }
}

/// Why a run cannot go on.
enum Failure {
    Store(Error),
    Unreadable,
    NotRecorded(NotRecorded),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<NotRecorded> for Failure {
    fn from(error: NotRecorded) -> Self {
        Self::NotRecorded(error)
    }
}

/// Waits for something, and does something else meanwhile if that takes longer than `patience`.
async fn meanwhile<T>(
    waiting: impl Future<Output = T>,
    patience: Duration,
    other: impl Future<Output = Result<(), NotRecorded>>,
) -> Result<T, NotRecorded> {
    let mut waiting = pin!(waiting);
    if let Ok(awaited) = timeout(patience, waiting.as_mut()).await {
        return Ok(awaited);
    }
    let (awaited, done) = tokio::join!(waiting, other);
    done.map(|()| awaited)
}
