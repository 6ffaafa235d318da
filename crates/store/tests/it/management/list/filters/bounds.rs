//! What a page of a rule, or of an author, reads.

use store::media::{WALKED, list};

use sqlx::PgConnection;

use super::{super::fill, *};

#[sqlx::test(migrations = false)]
async fn a_page_of_a_rule_or_an_author_reads_a_bounded_part_of_the_tables(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let walked = i32::try_from(WALKED).unwrap();
    fill(&fixture, fixture.site, 0..4 * walked).await;
    let trace = json!({ "evidence": [matched(1)] });
    sqlx::query(
        "insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace)
         select id, 1, status, 'pending', 'rule', '{}', $1 from media",
    )
    .bind(&trace)
    .execute(&fixture.pool)
    .await
    .unwrap();
    fixture
        .execute(
            "update media set author = 'everybody'; update media set author = 'ada'
             where id = '01980000-0000-7000-8000-000000000000'; analyze media; analyze verdicts",
        )
        .await;

    // The verdict of every row is looked at, and no row matches: the most that a page can cost.
    let all = Filter::default();
    let none = Filter {
        rule: Some(rule(2)),
        ..all.clone()
    };
    let [media, verdicts] = fixture.rows_read(&none, 0).await;
    assert!(
        (walked.into()..2 * i64::from(walked)).contains(&media),
        "{media}"
    );
    assert!(
        (walked.into()..2 * i64::from(walked)).contains(&verdicts),
        "{verdicts}"
    );
    // Other pages end as soon as they are full, and go on from there.
    let every = Filter {
        rule: Some(rule(1)),
        ..all.clone()
    };
    let pages = fixture.pages(Reach::Team(fixture.team), &none, 10).await;
    assert_eq!(pages, vec![Vec::new(); 5]);
    let first = fixture
        .page(Reach::Team(fixture.team), &every, None, 10)
        .await;
    assert_eq!(first.media.len(), 10);

    // The only item of an author is the oldest one, and is found at once.
    let [media, _] = fixture.rows_read(&by_author("ada"), 1).await;
    assert!(media < 10, "{media}");
    // An author with any number of items costs no more than a page.
    let [media, _] = fixture.rows_read(&by_author("everybody"), 10).await;
    assert!(media < 100, "{media}");
    let rejected = Filter {
        status: Some(Status::Pending),
        ..by_author("everybody")
    };
    let [media, _] = fixture.rows_read(&rejected, 0).await;
    assert!(media < 2 * i64::from(walked), "{media}");
}

/// Rows of media and of verdicts that this connection has read recently.
async fn read(conn: &mut PgConnection) -> [i64; 2] {
    let read: Vec<i64> = sqlx::query_scalar(
        "select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables
         where relname in ('media', 'verdicts') order by relname",
    )
    .fetch_all(conn)
    .await
    .unwrap();
    read.try_into().unwrap()
}

impl Tenant {
    /// Rows of media and of verdicts that a page of 10 reads; it has so many items.
    async fn rows_read(&self, filter: &Filter, found: usize) -> [i64; 2] {
        let mut tx = self.pool.begin().await.unwrap();
        let before = read(&mut tx).await;
        let page = list(&mut tx, Reach::Team(self.team), filter, None, 10)
            .await
            .unwrap();
        assert_eq!(page.media.len(), found, "{filter:?}");
        let after = read(&mut tx).await;
        [after[0] - before[0], after[1] - before[1]]
    }
}
