//! Does time tell reviews with a known answer from others? One person claims, reads and decides pairs of both, in a random order.

use std::{collections::HashSet, io, time::Instant};

use anyhow::ensure;
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{
    claims::{Claimed, claim_request, decision_request},
    fill::{self, Filled},
    mann_whitney,
};
use crate::{
    http::{self, Client},
    latency::median,
    load::accepted,
    stack::Stack,
};

/// How long one step took, in milliseconds, for reviews with known answers and for others.
#[derive(Debug, Default)]
struct Times {
    known: Vec<f64>,
    other: Vec<f64>,
}

/// One step, compared.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Compared {
    /// How many there are of each of the two.
    pub(super) each: usize,
    pub(super) known_ms: f64,
    pub(super) other_ms: f64,
    /// How likely such a difference is if time tells nothing.
    pub(super) p: f64,
}

/// What was measured.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct TimingTest {
    /// A claim and the reading of its review.
    pub(super) claim_and_read: Compared,
    pub(super) decision: Compared,
}

/// Claims, reads and decides each of the pairs.
///
/// # Errors
/// Somebody else's review comes, or not all come.
pub(super) async fn measure(
    stack: &Stack,
    conn: &mut PgConnection,
    filled: &Filled,
    pairs: u32,
) -> anyhow::Result<TimingTest> {
    let person = &filled.moderators[0];
    let known = fill::add_pairs(conn, pairs, person.token).await?;
    let known: HashSet<Uuid> = known.into_iter().collect();
    let mut client = Client::new(stack.apis[0].address);
    let claim = claim_request(person);
    let (mut claims, mut decisions) = (Times::default(), Times::default());
    for _ in 0..2 * pairs {
        let begun = Instant::now();
        let answer = client.send(&claim).await.map_err(io::Error::from)?;
        accepted(&answer)?;
        let Claimed { data } = serde_json::from_slice(&answer.body)?;
        ensure!(data.len() == 1, "{} reviews were claimed", data.len());
        let review = data[0].id;
        let path = format!("/reviews/{review}");
        let read = http::managed("GET", &path, &person.secret, None);
        accepted(&client.send(&read).await.map_err(io::Error::from)?)?;
        claims.add(known.contains(&review), begun);
        let decision = decision_request(person, review);
        let begun = Instant::now();
        accepted(&client.send(&decision).await.map_err(io::Error::from)?)?;
        decisions.add(known.contains(&review), begun);
    }
    Ok(TimingTest {
        claim_and_read: claims.compared(pairs)?,
        decision: decisions.compared(pairs)?,
    })
}

impl Times {
    fn add(&mut self, is_known: bool, begun: Instant) {
        let took = 1_000.0 * begun.elapsed().as_secs_f64();
        if is_known {
            self.known.push(took);
        } else {
            self.other.push(took);
        }
    }

    fn compared(&self, pairs: u32) -> anyhow::Result<Compared> {
        let each = self.known.len();
        ensure!(
            each == pairs as usize && self.other.len() == each,
            "{each} reviews with known answers came, and {} others",
            self.other.len()
        );
        Ok(Compared {
            each,
            known_ms: median(self.known.iter().copied()),
            other_ms: median(self.other.iter().copied()),
            p: mann_whitney::p_value(&self.known, &self.other),
        })
    }
}
