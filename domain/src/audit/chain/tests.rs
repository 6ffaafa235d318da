//! The encoding of rows, and what a walk finds.

use super::*;

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn row(number: u128) -> Row {
    Row {
        id: id(number),
        team_id: Some(id(2)),
        actor: "token".to_owned(),
        actor_id: Some(id(3)),
        action: "site.update".to_owned(),
        target_id: Some(id(4)),
        details: r#"{"a": "ä"}"#.to_owned(),
        request_id: Some("r".to_owned()),
        trace_id: Some((0..16).collect()),
        occurred_at: DateTime::from_timestamp_micros(1_767_225_600_123_456).unwrap(),
    }
}

fn sparse() -> Row {
    Row {
        id: id(5),
        team_id: None,
        actor: "command_line".to_owned(),
        actor_id: None,
        action: "plan.create".to_owned(),
        target_id: None,
        details: "{}".to_owned(),
        request_id: None,
        trace_id: None,
        occurred_at: DateTime::from_timestamp_micros(-1).unwrap(),
    }
}

/// Computed by the program in `docs/audit-log.md`.
#[test]
fn the_hash_is_the_documented_one() {
    let first = row(1).link_after(&Link::START);
    assert_eq!(
        first.to_string(),
        "1:31e2c52bd10cd287ba20d6a9908524d1a0b84a3b4f30d795f8437a753ecc2cb2"
    );
    let second = sparse().link_after(&first);
    assert_eq!(
        second.to_string(),
        "2:fff96dcdad252d1a2449827c849d392d633537680bb50834a5fd12b848e7682a"
    );
    assert_eq!(second.to_string().parse(), Ok(second));
}

#[test]
fn case_85_every_column_the_number_and_the_previous_hash_are_covered() {
    let previous = Link {
        number: 6,
        hash: ChainHash::new([7; 32]),
    };
    let original = row(1);
    let hash = original.link_after(&previous).hash;
    let edits: [fn(&mut Row); 18] = [
        |row| row.id = id(9),
        |row| row.team_id = Some(id(9)),
        |row| row.team_id = None,
        |row| row.actor = "member".to_owned(),
        |row| row.actor_id = Some(id(9)),
        |row| row.actor_id = None,
        |row| row.action.push('x'),
        |row| row.target_id = Some(id(9)),
        |row| row.target_id = None,
        |row| row.details = r#"{"a":"ä"}"#.to_owned(),
        |row| row.request_id = Some(String::new()),
        |row| row.request_id = None,
        |row| row.trace_id = Some(vec![0; 16]),
        |row| row.trace_id = None,
        |row| row.occurred_at += chrono::TimeDelta::microseconds(1),
        // What one column loses, the next one gets.
        |row| {
            row.action = "site.updat".to_owned();
            row.target_id = None;
            row.details = format!("e{}", row.details);
        },
        |row| std::mem::swap(&mut row.actor_id, &mut row.target_id),
        |row| {
            row.actor_id = None;
            row.team_id = Some(id(3));
        },
    ];
    for (place, edit) in edits.into_iter().enumerate() {
        let mut changed = original.clone();
        edit(&mut changed);
        assert_ne!(changed.link_after(&previous).hash, hash, "edit {place}");
    }
    for other in [
        Link {
            number: 7,
            ..previous
        },
        Link {
            hash: ChainHash::new([8; 32]),
            ..previous
        },
    ] {
        assert_ne!(original.link_after(&other).hash, hash, "{other}");
    }
}

/// A chain of so many rows.
fn chain(rows: u128) -> Vec<(Link, Row)> {
    let mut at = Link::START;
    (1..=rows)
        .map(|number| {
            let row = row(number);
            at = row.link_after(&at);
            (at, row)
        })
        .collect()
}

fn walk(rows: &[(Link, Row)], start: Link, known: Option<Link>) -> Result<(), Finding> {
    let mut walk = Walk::new(start, known);
    walk.begin()?;
    for (has, row) in rows {
        walk.step(*has, row)?;
    }
    let head = rows.last().map_or(start, |(has, _)| *has);
    walk.end(head)
}

#[test]
fn a_whole_chain_and_its_rest_are_in_order() {
    let rows = chain(5);
    let known = rows[2].0;
    assert_eq!(walk(&rows, Link::START, None), Ok(()));
    assert_eq!(walk(&rows, Link::START, Some(known)), Ok(()));
    assert_eq!(walk(&rows[2..], rows[1].0, Some(known)), Ok(()));
    assert_eq!(walk(&rows[3..], rows[2].0, Some(known)), Ok(()));
    assert_eq!(walk(&[], Link::START, None), Ok(()));
    let removed = Finding::Removed {
        known,
        start: rows[3].0,
    };
    assert_eq!(walk(&rows[4..], rows[3].0, Some(known)), Err(removed));
}

#[test]
fn case_85_an_entry_that_is_missing_twice_there_or_changed_is_named() {
    let rows = chain(5);
    let mut some = rows.clone();
    some.drain(1..3);
    let missing = Finding::Missing { from: 2, to: 3 };
    assert_eq!(walk(&some, Link::START, None), Err(missing));
    let mut more = rows.clone();
    more.insert(3, (rows[2].0, row(9)));
    let inserted = Finding::Inserted {
        number: 3,
        id: id(9),
    };
    assert_eq!(walk(&more, Link::START, None), Err(inserted));
    let mut changed = rows.clone();
    changed[3].1.action = "site.create".to_owned();
    let found = Finding::Changed {
        number: 4,
        id: id(4),
    };
    assert_eq!(walk(&changed, Link::START, None), Err(found));
    // With its hash: then the next row does not follow from it.
    changed[3].0 = changed[3].1.link_after(&changed[2].0);
    let found = Finding::Changed {
        number: 5,
        id: id(5),
    };
    assert_eq!(walk(&changed, Link::START, None), Err(found));
}

#[test]
fn case_86_a_known_entry_shows_what_the_chain_alone_does_not() {
    let rows = chain(5);
    let known = rows[4].0;
    let last = rows[3].0;
    assert_eq!(walk(&rows[..4], Link::START, None), Ok(()));
    assert_eq!(
        walk(&rows[..4], Link::START, Some(known)),
        Err(Finding::CutOff { known, last })
    );
    let mut at = Link::START;
    let recomputed: Vec<(Link, Row)> = rows
        .iter()
        .map(|(_, row)| {
            let mut row = row.clone();
            row.actor_id = Some(id(9));
            at = row.link_after(&at);
            (at, row)
        })
        .collect();
    assert_eq!(walk(&recomputed, Link::START, None), Ok(()));
    let found = recomputed[4].0;
    assert_eq!(
        walk(&recomputed, Link::START, Some(known)),
        Err(Finding::Rewritten { known, found })
    );
}

#[test]
fn a_head_that_is_not_the_last_row_and_a_wrong_beginning_are_found() {
    let rows = chain(2);
    let mut walk = Walk::new(Link::START, None);
    walk.step(rows[0].0, &rows[0].1).unwrap();
    let missing = Finding::Missing { from: 2, to: 2 };
    assert_eq!(walk.end(rows[1].0), Err(missing));
    let (last, head) = (rows[0].0, Link::START);
    assert_eq!(walk.end(head), Err(Finding::Head { last, head }));
    let start = Link {
        hash: ChainHash::new([1; 32]),
        ..Link::START
    };
    assert_eq!(
        Walk::new(start, None).begin(),
        Err(Finding::Beginning { start })
    );
}

#[test]
fn a_row_with_an_old_time_is_noticed() {
    let mut rows = [row(1), row(2), row(3)];
    rows[1].occurred_at -= chrono::TimeDelta::minutes(59);
    rows[2].occurred_at -= chrono::TimeDelta::minutes(61);
    let mut walk = Walk::new(Link::START, None);
    for row in &rows {
        let has = row.link_after(&walk.at());
        walk.step(has, row).unwrap();
    }
    assert_eq!((walk.rows(), walk.backdated()), (3, Some(3)));
}

#[test]
fn only_a_number_and_a_whole_hash_are_a_link() {
    let hash = "0".repeat(64);
    for wrong in [
        String::new(),
        hash.clone(),
        format!("-1:{hash}"),
        format!("1:{hash}0"),
        format!("1:x{}", &hash[1..]),
    ] {
        assert_eq!(wrong.parse::<Link>(), Err(MalformedLink), "{wrong}");
    }
    assert_eq!(format!("0:{hash}").parse(), Ok(Link::START));
}

#[test]
fn the_chain_without_a_team_is_the_first_one() {
    assert_eq!(ChainId::of(None).team(), None);
    let team = TeamId::from_uuid(id(1));
    assert_eq!(ChainId::of(Some(team)).team(), Some(team));
    assert_eq!(
        ChainId::WITHOUT_TEAM.successor(),
        Some(ChainId::of(Some(team)))
    );
    assert_eq!(ChainId::from_uuid(Uuid::max()).successor(), None);
}
