//! Rate limits of site keys and of their teams, exact over all processes together.
//!
//! Every request counts twice: against the limit of its key, and against that of its key's team.
//! Both are *windows*: Postgres keeps, for each window, how much of the present minute has been
//! given out. A process takes a share and spends it without asking again, so a busy key costs a
//! statement now and then, and one statement takes shares of both windows. Once a process wants
//! more than is left, the window is *scarce*: a process then gets only what it needs at that
//! moment, and every process that holds a part of an earlier share gives it back on request. A
//! request is therefore refused only when nothing is left anywhere. What a process that died held
//! is lost until the minute ends.
//!
//! A share of a key also proves that the key is valid: only valid keys get shares. The proof is as
//! old as the share, which is why the accepting and the reading statements check the key again.
//!
//! A team's requests are also spread over the minute: after a burst they wait for their turn, so
//! that a minute's requests that all come in its first seconds do not disturb others. Each process
//! does this for itself.

mod allocator;
mod shares;
mod windows;

use std::{sync::Arc, time::Duration};

use database::{Trouble, connection_shortage::unless_scarce};
use domain::{
    id::TeamId,
    key::SecretHash,
    rate_limit::{RatePolicy, RateScope, RateStanding, WINDOW_SECONDS},
};
use metrics::counter;
use sqlx::{PgPool, postgres::PgListener};
use telemetry::{failed, over};
use tokio::time::{Instant, sleep};
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use self::{
    allocator::Allocator,
    shares::{Shares, Spent},
};
use crate::{
    Error,
    gather::{Bounds, Gather},
};

use ::fair_share::{Pacer, Rate, TooFar};

/// A request: the key that is used, and what for.
type Request = (SecretHash, RatePolicy);

/// What is limited: the requests of one key, or of one team, for one purpose.
type Limited = (Holder, RatePolicy);

/// Who has a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holder {
    Key(SecretHash),
    Team(TeamId),
}

/// Whether a request may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is within both limits, and counted.
    Admitted(RateStanding),
    /// This limit is reached.
    Refused(RateStanding, RateScope),
    /// It is within both limits and counted, but its team has sent so many requests at once that it
    /// would wait too long: this long.
    Hurried(RateStanding, Duration),
    /// There is no such key, or it is disabled.
    UnknownKey,
}

/// The rate limits as one process sees them.
#[derive(Clone)]
pub struct Rates {
    shares: Arc<Shares>,
    pacer: Arc<Pacer<(TeamId, RatePolicy)>>,
    gather: Gather<Request, Result<Admission, Error>>,
    /// Ends the listener when the last clone is dropped.
    _listening: Arc<DropGuard>,
}

/// A team's requests are never spread more thinly than this, whatever its limit is.
const LEAST_PER_SECOND: f64 = 50.0;
/// The longest that a request waits for its turn.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

const BOUNDS: Bounds = Bounds {
    waiting: 8_192,
    waiting_bytes: 1 << 20,
    batch: 512,
    batch_bytes: 1 << 20,
    // Shares are taken one statement at a time anyway: see `Allocator`.
    runners: 1,
};

impl Rates {
    /// Starts without shares, and listens for processes that need shares of this one.
    pub fn start(pool: PgPool) -> Self {
        for policy in RatePolicy::ALL {
            for scope in RateScope::ALL {
                refused(*policy, *scope, 0);
            }
            waited(*policy, 0);
        }
        let shares = Arc::new(Shares::default());
        let allocator = Arc::new(Allocator::new(pool, Arc::clone(&shares)));
        let stop = CancellationToken::new();
        tokio::spawn(
            stop.clone()
                .run_until_cancelled_owned(run(Arc::clone(&allocator))),
        );
        Self {
            shares,
            pacer: Arc::default(),
            gather: Gather::start(BOUNDS, move |batch| Arc::clone(&allocator).answer(batch)),
            _listening: Arc::new(stop.drop_guard()),
        }
    }

    /// Counts a request against the limits of its key and its team, and waits for its turn among
    /// the team's requests; or refuses it.
    pub async fn admit(&self, key: SecretHash, policy: RatePolicy) -> Result<Admission, Error> {
        let request = (key, policy);
        let admission = match self.shares.spend(request, Instant::now()) {
            Spent::One(standing) => Admission::Admitted(standing),
            Spent::Nothing(standing, scope) => Admission::Refused(standing, scope),
            Spent::Unknown => self.gather.ask(request, size_of::<Request>()).await??,
        };
        match admission {
            Admission::Admitted(standing) => return Ok(self.in_turn(request, standing).await),
            Admission::Refused(_, scope) => refused(policy, scope, 1),
            Admission::Hurried(..) | Admission::UnknownKey => {}
        }
        Ok(admission)
    }

    async fn in_turn(&self, request: Request, standing: RateStanding) -> Admission {
        let policy = request.1;
        let Some(team) = self.shares.team(request) else {
            return Admission::Admitted(standing);
        };
        match self
            .pacer
            .turn((team, policy), pace(standing.team.limit), LONGEST_WAIT)
        {
            Ok(Duration::ZERO) => {}
            Ok(wait) => {
                waited(policy, 1);
                sleep(wait).await;
            }
            Err(TooFar(wait)) => {
                refused(policy, RateScope::Team, 1);
                return Admission::Hurried(standing, wait);
            }
        }
        Admission::Admitted(standing)
    }
}

/// How a team's requests are spread that may make so many in a minute.
fn pace(limit: u32) -> Rate {
    let per_second = f64::from(limit) / f64::from(WINDOW_SECONDS);
    Rate::per_second(per_second.max(LEAST_PER_SECOND))
}

/// The series is shared with the interface for people, whose requests wait too.
fn waited(policy: RatePolicy, requests: u64) {
    let policy = policy.name(RateScope::Team);
    counter!("gatehouse_paced_requests_total", "policy" => policy).increment(requests);
}

fn refused(policy: RatePolicy, scope: RateScope, requests: u64) {
    counter!("gatehouse_rate_limited_total", "policy" => policy.name(scope)).increment(requests);
}

/// The channel of these messages.
const CHANNEL: &str = "rate_shares";

/// A message to all processes. Older versions know no windows of teams. They cannot read such a
/// message and ignore it: they hold no such shares.
fn message(sender: Uuid, (holder, policy): Limited) -> String {
    match holder {
        Holder::Key(key) => format!("{sender} {policy} {}", hex::encode(key.as_bytes())),
        Holder::Team(team) => format!("{sender} {policy} {team}"),
    }
}

/// A message as it was read.
struct Message<'a> {
    sender: &'a str,
    limited: Limited,
}

impl<'a> Message<'a> {
    /// None for messages of other versions.
    fn parse(payload: &'a str) -> Option<Self> {
        let mut words = payload.split(' ');
        let (sender, policy, holder) = (words.next()?, words.next()?, words.next()?);
        let holder = if let Ok(team) = Uuid::try_parse(holder) {
            Holder::Team(team.into())
        } else {
            let hash: [u8; 32] = hex::decode(holder).ok()?.try_into().ok()?;
            Holder::Key(SecretHash::from(hash))
        };
        Some(Self {
            sender,
            limited: (holder, policy.parse().ok()?),
        })
    }
}

const PAUSE: Duration = Duration::from_secs(1);

/// Listens for ever, unless connections are scarce. While it does not listen, other processes wait in vain for this one's shares,
/// and refuse requests a little early.
async fn run(allocator: Arc<Allocator>) {
    let trouble = Trouble::in_turn();
    loop {
        if let Some(Err(error)) = unless_scarce(listen(&allocator, &trouble)).await {
            let error = database::counted(error);
            failed!(trouble.failed(&error), %error, "not listening for shares of rate limits; trying again");
        }
        sleep(PAUSE).await;
    }
}

async fn listen(allocator: &Allocator, trouble: &Trouble) -> Result<(), sqlx::Error> {
    // A pool of its own, because a listener keeps its connection.
    let pool = database::separate_pool(&allocator.pool, 1);
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    over!(
        trouble.worked(),
        "listening for shares of rate limits again"
    );
    let own = allocator.holder.to_string();
    while let Some(notification) = listener.try_recv().await? {
        let message = Message::parse(notification.payload());
        if let Some(message) = message
            && message.sender != own
        {
            allocator.give_back(message.limited).await;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use domain::rate_limit::RatePolicy;

    use super::*;

    #[test]
    fn a_message_says_whose_window_is_meant() {
        let sender = Uuid::from_u128(1);
        let key = Holder::Key(SecretHash::from([9; 32]));
        let team = Holder::Team(Uuid::from_u128(2).into());
        for limited in [(key, RatePolicy::Submit), (team, RatePolicy::Status)] {
            let text = message(sender, limited);
            let read = Message::parse(&text).unwrap();
            assert_eq!(read.sender, sender.to_string());
            assert_eq!(read.limited, limited);
        }
        assert!(Message::parse("somebody submit 0099").is_none());
    }
}
