//! A run of a page: its deliveries are sent one after the other.
//!
//! This is good for endpoints that answer at once. If an endpoint is slow or a request fails, the
//! rest of the page becomes jobs of one turn each. They run in parallel, up to the cap of the
//! endpoint's lane. If the endpoint takes nothing now (its breaker is open, or its limit is
//! reached), the rest waits as one page.
//!
//! Sent deliveries are recorded while the page continues, together with those that are left. If the
//! worker dies, only deliveries that were not recorded are sent again.

mod load;
mod log;
mod split;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    mem,
    pin::pin,
    time::{Duration, Instant},
};

use apalis::prelude::BoxDynError;
use database::Trouble;
use domain::{
    breaker::Right,
    id::{DeliveryId, EndpointId},
};
use queue::{Checkpoint, Finish, NotRecorded, Run};
use store::{
    Error,
    delivery::{Asker, Attempted, DeliveryState, HandedOn, Loaded, Progress, ToDeliver},
    jobs::{self, DeliveryJob},
};
use telemetry::{failed, over};
use tokio::time::timeout;

pub(super) use self::split::expect_none;
use self::{
    log::{discarded, waits},
    split::Split,
};
use super::{
    Courier,
    attempt::attempt,
    delivery_turn::{Turn, soon, turn},
    send_concurrency::SendPlace,
};

/// The longest time that sent deliveries stay unrecorded while the page continues, in addition to
/// the current request.
const UNRECORDED: Duration = Duration::from_millis(250);

/// After this time, the rest of the page goes back to the queue: runs have a deadline, and a
/// stopping process waits for them.
const LONGEST: Duration = Duration::from_secs(5);

/// Pages whose rest had to wait for the database, of the whole process.
static TROUBLE: Trouble = Trouble::at_once();

/// How a run ends.
enum End {
    /// Nothing is left.
    Done,
    /// A single delivery failed, and is tried again after this time.
    Failed(Duration),
    /// The rest waits for this time.
    Later(Duration),
}

/// A page that is being sent.
pub(super) struct Page<'a> {
    courier: &'a Courier,
    checkpoint: &'a Checkpoint,
    endpoint: EndpointId,
    team: Asker,
    /// It is not a page, but a single delivery, which stays in its job until it ends.
    is_single: bool,
    is_rerun: bool,
    /// When it got its first place.
    began: Instant,
    place: Option<SendPlace>,
    /// What is left to send. No turn is empty. The first one stays here until its request has
    /// ended.
    turns: VecDeque<jobs::Turn>,
    loaded: HashMap<DeliveryId, Option<Loaded>>,
    /// When they were loaded. None before the first load.
    loaded_at: Option<Instant>,
    /// Deliveries that this run has attempted.
    made: HashSet<DeliveryId>,
    /// When everything before `attempted` and `handed_on` was recorded.
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
            Ok(end) => {
                over!(
                    TROUBLE.worked(),
                    "webhook pages are sent to their ends again"
                );
                end
            }
            // What was sent must be recorded, whatever happened afterwards.
            Err(Failure::Store(error)) if !self.is_recorded() => {
                failed!(TROUBLE.failed(&error), %error, endpoint.id = %self.endpoint, "the rest of a webhook page must wait");
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
            self.split_from(0, Split::Rerun);
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
                // It gets a job of its own, which fails again and again without delaying others.
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

    /// Sends the first delivery. Returns none if the next one may follow.
    async fn send(&mut self, delivery: &ToDeliver) -> Result<Option<End>, Failure> {
        self.team = Some(delivery.team);
        if self.is_single {
            // Only such a job works for one item.
            telemetry::trace::enter(delivery.trace, delivery.team.as_uuid().into_bytes());
        }
        if delivery.disabled {
            discarded(delivery);
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
        let slow = courier.concurrency.slow();
        let Courier {
            pool,
            outbound,
            paced,
            ..
        } = courier;
        let turn = turn(pool, outbound, paced, delivery, is_held);
        let (right, socket) = match meanwhile(turn, slow, self.record()).await?? {
            Turn::Now(right, socket) => (right, socket),
            Turn::Held(wait) if self.is_single => {
                waits(delivery, wait, "an earlier event of the item goes first");
                return Ok(Some(End::Later(wait)));
            }
            Turn::Held(wait) => {
                waits(delivery, wait, "an earlier event of the item goes first");
                let held = self.turns.pop_front().unwrap_or_default();
                self.hand_on(held, wait);
                return Ok(None);
            }
            Turn::Later(wait) => {
                waits(
                    delivery,
                    wait,
                    "its endpoint takes nothing now, or no connection is free",
                );
                return Ok(Some(End::Later(wait)));
            }
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
            // The others wait until this result is known.
            return Ok(Some(End::Later(Duration::ZERO)));
        }
        match state {
            DeliveryState::Pending(_) | DeliveryState::Exhausted => {
                self.split_from(0, Split::Failed);
            }
            DeliveryState::Delivered | DeliveryState::Discarded => {
                let is_limited = delivery.max_per_second.is_some();
                if !is_limited && self.began.elapsed() > slow && courier.concurrency.is_calm() {
                    self.split_from(0, Split::Idle);
                }
            }
        }
        Ok(None)
    }

    /// Waits for a place, unless it has one. False if the job must try again later.
    async fn has_place(&mut self) -> Result<bool, Failure> {
        if self.place.is_none() {
            let courier = self.courier;
            let place = courier.concurrency.place(self.team);
            let place = courier.stopping.run_until_cancelled(place);
            let place = meanwhile(place, courier.concurrency.slow(), self.record()).await?;
            self.place = place.flatten();
            if self.loaded_at.is_none() {
                self.began = Instant::now();
            }
        }
        Ok(self.place.is_some())
    }

    /// Called when the current request is slow. The job then waits only for its answer, and leaves
    /// everything else to other jobs.
    async fn make_room(&mut self) -> Result<(), NotRecorded> {
        self.place = None;
        self.loaded.clear();
        if self.turns.len() > 1 {
            self.split_from(1, Split::Slow);
        }
        self.record().await
    }

    /// Removes the first delivery from the page.
    fn remove_first(&mut self) {
        if let Some(turn) = self.turns.front_mut() {
            turn.remove(0);
            if turn.is_empty() {
                self.turns.pop_front();
            }
        }
    }
}

/// Why a run cannot continue.
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

impl Page<'_> {
    fn is_recorded(&self) -> bool {
        self.attempted.is_empty() && self.handed_on.is_empty()
    }

    /// Records what was sent, what was handed on, and what is left to send.
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
            attempted: mem::take(&mut self.attempted),
            handed_on: mem::take(&mut self.handed_on),
            rest: rest.then(|| self.turns.iter().cloned().collect()),
        })
    }
}
