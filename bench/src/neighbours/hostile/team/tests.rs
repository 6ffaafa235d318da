//! The addresses of hosts, the tally, and turns.

use std::{collections::HashSet, net::SocketAddr};

use super::*;
use crate::neighbours::attack::Attack;

fn team() -> Team {
    let address = SocketAddr::from(([127, 0, 0, 1], 9));
    Team::new(Brief {
        attack: Attack::Sockets,
        api: address,
        token: String::new(),
        hosts: address,
        seconds: 1,
        seed: 1,
        nice: 0,
    })
}

#[test]
fn every_host_is_another_address_and_none_is_the_well_behaved_teams() {
    let team = team();
    let urls: HashSet<String> = (0..10_000)
        .chain(1 << 20..(1 << 20) + 10_000)
        .map(|host| team.url(host, "/ok"))
        .collect();
    assert_eq!(urls.len(), 20_000);
    assert!(urls.iter().all(|url| !url.starts_with("http://127.0.")));
    assert_eq!(team.url(0, "/ok"), "http://127.16.1.0:9/ok");
    let last = team.url(u64::MAX, "/ok");
    assert!(last.parse::<reqwest::Url>().is_ok(), "{last}");
}

#[test]
fn requests_without_an_answer_are_told_apart_from_those_with_one() {
    let mut tally = Tally::default();
    tally.ask("list");
    tally.ask("list");
    tally.answer("list", "200".to_owned());
    let outcomes = &tally.requests["list"];
    assert_eq!(outcomes["200"], 1);
    assert_eq!(outcomes["no answer when time was up"], 1);
    tally.answer("list", "200".to_owned());
    assert_eq!(tally.requests["list"].len(), 1);
}

#[test]
fn turns_go_round_and_nothing_has_none() {
    assert_eq!(turn(&['a', 'b'], 5), Some(&'b'));
    assert_eq!(turn::<char>(&[], 5), None);
}
