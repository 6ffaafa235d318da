//! Rows that Postgres cannot store although they passed every check: each fails alone, at once, and
//! turns nobody away.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{id::MediaId, image::ImageFormat, submission::ImageSource};
use serde_json::value::RawValue;
use sqlx::{PgPool, postgres::PgPoolOptions};
use store::{
    Error,
    accept::{Acceptance, NewMedia},
    site::Site,
};

use super::submitter::Submitter;
use crate::tenant::Tenant;

/// A batch would be retried for 10 s before it is given up.
const AT_ONCE: Duration = Duration::from_secs(9);

/// Connections whose stack is large enough for a normal row, but not for thousands of nested
/// arrays.
async fn of_little_stack(pool: &PgPool) -> PgPool {
    let options = pool.connect_options().as_ref().clone();
    PgPoolOptions::new()
        .max_connections(5)
        .connect_with(options.options([("max_stack_depth", "100kB")]))
        .await
        .unwrap()
}

/// A submission whose metadata the earlier checks would refuse.
fn deep(fixture: &Submitter, site: &Arc<Site>) -> NewMedia {
    let json = format!(r#"{{"a":{}{}}}"#, "[".repeat(8_000), "]".repeat(8_000));
    let mut media = fixture.media(site, "poisoned");
    media.submission.metadata = Some(RawValue::from_string(json).unwrap());
    media
}

/// Submits all at the same time, and returns the answers.
async fn submit(
    fixture: &Submitter,
    all: Vec<NewMedia>,
) -> Vec<(MediaId, Result<Acceptance, Error>)> {
    let waiting: Vec<_> = all
        .into_iter()
        .map(|media| {
            let acceptor = fixture.acceptor.clone();
            tokio::spawn(async move { (media.id, acceptor.accept(media).await) })
        })
        .collect();
    let mut answers = Vec::new();
    for answer in waiting {
        answers.push(answer.await.unwrap());
    }
    answers
}

#[sqlx::test(migrations = false)]
async fn case_41_a_row_too_complex_for_postgres_fails_alone_and_at_once(pool: PgPool) {
    let fixture = Submitter::new(of_little_stack(&pool).await).await;
    let site = fixture.site().await;
    let mut all: Vec<NewMedia> = (0..64).map(|_| fixture.media(&site, "text")).collect();
    let poisoned = deep(&fixture, &site);
    let poison = poisoned.id;
    all.insert(40, poisoned);
    let began = Instant::now();
    for (id, answer) in submit(&fixture, all).await {
        let expected = if id == poison {
            Acceptance::Refused
        } else {
            Acceptance::Accepted
        };
        assert_eq!(answer.unwrap(), expected);
    }
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    assert_eq!(fixture.count("select count(*) from media").await, 64);
    assert_eq!(
        fixture.accept(fixture.media(&site, "after")).await,
        Acceptance::Accepted
    );
    fixture.close().await;
}

/// Makes Postgres fail with this SQLSTATE on every row whose text is "poisoned".
async fn poison(fixture: &Submitter, state: &str) {
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!(
        "create or replace function poison() returns trigger language plpgsql as $$
         begin
             if new.body = 'poisoned' then
                 raise exception 'a row that Postgres cannot store' using errcode = '{state}';
             end if;
             return new;
         end $$;
         create or replace trigger poison before insert on media for each row execute function poison()"
    )))
    .execute(&fixture.pool)
    .await
    .unwrap();
}

#[sqlx::test(migrations = false)]
async fn case_41_an_internal_error_on_one_row_is_told_to_its_submission_only(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    let site = fixture.site().await;
    for (state, expected) in [
        ("XX000", Acceptance::Failed),
        ("P0001", Acceptance::Failed),
        ("54001", Acceptance::Refused),
        ("23514", Acceptance::Refused),
    ] {
        poison(&fixture, state).await;
        let mut all: Vec<NewMedia> = (0..64).map(|_| fixture.media(&site, "text")).collect();
        all[17].submission.body = Some("poisoned".to_owned());
        let bad = all[17].id;
        let began = Instant::now();
        for (id, answer) in submit(&fixture, all).await {
            let is = answer.unwrap();
            assert_eq!(
                is,
                if id == bad {
                    expected
                } else {
                    Acceptance::Accepted
                },
                "{state}"
            );
        }
        assert!(began.elapsed() < AT_ONCE, "{state}: {:?}", began.elapsed());
    }
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn case_41_an_image_that_cannot_be_stored_fails_alone_and_at_once(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    let site = fixture.site().await;
    fixture
        .execute(
            "create function poison() returns trigger language plpgsql as $$
             begin
                 if new.format = 'gif' then
                     raise exception 'a row that Postgres cannot store' using errcode = '54001';
                 end if;
                 return new;
             end $$;
             create trigger poison before insert on media_images for each row execute function poison()",
        )
        .await;
    let mut all: Vec<NewMedia> = (0..16).map(|_| fixture.media(&site, "image")).collect();
    for (number, media) in all.iter_mut().enumerate() {
        media.submission.image = Some(ImageSource::Inline {
            format: if number == 5 {
                ImageFormat::Gif
            } else {
                ImageFormat::Png
            },
            bytes: vec![7; 1_000],
        });
    }
    let bad = all[5].id;
    let began = Instant::now();
    for (id, answer) in submit(&fixture, all).await {
        let expected = if id == bad {
            Acceptance::Refused
        } else {
            Acceptance::Accepted
        };
        assert_eq!(answer.unwrap(), expected);
    }
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    let stored = "select count(*) from media m join media_images i on i.media_id = m.id";
    assert_eq!(fixture.count(stored).await, 15);
    fixture.close().await;
}

#[sqlx::test(migrations = false)]
async fn case_41_a_team_that_sends_nothing_but_poison_turns_nobody_away(pool: PgPool) {
    let fixture = Submitter::new(pool).await;
    let site = fixture.site().await;
    poison(&fixture, "54001").await;
    let hostile = Tenant::another(&fixture.pool, "hostile").await;
    let place = fixture.sites.find(hostile.key.hash()).await.unwrap();
    let place = place.unwrap();
    let mut all = Vec::new();
    let mut own = Vec::new();
    for n in 0..600 {
        if n % 3 == 0 {
            let media = fixture.media(&site, "text");
            own.push(media.id);
            all.push(media);
        } else {
            let mut media = fixture.media(&place, "poisoned");
            media.key = hostile.key.hash();
            all.push(media);
        }
    }
    for (id, answer) in submit(&fixture, all).await {
        if own.contains(&id) {
            assert_eq!(answer.unwrap(), Acceptance::Accepted);
        } else {
            let answer = answer.unwrap();
            let is_told = matches!(answer, Acceptance::Refused | Acceptance::Untried);
            assert!(is_told, "{answer:?}");
        }
    }
    assert_eq!(fixture.count("select count(*) from media").await, 200);
    fixture.close().await;
}
