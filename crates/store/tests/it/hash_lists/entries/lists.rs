//! Which lists there are, and for whom.

use domain::{actor::Actor, reach::Reach};
use sqlx::PgPool;
use store::{
    Error,
    hash_list::{self, NewHashList},
};

use super::ALL;
use crate::hash_lists::fixture::{Listed, pdq};

#[sqlx::test(migrations = false)]
async fn a_team_sees_its_own_lists_and_the_shared_ones(pool: PgPool) {
    let team = Listed::new(pool).await;
    let other = Listed::another(&team.pool, "other").await;
    let shared = team.create(None, "list").await;
    let mut conn = team.pool.acquire().await.unwrap();
    let reach = Reach::Team(team.team);
    let seen = hash_list::list(&mut conn, reach, ALL).await.unwrap();
    let seen: Vec<_> = seen.iter().map(|list| list.id).collect();
    assert_eq!(seen, [team.list, shared]);
    for (list, found) in [(team.list, true), (shared, true), (other.list, false)] {
        let one = hash_list::find(&mut conn, reach, list).await.unwrap();
        assert_eq!(one.is_some(), found);
        let usable = hash_list::usable(&mut conn, team.team, &[list].into()).await;
        assert_eq!(usable.unwrap().len(), usize::from(found));
    }
    // Names are unique among the lists of a team, and among the shared lists.
    for of in [Some(team.team), None] {
        let new = NewHashList {
            team: of,
            name: "list",
            description: "",
            kind: domain::image_hash::ListKind::Allow,
            max_distance: 0,
            by: Actor::Token(team.token),
        };
        let taken = hash_list::create(&mut conn, new).await;
        assert!(matches!(taken, Err(Error::NameTaken)), "{taken:?}");
    }
    let new = NewHashList {
        team: Some(team.team),
        name: "one more",
        description: "",
        kind: domain::image_hash::ListKind::Deny,
        max_distance: 31,
        by: Actor::Token(team.token),
    };
    sqlx::query(
        "insert into hash_lists (id, team_id, name, description, kind, max_distance)
         select gen_random_uuid(), $1, 'list ' || n, '', 'deny', 31 from generate_series(2, 100) n",
    )
    .bind(team.team.as_uuid())
    .execute(&team.pool)
    .await
    .unwrap();
    let refused = hash_list::create(&mut conn, new).await;
    assert!(
        matches!(refused, Err(Error::LimitReached(_))),
        "{refused:?}"
    );
}

#[sqlx::test(migrations = false)]
async fn a_deleted_list_is_gone_at_once_and_its_name_is_free(pool: PgPool) {
    let team = Listed::new(pool).await;
    team.add(pdq(1)).await;
    let mut tx = team.pool.begin().await.unwrap();
    let reach = Reach::Team(team.team);
    let locked = hash_list::lock_to_delete(&mut tx, reach, team.list).await;
    let (list, groups) = locked.unwrap().unwrap();
    assert_eq!((list.id, groups), (team.list, Vec::new()));
    hash_list::delete(&mut tx, team.list).await.unwrap();
    tx.commit().await.unwrap();
    let mut conn = team.pool.acquire().await.unwrap();
    assert_eq!(
        hash_list::find(&mut conn, Reach::Everything, team.list)
            .await
            .unwrap(),
        None
    );
    team.create(reach.team(), "list").await;
}
