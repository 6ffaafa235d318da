//! What the jobs of these tests do, and what they leave in the database.

use std::{fmt::Display, future::pending, process::abort, time::Duration};

use apalis::prelude::{BoxDynError, Data, RetryAfterError};
use queue::{Checkpoint, Effect, FinishTx, Lane, NewJob, QueueName, Run, Survivor};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use uuid::Uuid;

pub(crate) const WORK: QueueName = QueueName::new("work");

/// A job's arguments: what it does when it runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Act {
    pub(crate) name: String,
    /// First calls the witness and waits for the answer.
    pub(crate) call: bool,
    /// Then sleeps.
    pub(crate) sleep_ms: u64,
    /// Then records this, and goes on.
    pub(crate) checkpoint: Option<String>,
    pub(crate) end: End,
    pub(crate) effect: Kind,
}

/// How it ends, every time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) enum End {
    #[default]
    Well,
    Fail,
    Panic,
    /// It never ends, so its time-out ends it.
    Hang,
    /// It ends together with its process.
    AbortProcess,
    /// The first attempt asks for another one after that long; the others end well.
    FailOnce {
        seconds: u64,
    },
}

/// What is special about its effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    #[default]
    Plain,
    /// It breaks a constraint.
    Poison,
    /// Its first attempt calls the witness in the middle of the finishing transaction, and waits
    /// for the answer.
    Stall,
    /// It enqueues a job that calls the witness.
    FollowUp,
}

pub(crate) fn act(name: impl Display) -> Act {
    Act {
        name: name.to_string(),
        ..Act::default()
    }
}

/// One that calls the witness.
pub(crate) fn call(name: impl Display) -> Act {
    Act {
        call: true,
        ..act(name)
    }
}

pub(crate) fn lane(n: u128) -> Lane {
    Lane(Uuid::from_u128(n))
}

/// A job in lane 1.
pub(crate) fn job(act: &Act) -> NewJob {
    NewJob::new(WORK, lane(1), act)
}

/// Where the witness listens; 0 for none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WitnessPort(pub(crate) u16);

impl WitnessPort {
    /// Calls, and returns the line once the call is answered. While the line is not dropped, the
    /// witness counts the caller as working.
    async fn call(self, name: &str) -> std::io::Result<TcpStream> {
        let mut line = TcpStream::connect(("127.0.0.1", self.0)).await?;
        line.write_all(format!("{name}\n").as_bytes()).await?;
        line.read_u8().await?;
        Ok(line)
    }
}

/// The handler.
pub(crate) async fn perform(
    act: Act,
    run: Run,
    checkpoint: Checkpoint,
    witness: Data<WitnessPort>,
) -> Result<Recorded, BoxDynError> {
    let _line = if act.call {
        Some(witness.call(&act.name).await?)
    } else {
        None
    };
    tokio::time::sleep(Duration::from_millis(act.sleep_ms)).await;
    if let Some(name) = act.checkpoint {
        let half = Recorded {
            name,
            attempt: run.attempt,
            kind: Kind::Plain,
            witness: *witness,
        };
        checkpoint.record(half).await?;
    }
    match act.end {
        End::Fail => return Err("as told".into()),
        End::Panic => panic!("as told"),
        End::Hang => pending().await,
        End::AbortProcess => abort(),
        End::FailOnce { seconds } if run.attempt == 1 => {
            return Err(RetryAfterError::new("later", Duration::from_secs(seconds)).into());
        }
        End::Well | End::FailOnce { .. } => {}
    }
    Ok(Recorded {
        name: act.name,
        attempt: run.attempt,
        kind: act.effect,
        witness: *witness,
    })
}

/// One row in `effects` for each application, so that a second one is visible.
#[derive(Debug)]
pub(crate) struct Recorded {
    name: String,
    attempt: u16,
    kind: Kind,
    witness: WitnessPort,
}

impl Effect for Recorded {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let names: Vec<&str> = batch.iter().map(|job| job.effect.name.as_str()).collect();
        let attempts: Vec<i32> = batch
            .iter()
            .map(|job| i32::from(job.effect.attempt))
            .collect();
        let sound: Vec<bool> = batch
            .iter()
            .map(|job| job.effect.kind != Kind::Poison)
            .collect();
        sqlx::query(
            "insert into effects (name, attempt, sound)
             select name, attempt, sound
               from unnest($1::text[], $2::int[], $3::bool[]) as e (name, attempt, sound)",
        )
        .bind(names)
        .bind(attempts)
        .bind(sound)
        .execute(&mut *tx.conn)
        .await?;
        let follow_ups = batch.iter().filter(|job| job.effect.kind == Kind::FollowUp);
        tx.jobs
            .extend(follow_ups.map(|done| job(&call(format_args!("after {}", done.effect.name)))));
        for Recorded { name, witness, .. } in batch
            .iter()
            .map(|job| job.effect)
            .filter(|effect| effect.kind == Kind::Stall && effect.attempt == 1)
        {
            witness.call(&format!("finishing {name}")).await?;
        }
        Ok(())
    }
}

/// The table of the effects. It has no unique constraint, so that a doubled effect is visible
/// instead of refused.
pub(crate) const TABLES: &str = "
    create table effects (
        seq     bigint generated always as identity,
        name    text not null,
        attempt int not null,
        sound   bool not null constraint effects_sound check (sound),
        at      timestamptz not null default clock_timestamp()
    )";
