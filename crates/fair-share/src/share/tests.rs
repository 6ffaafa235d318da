use std::{future::Future, pin::pin, time::Duration};

use futures::{FutureExt as _, future::join_all};
use proptest::prelude::*;
use tokio::time::timeout;

use super::*;

/// As many single units as a holder can get.
fn greedy(shares: &Arc<Shares<&'static str>>, holder: &'static str) -> Share<&'static str> {
    let mut share = shares.share(holder, Limit::Fair);
    while share.grow(1).is_ok() {}
    share
}

fn granted<T>(future: impl Future<Output = T>) -> Option<T> {
    future.now_or_never()
}

#[test]
fn a_holder_leaves_as_much_as_it_takes_and_newcomers_find_room() {
    let shares = Shares::new(1_200);
    let first = greedy(&shares, "a");
    assert_eq!(first.amount(), 600);
    let second = greedy(&shares, "b");
    assert_eq!(second.amount(), 300);
    // The first cannot grow while the second holds its part, but it keeps what it has.
    assert_eq!(shares.share("a", Limit::Fair).grow(1), Err(Spent));
    assert_eq!(greedy(&shares, "c").amount(), 150);
}

#[test]
fn the_last_goes_to_a_holder_that_has_nothing() {
    let shares = Shares::new(2);
    let _first = greedy(&shares, "a");
    let second = greedy(&shares, "b");
    assert_eq!(second.amount(), 1);
    assert_eq!(greedy(&shares, "c").amount(), 0);
}

#[test]
fn without_a_fair_limit_a_holder_may_have_everything() {
    let shares = Shares::new(10);
    let mut share = shares.share("proxy", Limit::Capacity);
    while share.grow(1).is_ok() {}
    assert_eq!(share.amount(), 10);
}

#[test]
fn what_is_given_back_can_be_taken_again_and_nobody_is_remembered() {
    let shares = Shares::new(10);
    drop(greedy(&shares, "a"));
    assert_eq!(greedy(&shares, "a").amount(), 5);
    let state = shares.lock();
    assert_eq!((state.in_use, state.held.len()), (0, 0));
}

#[test]
fn holders_that_wait_are_served_in_turn() {
    let shares = Shares::new(1);
    let busy = shares.try_take("a", 1, Limit::Fair).unwrap();
    let mut first = pin!(shares.take("a", 1, Limit::Fair));
    let mut second = pin!(shares.take("a", 1, Limit::Fair));
    let mut other = pin!(shares.take("b", 1, Limit::Fair));
    assert!(granted(&mut first).is_none());
    assert!(granted(&mut second).is_none());
    assert!(granted(&mut other).is_none());
    drop(busy);
    let one = granted(&mut other).expect("a had its turn, so b is next");
    assert!(granted(&mut first).is_none());
    drop(one);
    let one = granted(&mut first).expect("of one holder, the first that came is the first");
    assert!(granted(&mut second).is_none());
    drop(one);
    assert!(granted(&mut second).is_some());
}

#[test]
fn a_greedy_holder_waits_while_others_pass() {
    let shares = Shares::new(4);
    let held = greedy(&shares, "a");
    assert_eq!(held.amount(), 2);
    let mut more = pin!(shares.take("a", 1, Limit::Fair));
    assert!(granted(&mut more).is_none());
    let other = granted(shares.take("b", 1, Limit::Fair));
    assert!(other.is_some(), "a newcomer does not wait behind it");
    drop(other);
    assert!(granted(&mut more).is_none(), "it would leave one for three");
    drop(held);
    assert!(granted(&mut more).is_some());
}

#[test]
fn a_large_request_is_not_overtaken_for_ever() {
    let shares = Shares::new(4);
    let small = shares.try_take("a", 1, Limit::Fair).unwrap();
    let mut large = pin!(shares.take("b", 4, Limit::Fair));
    assert!(granted(&mut large).is_none());
    let mut late = pin!(shares.take("c", 1, Limit::Fair));
    assert!(
        granted(&mut late).is_none(),
        "one unit is free, but b is next"
    );
    drop(small);
    let all = granted(&mut large).expect("b has all four");
    assert!(granted(&mut late).is_none());
    drop(all);
    assert!(granted(&mut late).is_some());
}

#[test]
fn more_than_there_is_means_all_there_is() {
    let shares = Shares::new(4);
    assert_eq!(
        granted(shares.take("a", 9, Limit::Fair)).unwrap().amount(),
        4
    );
}

#[test]
fn a_withdrawn_request_takes_nothing_and_is_forgotten() {
    let shares = Shares::new(1);
    let busy = shares.try_take("a", 1, Limit::Fair).unwrap();
    for _ in 0..1_000 {
        let mut gone = Box::pin(shares.take("b", 1, Limit::Fair));
        assert!(granted(&mut gone).is_none());
    }
    let mut waits = pin!(shares.take("b", 1, Limit::Fair));
    assert!(granted(&mut waits).is_none());
    drop(busy);
    assert!(granted(&mut waits).is_some());
    let state = shares.lock();
    assert!(state.waiting.is_empty());
    assert_eq!((state.in_use, state.held.len()), (0, 0));
}

#[test]
fn a_request_that_was_granted_and_then_dropped_gives_back() {
    let shares = Shares::new(1);
    let busy = shares.try_take("a", 1, Limit::Fair).unwrap();
    {
        let mut gone = Box::pin(shares.take("b", 1, Limit::Fair));
        assert!(granted(&mut gone).is_none());
        drop(busy);
    }
    assert_eq!(shares.in_use(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_takers_at_once_never_have_more_than_there_is_and_all_are_served() {
    let shares = Shares::new(3);
    let takers = (0..2_000_u32).map(|number| {
        let shares = Arc::clone(&shares);
        tokio::spawn(async move {
            let share = shares.take(number % 7, 1, Limit::Fair).await;
            assert!(shares.in_use() <= 3);
            tokio::task::yield_now().await;
            drop(share);
        })
    });
    let all = join_all(takers.collect::<Vec<_>>());
    let done = timeout(Duration::from_mins(1), all)
        .await
        .expect("nobody waits for ever");
    assert!(done.into_iter().all(|taker| taker.is_ok()));
    assert_eq!((shares.in_use(), shares.holders()), (0, 0));
}

proptest! {
    /// Random takes, waits, withdrawals and returns: the sums are always right, and nobody waits
    /// for free units.
    #[test]
    fn the_books_balance(steps in prop::collection::vec((0_u8..4, 0_usize..5, 1_usize..4, any::<bool>()), 1..200)) {
        let shares = Shares::new(5);
        let mut held: Vec<Share<u8>> = Vec::new();
        let mut waiting = Vec::new();
        for (holder, at, amount, fair) in steps {
            let limit = if fair { Limit::Fair } else { Limit::Capacity };
            match at {
                0 | 1 => {
                    let shares = Arc::clone(&shares);
                    waiting.push(Box::pin(async move { shares.take(holder, amount, limit).await }));
                }
                2 if !held.is_empty() => drop(held.swap_remove(usize::from(holder) % held.len())),
                3 if !waiting.is_empty() => drop(waiting.swap_remove(usize::from(holder) % waiting.len())),
                _ => held.extend(shares.try_take(holder, amount, limit)),
            }
            // Twice: a request that joins may let another one in.
            for _ in 0..2 {
                waiting.retain_mut(|take| take.as_mut().now_or_never().map(|share| held.push(share)).is_none());
            }
            let sum: usize = held.iter().map(Share::amount).sum();
            prop_assert_eq!(shares.in_use(), sum);
            prop_assert!(sum <= 5);
        }
        // Whatever waits is served once everything else has been given back.
        while !held.is_empty() || !waiting.is_empty() {
            prop_assert!(!held.is_empty(), "requests wait although everything is free");
            held.clear();
            waiting.retain_mut(|take| take.as_mut().now_or_never().map(|share| held.push(share)).is_none());
        }
        prop_assert_eq!((shares.in_use(), shares.holders()), (0, 0));
    }
}
