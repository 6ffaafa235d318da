//! Operators who are signed in change queues; nobody else does.

use std::time::Duration;

use domain::role::Role;
use management::{
    Caller, Forbidden, Noun, Refused, dead_jobs,
    queues::{self, Pause},
};
use queue::{Group, Lane, dead::Filter};
use sqlx::PgPool;
use uuid::Uuid;

use crate::fixture::{Fixture, forbidden};

#[sqlx::test(migrations = false)]
async fn an_operator_pauses_a_queue_and_nobody_of_a_team_does(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let operator = app.person("operator@example.com", Role::Operator).await;
    let pause = async |by: Caller| {
        let pause = || Ok(Some(Pause::UntilResumed));
        let paused = queues::update_queue(&app.management, &by, "analysis", pause).await;
        paused.map(|updated| updated.was_paused)
    };
    for role in Role::ALL {
        if *role == Role::Operator {
            continue;
        }
        let somebody = app.person(&format!("{role}@example.com"), *role).await;
        let by = somebody.caller();
        assert_eq!(
            forbidden(pause(by).await),
            Forbidden::MissingScope,
            "{role}"
        );
        let by = somebody.caller();
        let listed = queues::list(&app.management, &by).await;
        assert_eq!(forbidden(listed), Forbidden::MissingScope, "{role}");
        let listed = dead_jobs::list(&app.management, &by, Filter::default(), 1).await;
        assert_eq!(forbidden(listed), Forbidden::MissingScope, "{role}");
    }
    let audited = async || {
        let changes = app.audited().await.into_iter();
        changes
            .filter(|change| change.ends_with("queue.update"))
            .count()
    };
    assert_eq!(audited().await, 0);
    assert!(!pause(operator.caller()).await.unwrap());
    assert!(pause(operator.caller()).await.unwrap());
    assert!(pause(Caller::command_line()).await.unwrap());
    assert_eq!(audited().await, 1);
    let held = "select count(*) from queue.queues where paused_until = 'infinity'";
    assert_eq!(app.count(held).await, 1);
}

#[sqlx::test(migrations = false)]
async fn a_pause_for_longer_than_any_calendar_lasts_until_it_is_ended(pool: PgPool) {
    let app = Fixture::new(pool).await;
    let by = Caller::command_line();
    let lane = Lane(Uuid::now_v7());
    let hold = async |name: &str, pause: Pause| {
        queues::update_lane(&app.management, &by, name, lane, || Ok(Some(pause)), None).await
    };
    let minute = Pause::For(Duration::from_mins(1));
    let paused = hold("webhooks", minute).await.unwrap();
    assert!(paused.now.is_paused && paused.now.paused_until > Some(paused.at));
    let for_ever = hold("webhooks", Pause::For(Duration::MAX)).await.unwrap();
    assert!(for_ever.was_paused && for_ever.now.is_paused);
    assert_eq!(for_ever.now.paused_until, None);
    assert_eq!(for_ever.restrictions.paused_lanes, 1);
    let ended = hold("webhooks", Pause::End).await.unwrap();
    assert!(ended.was_paused && !ended.now.is_paused);
    assert!(!hold("webhooks", Pause::End).await.unwrap().was_paused);
    let refused = hold("mails", Pause::End).await;
    assert!(matches!(refused, Err(Refused::NotFound(Noun::Queue))));
    let group = Group(lane.0);
    let read = queues::get_group(&app.management, &by, "mails", group).await;
    assert!(matches!(read, Err(Refused::NotFound(Noun::Queue))));
    assert_eq!(app.audited().await, ["command_line queue.update"; 3]);
}
