//! How the desk treats the items of a site.

use domain::{
    id::SiteId,
    review::{AuditPercent, GoldenEvery, ReviewMinutes, UndoSeconds},
};
use serde::Serialize;
use sqlx::PgConnection;

use crate::Error;

/// The settings of the desk for a site. The audit log shows them as the management interface does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DeskSettings {
    /// Minutes within which a person should have decided about items of low severity,
    pub low_minutes: ReviewMinutes,
    /// of normal severity,
    pub normal_minutes: ReviewMinutes,
    /// of high severity,
    pub high_minutes: ReviewMinutes,
    /// and of critical severity.
    pub critical_minutes: ReviewMinutes,
    /// For so long a decision can be undone before it is told.
    pub undo_seconds: UndoSeconds,
    /// Of what one person decided, this percentage is shown to a second one.
    pub audit_percent: AuditPercent,
    /// One in so many reviews is of an item whose answer is known; none: none is.
    pub golden_every: Option<GoldenEvery>,
}

impl Default for DeskSettings {
    fn default() -> Self {
        Self {
            low_minutes: ReviewMinutes::of::<2_880>(),
            normal_minutes: ReviewMinutes::of::<1_440>(),
            high_minutes: ReviewMinutes::of::<240>(),
            critical_minutes: ReviewMinutes::of::<60>(),
            undo_seconds: UndoSeconds::of::<10>(),
            audit_percent: AuditPercent::of::<0>(),
            golden_every: None,
        }
    }
}

/// The settings for a site; the defaults if it has none.
pub async fn settings(conn: &mut PgConnection, site: SiteId) -> Result<DeskSettings, Error> {
    let row = sqlx::query!(
        "select minutes, undo_seconds, audit_percent, golden_every from desk_settings where site_id = $1",
        site.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    let Some(row) = row else {
        return Ok(DeskSettings::default());
    };
    let unreadable = || Error::Unreadable(format!("the desk settings of site {site}"));
    let minutes = |place: usize| {
        let minutes = row.minutes.get(place).copied().map(i64::from);
        let minutes = minutes.and_then(|minutes| ReviewMinutes::try_from(minutes).ok());
        minutes.ok_or_else(unreadable)
    };
    let golden = row
        .golden_every
        .map(|every| GoldenEvery::try_from(i64::from(every)));
    Ok(DeskSettings {
        low_minutes: minutes(0)?,
        normal_minutes: minutes(1)?,
        high_minutes: minutes(2)?,
        critical_minutes: minutes(3)?,
        undo_seconds: i64::from(row.undo_seconds)
            .try_into()
            .map_err(|_| unreadable())?,
        audit_percent: i64::from(row.audit_percent)
            .try_into()
            .map_err(|_| unreadable())?,
        golden_every: golden.transpose().map_err(|_| unreadable())?,
    })
}

/// Gives a site that exists other settings. Reviews that are open keep the time when they are due.
pub async fn change(
    conn: &mut PgConnection,
    site: SiteId,
    settings: &DeskSettings,
) -> Result<(), Error> {
    let minutes = [
        settings.low_minutes,
        settings.normal_minutes,
        settings.high_minutes,
        settings.critical_minutes,
    ];
    let minutes = minutes.map(|minutes| i32::try_from(minutes.get()).unwrap_or(i32::MAX));
    sqlx::query!(
        "
        insert into desk_settings (site_id, minutes, undo_seconds, audit_percent, golden_every)
        values ($1, $2, $3::bigint, $4::bigint, $5::bigint)
        on conflict (site_id) do update
        set
            minutes = excluded.minutes, undo_seconds = excluded.undo_seconds, audit_percent = excluded.audit_percent,
            golden_every = excluded.golden_every
        ",
        site.as_uuid(),
        &minutes,
        settings.undo_seconds.get(),
        settings.audit_percent.get(),
        settings.golden_every.map(GoldenEvery::get),
    )
    .execute(conn)
    .await?;
    Ok(())
}
