//! Whose turn it is, and how much memory that is.

use std::sync::Mutex;

use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::*;

fn team(number: u128) -> TeamId {
    Uuid::from_u128(number).into()
}

async fn file() -> Result<Vec<u8>, Refused> {
    Ok(b"file".to_vec())
}

/// How long these tests wait for a turn. A turn that can come comes by then on a busy machine.
const SHORT: Duration = Duration::from_secs(10);

/// A pool whose previews are made when the test says so.
fn held() -> (
    Arc<PreviewPool>,
    mpsc::UnboundedReceiver<oneshot::Sender<()>>,
) {
    let (arrive, arrived) = mpsc::unbounded_channel();
    let make_preview: MakePreview = Arc::new(move |file, _| {
        let (go, wait) = oneshot::channel();
        arrive.send(go).unwrap();
        Box::pin(async move {
            let _ = wait.await;
            Ok(file)
        })
    });
    let preview_pool = PreviewPool {
        patience: SHORT,
        ..PreviewPool::new(Some(make_preview))
    };
    (Arc::new(preview_pool), arrived)
}

#[tokio::test]
async fn one_team_has_half_of_the_turns_at_most_and_another_always_finds_one() {
    let (preview_pool, mut arrived) = held();
    let ask = |number| {
        let preview_pool = Arc::clone(&preview_pool);
        tokio::spawn(async move { preview_pool.preview(Some(team(number)), file).await })
    };
    let greedy: Vec<_> = (0..10).map(|_| ask(1)).collect();
    let mut inside = vec![arrived.recv().await.unwrap(), arrived.recv().await.unwrap()];
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(arrived.try_recv().is_err(), "a third one is inside");
    assert_eq!(preview_pool.memory.in_use(), MEMORY / 2);
    let other = ask(2);
    arrived.recv().await.unwrap().send(()).unwrap();
    assert_eq!(other.await.unwrap().unwrap(), b"file");
    // A turn that ends is the next one's, and the others give up in time.
    inside.pop().unwrap().send(()).unwrap();
    inside.push(arrived.recv().await.unwrap());
    let ended = async {
        while greedy.iter().filter(|one| one.is_finished()).count() < 8 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(10 * SHORT, ended).await.expect("seven give up");
    for go in inside {
        go.send(()).unwrap();
    }
    let mut refused = 0;
    for one in greedy {
        match one.await.unwrap() {
            Ok(_) => {}
            Err(Refused::Overloaded) => refused += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(refused, 7);
    assert_eq!(preview_pool.memory.in_use(), 0);
}

#[tokio::test]
async fn a_client_that_goes_away_frees_no_memory_that_is_in_use() {
    let (preview_pool, mut arrived) = held();
    let asking = Arc::clone(&preview_pool);
    let asking = tokio::spawn(async move { asking.preview(Some(team(1)), file).await });
    let go = arrived.recv().await.unwrap();
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    assert_eq!(preview_pool.memory.in_use(), USUAL);
    go.send(()).unwrap();
    while preview_pool.memory.in_use() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_large_picture_is_tried_again_with_enough_memory_and_no_more_often() {
    let given = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&given);
    let make_preview: MakePreview = Arc::new(move |file, memory| {
        seen.lock().unwrap().push(memory);
        let is_enough = memory == LARGE && file == b"file";
        Box::pin(async move { is_enough.then_some(file).ok_or(PreviewError::NeedsMemory) })
    });
    let preview_pool = PreviewPool::new(Some(make_preview));
    assert_eq!(preview_pool.preview(None, file).await.unwrap(), b"file");
    let larger = preview_pool.preview(None, async || Ok(Vec::new())).await;
    assert!(matches!(larger, Err(Refused::Conflict(..))), "{larger:?}");
    assert_eq!(*given.lock().unwrap(), [USUAL, LARGE, USUAL, LARGE]);
    assert_eq!(preview_pool.memory.in_use(), 0);
}

#[tokio::test]
async fn without_a_darkroom_nothing_is_loaded() {
    let preview_pool = PreviewPool::new(None);
    let refused = preview_pool
        .preview(None, async || panic!("it was loaded"))
        .await;
    assert!(
        matches!(refused, Err(Refused::PreviewsUnavailable)),
        "{refused:?}"
    );
}
