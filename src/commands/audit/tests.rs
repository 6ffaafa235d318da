//! What is found in an export.

use chrono::DateTime;
use domain::{audit::chain::Row, id::TeamId};
use uuid::Uuid;

use super::*;

fn team() -> ChainId {
    ChainId::of(Some(TeamId::from_uuid(Uuid::from_u128(7))))
}

/// An export of two chains, of 4 and 2 rows.
fn export() -> Vec<String> {
    let mut lines = Vec::new();
    for (chain, rows) in [(ChainId::WITHOUT_TEAM, 4), (team(), 2)] {
        let mut at = Link::START;
        lines.push(Line::start(chain, at));
        for number in 1..=rows {
            let row = Row {
                id: Uuid::from_u128(number),
                team_id: chain.team().map(TeamId::as_uuid),
                actor: "command_line".to_owned(),
                actor_id: None,
                action: "team.update".to_owned(),
                target_id: None,
                details: "{\n \"a\": \"\\n\" }".to_owned(),
                request_id: None,
                trace_id: Some(vec![1; 16]),
                occurred_at: DateTime::from_timestamp_micros(1_767_225_600_000_001).unwrap(),
            };
            at = row.link_after(&at);
            lines.push(Line::row(at, row));
        }
        lines.push(Line::head(chain, at));
    }
    let lines = lines
        .iter()
        .map(|line| serde_json::to_string(line).unwrap());
    lines.map(|line| line + "\n").collect()
}

/// How many rows of each chain are in order, and what was found.
fn verified(lines: &[String], known: Option<Link>) -> anyhow::Result<Vec<(u64, Option<Finding>)>> {
    let mut found = Vec::new();
    verify_export(
        lines.concat().as_bytes(),
        None,
        known,
        |_, walk, finding| {
            found.push((walk.rows(), finding.cloned()));
            Ok(())
        },
    )?;
    Ok(found)
}

#[test]
fn an_export_verifies_and_every_change_of_it_is_found() {
    let lines = export();
    assert_eq!(verified(&lines, None).unwrap(), [(4, None), (2, None)]);
    for (place, from, to) in [
        (2, "team.update", "team.create"),
        (2, r#"\n \""#, r#"\n  \""#),
        (2, "000001Z", "000002Z"),
        (2, "0101", "0102"),
        (2, r#""request_id":null"#, r#""request_id":"""#),
    ] {
        let mut changed = lines.clone();
        assert!(changed[place].contains(from), "{from}");
        changed[place] = changed[place].replacen(from, to, 1);
        let finding = Finding::Changed {
            number: 2,
            id: Uuid::from_u128(2),
        };
        let found = verified(&changed, None).unwrap();
        assert_eq!(found, [(1, Some(finding)), (2, None)], "{from}");
    }
    let mut missing = lines.clone();
    missing.remove(3);
    let finding = Finding::Missing { from: 3, to: 3 };
    assert_eq!(
        verified(&missing, None).unwrap(),
        [(2, Some(finding)), (2, None)]
    );
    let mut missing = lines.clone();
    missing.remove(4);
    let finding = Finding::Missing { from: 4, to: 4 };
    assert_eq!(
        verified(&missing, None).unwrap(),
        [(3, Some(finding)), (2, None)]
    );
}

#[test]
fn a_file_that_is_cut_off_or_of_another_form_is_refused() {
    let lines = export();
    let mut other_team = lines.clone();
    other_team[6] = lines[0].clone();
    let mut unknown = lines.clone();
    unknown[1] = lines[1].replace("\"number\"", "\"numbers\"");
    let mut finer = lines.clone();
    finer[1] = lines[1].replace("000001Z", "000001001Z");
    for (wrong, reason) in [
        (lines[..5].to_vec(), "cut off"),
        (lines[1..].to_vec(), "beginning of a chain is missing"),
        (
            [&lines[..5], &lines[6..]].concat(),
            "head of the chain before",
        ),
        (other_team, "another chain"),
        (unknown, "line 2 is no line of an export"),
        (finer, "more than six digits"),
        (vec!["{}\n".to_owned()], "line 1"),
    ] {
        let error = format!("{:#}", verified(&wrong, None).unwrap_err());
        assert!(error.contains(reason), "{reason}: {error}");
    }
}

#[test]
fn only_the_wanted_chain_is_compared_with_a_known_head() {
    let lines = export();
    let known: Link = format!("9:{}", "ab".repeat(32)).parse().unwrap();
    let mut found = Vec::new();
    verify_export(
        lines.concat().as_bytes(),
        Some(team()),
        Some(known),
        |chain, walk, finding| {
            found.push((chain, walk.at(), finding.cloned()));
            Ok(())
        },
    )
    .unwrap();
    let [(chain, last, Some(finding))] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(*chain, team());
    assert_eq!(*finding, Finding::CutOff { known, last: *last });
}
