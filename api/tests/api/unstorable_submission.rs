//! A submission that Postgres cannot store fails alone, whatever else arrives with it.

use domain::submission::SubmissionLimits;
use serde_json::json;
use sqlx::{PgPool, postgres::PgPoolOptions};

use crate::{
    app::{App, Options, SUBMIT},
    client::Answer,
};

/// Metadata of this depth: an object, and arrays in it.
fn metadata(depth: usize) -> String {
    let arrays = depth - 1;
    format!(r#"{{"a":{}1{}}}"#, "[".repeat(arrays), "]".repeat(arrays))
}

impl App {
    async fn submit_nested(&self, depth: usize) -> Answer {
        let (key, metadata) = (&self.tenant.key, metadata(depth));
        let body = format!(r#"{{"api_key":"{key}","body":"poisoned","metadata":{metadata}}}"#);
        self.post_text(SUBMIT, body).await
    }

    /// One poisoned submission among 64 others: all others are stored. Returns what the poisoned one was told.
    async fn poisoned_among_others(&self, depth: usize) -> Answer {
        let others = (0..64).map(|_| async { self.submit(json!({ "body": "text" })).await });
        let (poisoned, others) =
            tokio::join!(self.submit_nested(depth), futures::future::join_all(others));
        for answer in others {
            answer.ok();
        }
        self.submitted("after").await;
        poisoned
    }
}

#[sqlx::test(migrations = false)]
async fn case_41_metadata_that_nests_too_deep_is_refused_with_its_path(pool: PgPool) {
    let app = App::start(pool).await;
    app.submit_nested(32).await.ok();
    let path = format!("metadata.a{}", "[0]".repeat(31));
    for depth in [33, 8_000] {
        app.submit_nested(depth)
            .await
            .blames("invalid_request", &[&path]);
    }
    assert_eq!(app.count("select count(*) from media").await, 1);
}

#[sqlx::test(migrations = false)]
async fn case_41_a_value_beyond_the_stack_of_postgres_turns_nobody_away(pool: PgPool) {
    let options = pool.connect_options().as_ref().clone();
    let pool = PgPoolOptions::new()
        .max_connections(5)
        .connect_with(options.options([("max_stack_depth", "100kB")]))
        .await
        .unwrap();
    let app = App::with(
        pool,
        Options {
            // Let through what is refused otherwise.
            limits: SubmissionLimits {
                metadata_depth: 10_000,
                ..SubmissionLimits::default()
            },
            ..Options::default()
        },
    )
    .await;
    let poisoned = app.poisoned_among_others(8_000).await;
    poisoned.problem(400, "invalid_request");
    assert_eq!(app.count("select count(*) from media").await, 65);
}

#[sqlx::test(migrations = false)]
async fn case_41_a_row_on_which_postgres_fails_is_our_error_and_turns_nobody_away(pool: PgPool) {
    let app = App::start(pool).await;
    sqlx::raw_sql(
        "create function poison() returns trigger language plpgsql as $$
         begin
             if new.body = 'poisoned' then
                 raise exception 'this cannot happen' using errcode = 'XX000';
             end if;
             return new;
         end $$;
         create trigger poison before insert on media for each row execute function poison()",
    )
    .execute(&app.pool)
    .await
    .unwrap();
    let poisoned = app.poisoned_among_others(2).await;
    poisoned.problem(500, "internal_error");
    assert_eq!(app.count("select count(*) from media").await, 65);
}
