//! Spreads what holders do over time: a burst at once, and then a number per second. Everything
//! beyond waits for its turn.
//!
//! This is the generic cell rate algorithm of ATM networks (ITU-T I.371). It remembers one point in
//! time for each holder: when everything that it has done would have been done at its rate.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How much may be done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// How much per second in the long run. Above 0.
    pub per_second: f64,
    /// How much at once, by a holder that has done nothing for a while.
    pub at_once: f64,
}

impl Rate {
    /// This much per second, and the work of two seconds at once.
    pub const fn per_second(per_second: f64) -> Self {
        Self {
            per_second,
            at_once: 2.0 * per_second,
        }
    }
}

/// The active holders.
#[derive(Debug)]
pub struct Pacer<K> {
    state: Mutex<State<K>>,
}

#[derive(Debug)]
struct State<K> {
    done_at: HashMap<K, Instant>,
    /// When there are this many, holders without a wait are forgotten.
    sweep_at: usize,
}

/// Below this number, nothing is swept.
const FEW: usize = 1_024;

impl<K: Eq + Hash> Pacer<K> {
    /// Nobody has done anything yet.
    pub fn new() -> Self {
        Self {
            state: Mutex::new(State {
                done_at: HashMap::new(),
                sweep_at: FEW,
            }),
        }
    }

    /// Takes a holder's next turn, and returns how long to wait for it. If you do not wait, the
    /// turn is lost.
    ///
    /// # Errors
    /// The turn is further away than `longest`. No turn is taken.
    pub fn turn(&self, holder: K, rate: Rate, longest: Duration) -> Result<Duration, TooFar> {
        self.turn_at(holder, rate, longest, Instant::now())
    }

    fn turn_at(
        &self,
        holder: K,
        rate: Rate,
        longest: Duration,
        now: Instant,
    ) -> Result<Duration, TooFar> {
        let each = Duration::from_secs_f64(1.0 / rate.per_second);
        let ahead = each.mul_f64((rate.at_once - 1.0).max(0.0));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.done_at.len() >= state.sweep_at {
            state.done_at.retain(|_, done_at| *done_at > now);
            state.sweep_at = FEW.max(2 * state.done_at.len());
        }
        let done_at = state.done_at.entry(holder).or_insert(now);
        let begun = (*done_at).max(now);
        let wait = begun.duration_since(now).saturating_sub(ahead);
        if wait > longest {
            return Err(TooFar(wait));
        }
        *done_at = begun + each;
        Ok(wait)
    }
}

impl<K: Eq + Hash> Default for Pacer<K> {
    fn default() -> Self {
        Self::new()
    }
}

/// How far away the next turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFar(pub Duration);

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate {
        per_second: 10.0,
        at_once: 3.0,
    };
    const LONGEST: Duration = Duration::from_secs(1);

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_burst_is_done_at_once_and_the_rest_at_the_rate() {
        let (pacer, now) = (Pacer::new(), Instant::now());
        let turn = |holder, at| pacer.turn_at(holder, RATE, LONGEST, now + at);
        for wait in [0, 0, 0, 100, 200, 300] {
            assert_eq!(turn('a', ms(0)), Ok(ms(wait)));
        }
        assert_eq!(turn('b', ms(0)), Ok(ms(0)), "another holder");
        // The wait would have been 400 ms.
        assert_eq!(turn('a', ms(150)), Ok(ms(250)));
        // When everything is done at the rate, another burst is allowed.
        for wait in [0, 0, 0, 100] {
            assert_eq!(turn('a', ms(5_000)), Ok(ms(wait)));
        }
    }

    #[test]
    fn what_would_wait_too_long_takes_no_turn() {
        let (pacer, now) = (Pacer::new(), Instant::now());
        for _ in 0..13 {
            pacer.turn_at('a', RATE, LONGEST, now).unwrap();
        }
        for _ in 0..100 {
            let far = pacer.turn_at('a', RATE, LONGEST, now);
            assert_eq!(far, Err(TooFar(ms(1_100))));
        }
        assert_eq!(
            pacer.turn_at('a', RATE, LONGEST, now + ms(100)),
            Ok(LONGEST)
        );
    }

    #[test]
    fn holders_that_wait_for_nothing_are_forgotten() {
        let (pacer, now) = (Pacer::new(), Instant::now());
        for number in 0..100 * FEW {
            let at = now + ms(number as u64);
            pacer.turn_at(number, RATE, LONGEST, at).unwrap();
        }
        assert!(pacer.state.lock().unwrap().done_at.len() <= FEW);
    }
}
