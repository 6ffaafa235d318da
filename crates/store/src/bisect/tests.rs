//! Bad rows are found, and all others are stored.

use super::*;

/// A row: its owner, and whether it is bad.
type Row = (u32, bool);

#[derive(Default)]
struct Found {
    stored: Vec<Row>,
    bad: Vec<Row>,
    left: Vec<Row>,
    statements: usize,
    /// Statements until all rows of good owners were stored.
    others_after: usize,
}

fn isolate(batch: Vec<Row>) -> Found {
    let mut found = Found::default();
    let mut pieces = Pieces::new(batch, |row: &Row| row.0);
    while let Some(piece) = pieces.next() {
        found.statements += 1;
        if piece.iter().all(|row| !row.1) {
            if piece.iter().any(|row| row.0 > 0) {
                found.others_after = found.statements;
            }
            found.stored.extend(piece);
            continue;
        }
        match pieces.split(piece) {
            None => {}
            Some(Spoiled::Row(row)) => found.bad.push(row),
            Some(Spoiled::Rest(rows)) => found.left.extend(rows),
        }
    }
    found
}

#[test]
fn one_bad_row_is_found_wherever_it_is() {
    for bad in 0..256 {
        let found = isolate((0..256).map(|n| (0, n == bad)).collect());
        assert_eq!((found.stored.len(), found.bad.len()), (255, 1));
        assert_eq!(found.left, []);
        assert_eq!(found.statements, 17);
    }
    assert_eq!(isolate(vec![(0, true)]).bad.len(), 1);
}

#[test]
fn other_owners_are_stored_before_the_search_goes_deep() {
    // Every second row is of owner 0, and all of them are bad.
    let batch = (0..256).map(|n| (if n % 2 == 0 { 0 } else { n % 16 }, n % 2 == 0));
    let found = isolate(batch.collect());
    assert_eq!(found.stored.len(), 128);
    assert_eq!(found.bad.len() + found.left.len(), 128);
    assert!(found.others_after <= 10, "{}", found.others_after);
    assert!(found.statements < 80, "{}", found.statements);
}

#[test]
fn an_owner_of_bad_rows_only_costs_a_bounded_number_of_statements() {
    let found = isolate((0..256).map(|_| (0, true)).collect());
    assert_eq!(found.statements, 65);
    assert_eq!(found.left.len(), 256);
}

#[test]
fn four_bad_rows_are_found_and_their_siblings_are_stored() {
    for apart in 1..=64 {
        let batch = (0..256).map(|n| (0, n % apart == 0 && n / apart < 4));
        let found = isolate(batch.collect());
        assert_eq!((found.stored.len(), found.bad.len()), (252, 4), "{apart}");
    }
}

#[test]
fn every_owner_has_splits_of_its_own() {
    let hostile = (0..128).map(|_| (1, true));
    let unlucky = (0..128).map(|n| (0, n == 5));
    let found = isolate(hostile.chain(unlucky).collect());
    assert_eq!(found.stored.len(), 127);
    assert!(found.bad.contains(&(0, true)));
    assert!(found.left.iter().all(|row| row.0 == 1));
}
