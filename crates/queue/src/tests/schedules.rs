//! Random schedules on a real Postgres, compared with the model that is checked exhaustively in
//! `tests/model`: after every statement, the tables must hold what the model says.
//!
//! The statements are the crate's own. If a statement may choose (which job it claims), the model
//! must allow its choice.

#[path = "../../tests/model/action.rs"]
mod action;
mod actual;
#[expect(
    dead_code,
    reason = "mechanisms are taken out in the exhaustive check only"
)]
#[path = "../../tests/model/configuration.rs"]
mod configuration;
#[path = "../../tests/model/invariants.rs"]
mod invariants;
mod observed;
#[path = "../../tests/model/preclaimed.rs"]
mod preclaimed;
mod process;
#[path = "../../tests/model/protocol.rs"]
mod protocol;
#[expect(
    dead_code,
    reason = "only the exhaustive check asks whether everything has ended"
)]
#[path = "../../tests/model/state.rs"]
mod state;
mod step;
#[path = "../../tests/model/transitions.rs"]
mod transitions;
mod work;
#[path = "../../tests/model/write.rs"]
mod write;

use std::sync::Arc;

use indexmap::IndexSet;
use proptest::{
    collection::vec,
    prelude::{Strategy, any},
    sample::Index,
    test_runner::{Config, TestCaseError, TestRunner},
};
use sqlx::PgPool;
use tokio::{runtime::Handle, sync::Mutex, task::spawn_blocking};

use action::Action;
use actual::Actual;
use configuration::{Limits, Protocol};
use state::{Commit, Hand, Row, State};
use step::{Step, steps, take};

/// The most workers at a time.
const WORKERS: usize = 3;
/// The most crashes, stalls, lost answers and failures of `OnDead`.
const FAULTS: u8 = 8;
const LIMITS: Limits = Limits {
    faults: FAULTS,
    uncharged: 4,
    replays: 2,
    checkpoints: 4,
    follow_ups: 3,
    inserts: 2,
    pauses: 2,
};

/// Systems with up to four jobs, and more trouble than the exhaustive check allows.
fn protocols() -> impl Strategy<Value = Protocol> {
    (1..=WORKERS, 1..=4_usize, 1..=3_usize, 1..=3_i8).prop_map(
        |(workers, jobs, cap, max_attempts)| Protocol {
            jobs,
            workers,
            max_attempts,
            cap,
            limits: LIMITS,
            without: None,
        },
    )
}

#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn the_tables_follow_the_model(pool: PgPool) {
    let actual = Arc::new(Mutex::new(
        Actual::new(pool, WORKERS + usize::from(FAULTS)).await,
    ));
    let handle = Handle::current();
    let outcome = spawn_blocking(move || {
        let config = Config {
            cases: 48,
            max_shrink_iters: 500,
            failure_persistence: None,
            ..Config::default()
        };
        let cases = (protocols(), vec(any::<(Index, Index)>(), 60));
        TestRunner::new(config).run(&cases, |(protocol, choices)| {
            let case = async { follow(&mut *actual.lock().await, protocol, &choices).await };
            handle.block_on(case).map_err(TestCaseError::fail)
        })
    });
    if let Err(failure) = outcome.await.expect("the runner") {
        panic!("{failure}");
    }
}

/// A process cannot distinguish a checkpoint that moved the fence from a claim that raised it.
/// While a checkpoint is not answered, the process treats the row with the next fence as its own, even
/// if that fence belongs to a later claim whose answer was lost.
#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn a_lost_claim_is_released_once_the_checkpoint_before_it_is_answered(pool: PgPool) {
    let mut actual = Actual::new(pool, 1).await;
    let protocol = Protocol {
        jobs: 1,
        workers: 1,
        max_attempts: 3,
        cap: 1,
        limits: LIMITS,
        without: None,
    };
    let mut run = Run::start(&mut actual, protocol).await;
    let worker = 0;
    let [first, second] = [1, 2].map(|fence| Hand { job: 0, fence });
    let stall = Step::Stall { worker }.parts();
    let sweep = Step::Act(Action::Sweep { worker });
    let steps = [
        vec![Step::Claim { worker }],
        vec![Step::Act(Action::Arrive(first))],
        vec![Step::Act(Action::Checkpoint(first))],
        stall,
        vec![Step::Claim { worker }],
        vec![Step::Act(Action::LoseAnswer(second))],
        vec![sweep; 2],
        vec![Step::Act(Action::Record(first, Commit::Answered))],
        vec![sweep; 2],
    ];
    for step in steps.concat() {
        if let Err(parted) = run.take(step).await {
            panic!("{parted}");
        }
    }
    assert_eq!(run.state.jobs[0].row, Row::Due);
}

/// Runs one schedule. Reports where tables and model differ.
async fn follow(
    actual: &mut Actual,
    protocol: Protocol,
    choices: &[(Index, Index)],
) -> Result<(), String> {
    let mut run = Run::start(actual, protocol).await;
    for (kind, which) in choices {
        // Choose the kind of step first, and then the job. Otherwise the many possible ends of runs
        // would crowd out everything else.
        let steps = steps(protocol, &run.state);
        let kinds: IndexSet<_> = steps.iter().map(Step::kind).collect();
        let kind = kinds[kind.index(kinds.len())];
        let steps: Vec<_> = steps.iter().filter(|step| step.kind() == kind).collect();
        for step in steps[which.index(steps.len())].parts() {
            run.take(step).await?;
        }
    }
    Ok(())
}

/// A schedule under way, in the database and in the model.
struct Run<'a> {
    actual: &'a mut Actual,
    protocol: Protocol,
    state: State,
    taken: Vec<Step>,
}

impl<'a> Run<'a> {
    async fn start(actual: &'a mut Actual, protocol: Protocol) -> Self {
        actual.reset(protocol).await;
        Self {
            actual,
            protocol,
            state: protocol.start(),
            taken: Vec::new(),
        }
    }

    /// Takes a step in both, and compares them.
    async fn take(&mut self, step: Step) -> Result<(), String> {
        self.taken.push(step);
        self.compare(step).await.map_err(|what| {
            let taken: Vec<String> = self.taken.iter().map(|step| format!("{step:?}")).collect();
            format!("{what}\nafter\n  {}", taken.join("\n  "))
        })
    }

    async fn compare(&mut self, step: Step) -> Result<(), String> {
        self.state = take(self.actual, self.protocol, &self.state, step).await?;
        if let Some(promise) = self.protocol.broken_promise(&self.state) {
            return Err(format!("broken: {promise}"));
        }
        let (expected, found) = (observed::expected(&self.state), self.actual.look().await);
        if expected == found {
            Ok(())
        } else {
            Err(format!("expected {expected:#?}\nfound {found:#?}"))
        }
    }
}
