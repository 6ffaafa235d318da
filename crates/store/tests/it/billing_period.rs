//! Billing periods, which the database counts: the UTC months from a subscription's start.

use chrono::{DateTime, Datelike as _, Days, Months, TimeDelta, Utc};
use sqlx::{PgConnection, PgPool};
use store::schema;

fn time(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// The period of each anchor that each time falls into: its start and its end, as the database
/// says.
async fn periods(
    conn: &mut PgConnection,
    cases: &[(DateTime<Utc>, DateTime<Utc>)],
) -> Vec<(DateTime<Utc>, DateTime<Utc>)> {
    let (anchors, times): (Vec<_>, Vec<_>) = cases.iter().copied().unzip();
    sqlx::query_as(
        "
        select billing_period(anchor, at), billing_period(anchor, at, 1)
        from unnest($1::timestamptz [], $2::timestamptz []) with ordinality as c (anchor, at, ordinal)
        order by ordinal
        ",
    )
    .bind(anchors)
    .bind(times)
    .fetch_all(conn)
    .await
    .unwrap()
}

#[sqlx::test(migrations = false)]
async fn the_day_of_the_month_is_kept_wherever_there_is_one(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let cases = [
        // From 31 January on: the end of a shorter month, and the 31st again.
        (
            "2026-01-31T08:00:00Z",
            "2026-02-28T07:59:59.999999Z",
            "2026-01-31T08:00:00Z",
            "2026-02-28T08:00:00Z",
        ),
        (
            "2026-01-31T08:00:00Z",
            "2026-02-28T08:00:00Z",
            "2026-02-28T08:00:00Z",
            "2026-03-31T08:00:00Z",
        ),
        (
            "2026-01-31T08:00:00Z",
            "2026-03-31T08:00:00Z",
            "2026-03-31T08:00:00Z",
            "2026-04-30T08:00:00Z",
        ),
        // Leap years.
        (
            "2024-01-31T00:00:00Z",
            "2024-02-29T00:00:00Z",
            "2024-02-29T00:00:00Z",
            "2024-03-31T00:00:00Z",
        ),
        (
            "2024-02-29T00:00:00Z",
            "2025-02-28T00:00:00Z",
            "2025-02-28T00:00:00Z",
            "2025-03-29T00:00:00Z",
        ),
        (
            "2024-02-29T00:00:00Z",
            "2028-02-29T00:00:00Z",
            "2028-02-29T00:00:00Z",
            "2028-03-29T00:00:00Z",
        ),
        (
            "2000-02-29T00:00:00Z",
            "2100-03-01T00:00:00Z",
            "2100-02-28T00:00:00Z",
            "2100-03-29T00:00:00Z",
        ),
        // Exactly at the start, and a microsecond to either side.
        (
            "2026-03-15T12:00:00Z",
            "2026-03-15T12:00:00Z",
            "2026-03-15T12:00:00Z",
            "2026-04-15T12:00:00Z",
        ),
        (
            "2026-03-15T12:00:00Z",
            "2026-04-15T11:59:59.999999Z",
            "2026-03-15T12:00:00Z",
            "2026-04-15T12:00:00Z",
        ),
        (
            "2026-03-15T12:00:00Z",
            "2026-04-15T12:00:00.000001Z",
            "2026-04-15T12:00:00Z",
            "2026-05-15T12:00:00Z",
        ),
        // Across years.
        (
            "2025-12-31T23:59:59Z",
            "2026-01-31T23:59:58Z",
            "2025-12-31T23:59:59Z",
            "2026-01-31T23:59:59Z",
        ),
        (
            "2020-06-01T00:00:00Z",
            "2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00Z",
            "2026-02-01T00:00:00Z",
        ),
        // Before the start, periods are counted backwards.
        (
            "2026-03-31T00:00:00Z",
            "2026-03-30T00:00:00Z",
            "2026-02-28T00:00:00Z",
            "2026-03-31T00:00:00Z",
        ),
        (
            "2026-03-31T00:00:00Z",
            "2025-01-01T00:00:00Z",
            "2024-12-31T00:00:00Z",
            "2025-01-31T00:00:00Z",
        ),
    ];
    let asked = cases.map(|(anchor, at, _, _)| (time(anchor), time(at)));
    let expected = cases.map(|(_, _, start, end)| (time(start), time(end)));
    let mut conn = pool.acquire().await.unwrap();
    // Whatever the database's time zone is, months are in UTC.
    for zone in ["UTC", "Pacific/Auckland", "America/Los_Angeles"] {
        let set = format!("set time zone '{zone}'");
        sqlx::raw_sql(sqlx::AssertSqlSafe(set))
            .execute(&mut *conn)
            .await
            .unwrap();
        assert_eq!(periods(&mut conn, &asked).await, expected, "{zone}");
    }
}

#[sqlx::test(migrations = false)]
async fn every_moment_lies_in_the_one_period_that_the_calendar_gives(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let mut cases = Vec::new();
    for day in 0..500 {
        let anchor = time("2023-12-01T17:30:00Z") + Days::new(day);
        for offset in (-40..800).step_by(13) {
            for seconds in [-1, 0, 1] {
                let at = anchor + TimeDelta::days(offset) + TimeDelta::seconds(seconds);
                cases.push((anchor, at));
            }
        }
    }
    let mut conn = pool.acquire().await.unwrap();
    let answers = periods(&mut conn, &cases).await;
    assert_eq!(answers.len(), cases.len());
    for ((anchor, at), (start, end)) in cases.iter().zip(&answers) {
        assert!(start <= at && at < end, "{anchor} {at}: {start} to {end}");
        let months = (start.year() - anchor.year()) * 12 + start.month0().cast_signed()
            - anchor.month0().cast_signed();
        assert_eq!(*start, shifted(*anchor, months), "{anchor} {at}");
        assert_eq!(*end, shifted(*anchor, months + 1), "{anchor} {at}");
    }
}

/// The calendar's own answer.
fn shifted(anchor: DateTime<Utc>, months: i32) -> DateTime<Utc> {
    let by = Months::new(months.unsigned_abs());
    let shifted = if months < 0 {
        anchor.checked_sub_months(by)
    } else {
        anchor.checked_add_months(by)
    };
    shifted.unwrap()
}
