//! The trace of an item is stored only where the item's id does not tell it.

use domain::{id::MediaId, reach::Reach};
use sqlx::PgPool;
use store::{accept::Acceptance, media};
use telemetry::trace::Context;

use super::submitter::Submitter;

fn own(id: MediaId) -> Context {
    Context::of_item(id.as_uuid().into_bytes())
}

fn recorded(id: MediaId) -> Context {
    own(id).sampled()
}

fn of_a_caller(_: MediaId) -> Context {
    Context::begin()
}

#[sqlx::test(migrations = false)]
async fn only_a_trace_that_the_id_does_not_tell_is_stored(pool: PgPool) {
    let fixture = Submitter::new(pool.clone()).await;
    let site = fixture.site().await;
    let mut expected = Vec::new();
    for trace in [own, recorded, of_a_caller] {
        let mut new = fixture.media(&site, "a text");
        new.trace = trace(new.id);
        expected.push((new.id, new.trace));
        assert_eq!(fixture.accept(new).await, Acceptance::Accepted);
    }
    let mut conn = pool.acquire().await.unwrap();
    for (n, (id, trace)) in expected.into_iter().enumerate() {
        let stored: Option<Vec<u8>> =
            sqlx::query_scalar("select traceparent from media where id = $1")
                .bind(id.as_uuid())
                .fetch_one(&mut *conn)
                .await
                .unwrap();
        assert_eq!(stored.as_ref().map(Vec::len), (n > 0).then_some(25));
        assert_eq!(
            Context::of_stored(id.as_uuid().into_bytes(), stored.as_deref()),
            trace
        );
        let item = media::find(&mut conn, Reach::Everything, id).await.unwrap();
        assert_eq!(item.unwrap().trace, trace.trace());
    }
    drop(conn);
    fixture.close().await;
}
