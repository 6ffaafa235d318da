//! Batches, their bounds, and what callers hear while the database is away.

use std::{sync::Mutex, time::Duration};

use super::*;

const BOUNDS: Bounds = Bounds {
    waiting: 100,
    waiting_bytes: 1_000,
    batch: 10,
    batch_bytes: 50,
    runners: 1,
};

fn sizes(bounds: Bounds) -> (Gather<u32, u32>, Arc<Mutex<Vec<usize>>>) {
    let sizes = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&sizes);
    let gather = Gather::start(bounds, move |batch: Vec<Call<u32, u32>>| {
        seen.lock().unwrap().push(batch.len());
        async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            for call in batch {
                let double = call.question * 2;
                call.answer(double);
            }
        }
    });
    (gather, sizes)
}

#[tokio::test]
async fn callers_that_wait_together_share_a_batch_within_its_bounds() {
    let (gather, sizes) = sizes(BOUNDS);
    let calls = (0..30).map(|n| {
        let gather = gather.clone();
        async move { gather.ask(n, 5).await.unwrap() }
    });
    let answers = futures_join(calls).await;
    assert_eq!(answers, (0..30).map(|n| n * 2).collect::<Vec<_>>());
    let sizes = sizes.lock().unwrap();
    assert!(sizes.len() <= 4, "{sizes:?}");
    assert!(sizes.iter().all(|size| *size <= 10), "{sizes:?}");
}

#[tokio::test]
async fn what_one_caller_asks_at_the_same_time_shares_a_batch() {
    let (gather, sizes) = sizes(BOUNDS);
    for _ in 0..20 {
        let answers = gather.ask_all_for((), [(1, 5), (2, 5), (3, 5)]).await;
        let answers: Vec<u32> = answers.into_iter().map(Result::unwrap).collect();
        assert_eq!(answers, [2, 4, 6]);
    }
    assert_eq!(*sizes.lock().unwrap(), [3; 20]);
    assert!(gather.ask_all_for((), []).await.is_empty());
}

#[tokio::test]
async fn a_batch_is_bounded_in_bytes_and_a_large_call_still_goes() {
    let (gather, sizes) = sizes(BOUNDS);
    let calls = [20, 20, 20, 200].into_iter().map(|weight| {
        let gather = gather.clone();
        async move { gather.ask(1, weight).await.unwrap() }
    });
    futures_join(calls).await;
    assert!(sizes.lock().unwrap().iter().all(|size| *size <= 2));
}

#[tokio::test]
async fn too_much_waiting_is_refused_at_once() {
    let (gather, _) = sizes(Bounds {
        waiting: 2,
        ..BOUNDS
    });
    let calls = (0..50).map(|n| {
        let gather = gather.clone();
        async move { gather.ask(n, 1).await.is_ok() }
    });
    let accepted = futures_join(calls)
        .await
        .into_iter()
        .filter(|ok| *ok)
        .count();
    assert!((1..50).contains(&accepted), "{accepted}");
    assert!(matches!(gather.ask(1, 1_001).await, Err(Error::Overloaded)));
}

#[tokio::test]
async fn the_burst_of_one_holder_neither_delays_nor_turns_away_another() {
    let batches = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&batches);
    let bounds = Bounds {
        waiting: 1_000,
        batch: 10,
        runners: 1,
        ..BOUNDS
    };
    let gather = Gather::shared(bounds, move |batch: Vec<Call<char, (), char>>| {
        let asked: Vec<char> = batch.iter().map(|call| call.question).collect();
        seen.lock().unwrap().push(asked);
        async move {
            tokio::task::yield_now().await;
            for call in batch {
                call.answer(());
            }
        }
    });
    let ask = |holder: char| {
        let gather = gather.clone();
        async move { gather.ask_for(holder, holder, 1).await.is_ok() }
    };
    let burst: Vec<_> = (0..2_000).map(|_| tokio::spawn(ask('a'))).collect();
    tokio::task::yield_now().await;
    assert!(ask('b').await, "there is a place for b");
    let before = batches
        .lock()
        .unwrap()
        .iter()
        .position(|batch| batch.contains(&'b'));
    assert!(before.unwrap() <= 2, "b waited for {before:?} batches of a");
    let mut accepted = 0;
    for call in burst {
        accepted += usize::from(call.await.unwrap());
    }
    assert!(
        accepted <= 500,
        "{accepted}: a has as many places as remain free"
    );
}

#[tokio::test]
async fn while_the_database_is_away_one_caller_at_a_time_goes_to_see() {
    let away = Arc::new(AtomicBool::new(true));
    let (seen, asked) = (Arc::clone(&away), Arc::new(Mutex::new(0)));
    let batches = Arc::clone(&asked);
    let gather = Gather::start(BOUNDS, move |batch: Vec<Call<u32, u32>>| {
        *batches.lock().unwrap() += 1;
        let away = seen.load(Ordering::Relaxed);
        async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            for call in batch {
                if away {
                    call.give_up();
                } else {
                    let answer = call.question;
                    call.answer(answer);
                }
            }
        }
    });
    let ask = || {
        let gather = gather.clone();
        async move { gather.ask(1, 1).await }
    };
    assert!(matches!(ask().await, Err(Error::Unavailable)));
    let answers = futures_join((0..20).map(|_| ask())).await;
    assert!(
        answers
            .iter()
            .all(|answer| matches!(answer, Err(Error::Unavailable)))
    );
    assert_eq!(*asked.lock().unwrap(), 2, "one of twenty went to see");

    away.store(false, Ordering::Relaxed);
    assert!(ask().await.is_ok());
    let answers = futures_join((0..20).map(|_| ask())).await;
    assert!(answers.iter().all(Result::is_ok), "all are served again");
}

#[tokio::test]
async fn case_48_what_waits_behind_a_batch_that_is_given_up_is_told_at_once() {
    let batches = Arc::new(Mutex::new(0));
    let seen = Arc::clone(&batches);
    let gather = Gather::start(BOUNDS, move |batch: Vec<Call<u32, u32>>| {
        *seen.lock().unwrap() += 1;
        async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            batch.into_iter().for_each(Call::give_up);
        }
    });
    // Six batches of ten.
    let answers = futures_join((0..60).map(|n| {
        let gather = gather.clone();
        async move { gather.ask(n, 5).await }
    }))
    .await;
    let told = |answer: &Result<u32, Error>| matches!(answer, Err(Error::Unavailable));
    assert!(answers.iter().all(told));
    assert_eq!(*batches.lock().unwrap(), 1);
}

#[tokio::test]
async fn a_caller_that_has_gone_is_not_asked_for() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let questions = Arc::clone(&asked);
    let (began, mut beginnings) = tokio::sync::mpsc::unbounded_channel();
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let closed = Arc::clone(&gate);
    let gather = Gather::start(BOUNDS, move |batch: Vec<Call<u32, u32>>| {
        let (questions, closed) = (Arc::clone(&questions), Arc::clone(&closed));
        began.send(()).unwrap();
        async move {
            drop(closed.acquire().await.unwrap());
            for call in batch {
                questions.lock().unwrap().push(call.question);
                call.answer(0);
            }
        }
    });
    let first = tokio::spawn({
        let gather = gather.clone();
        async move { gather.ask(1, 1).await }
    });
    beginnings.recv().await.unwrap();
    let impatient = tokio::time::timeout(Duration::from_millis(10), gather.ask(2, 1));
    assert!(impatient.await.is_err());
    gate.add_permits(1);
    gather.ask(3, 1).await.unwrap();
    first.await.unwrap().unwrap();
    assert_eq!(*asked.lock().unwrap(), [1, 3]);
}

async fn futures_join<T: Send + 'static>(
    calls: impl Iterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let tasks: Vec<_> = calls.map(tokio::spawn).collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers
}
