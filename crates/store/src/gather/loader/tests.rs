//! A row that cannot be read fails only those who asked for it.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const BOUNDS: Bounds = Bounds {
    waiting: 1_000,
    waiting_bytes: 1 << 20,
    batch: 256,
    batch_bytes: 1 << 20,
    runners: 1,
};
const BAD: u32 = 77;

#[tokio::test]
async fn case_41_a_row_that_cannot_be_read_fails_only_those_who_asked_for_it() {
    let pool = PgPool::connect_lazy("postgres://nobody@127.0.0.1:1/nothing").unwrap();
    let queries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&queries);
    let loader = Loader::start(pool, "test", BOUNDS, move |_, keys: Vec<u32>| {
        counted.fetch_add(1, Ordering::Relaxed);
        async move {
            if keys.contains(&BAD) {
                return Err(Error::Unreadable("a stored value".to_owned()));
            }
            Ok(keys.into_iter().map(|key| (key, key * 2)).collect())
        }
    });
    let asked: Vec<_> = (0..200)
        .map(|n| {
            let loader = loader.clone();
            tokio::spawn(async move { (n, loader.load(n % 100).await) })
        })
        .collect();
    for answer in asked {
        let (n, row) = answer.await.unwrap();
        match n % 100 {
            BAD => assert!(matches!(row, Err(Error::Unreadable(_))), "{row:?}"),
            key => assert_eq!(row.unwrap(), Some(key * 2)),
        }
    }
    assert!(queries.load(Ordering::Relaxed) <= 20, "{queries:?}");
    assert_eq!(loader.load(1).await.unwrap(), Some(2));
}
