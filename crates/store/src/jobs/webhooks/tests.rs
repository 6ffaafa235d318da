//! What pages hold, and which payloads can be read.

use queue::NewJobs;
use uuid::Uuid;

use super::*;

fn delivery(n: u128) -> DeliveryId {
    Uuid::from_u128(n).into()
}

fn team(n: u128) -> TeamId {
    Uuid::from_u128(n).into()
}

fn endpoint(n: u128) -> EndpointId {
    Uuid::from_u128(n).into()
}

fn decoded(jobs: &NewJobs) -> Vec<DeliveryJob> {
    let payloads = jobs.columns().unwrap().payloads;
    let decode = |payload: &String| serde_json::from_str(payload).unwrap();
    payloads.iter().map(decode).collect()
}

#[test]
fn case_61_payloads_of_older_binaries_are_read() {
    let id = Uuid::from_u128(7);
    let job: DeliveryJob = serde_json::from_str(&format!(r#"{{"delivery":"{id}"}}"#)).unwrap();
    assert_eq!((job.single(), job.team), (Some(delivery(7)), None));
}

#[test]
fn case_61_older_binaries_read_a_single_delivery() {
    #[derive(Deserialize)]
    struct Older {
        delivery: DeliveryId,
    }
    let mut jobs = NewJobs::new();
    jobs.push(deliver(vec![vec![delivery(7)]], endpoint(1), team(2)));
    let columns = jobs.columns().unwrap();
    let older: Older = serde_json::from_str(&columns.payloads[0]).unwrap();
    assert_eq!((older.delivery, columns.formats[0]), (delivery(7), 0));
    assert_eq!(decoded(&jobs)[0].team, Some(team(2)));
}

#[test]
fn a_page_survives_being_stored() {
    let turns = vec![vec![delivery(1), delivery(2)], vec![delivery(3)]];
    for turns in [turns.clone(), turns[..1].to_vec(), Vec::new()] {
        let mut jobs = NewJobs::new();
        jobs.push(deliver(turns.clone(), endpoint(1), team(2)));
        assert_eq!(jobs.columns().unwrap().formats, [1]);
        assert_eq!(decoded(&jobs)[0].turns, turns);
    }
}

#[test]
fn pages_are_of_one_endpoint_keep_the_order_and_have_32_turns_at_most() {
    let mut pages = Pages::default();
    for n in 0..70 {
        pages.push(
            team(1),
            endpoint(1),
            vec![delivery(2 * n), delivery(2 * n + 1)],
        );
        if n % 10 == 0 {
            pages.push(team(2), endpoint(2), vec![delivery(1_000 + n)]);
        }
    }
    let mut jobs = NewJobs::new();
    pages.add_to(&mut jobs);
    let lanes = jobs.columns().unwrap().lanes.to_vec();
    let pages = decoded(&jobs);
    let of = |n| {
        let lane = endpoint(n).as_uuid();
        let pages = pages.iter().zip(&lanes).filter(move |(_, of)| **of == lane);
        pages.map(|(page, _)| page).collect::<Vec<_>>()
    };
    let sizes: Vec<usize> = of(1).iter().map(|page| page.turns.len()).collect();
    assert_eq!(sizes, [32, 32, 6]);
    let first = of(1)
        .iter()
        .flat_map(|page| page.turns.concat())
        .collect::<Vec<_>>();
    assert_eq!(first, (0..140).map(delivery).collect::<Vec<_>>());
    assert_eq!(of(2).len(), 1);
    assert_eq!(of(2)[0].turns.len(), 7);
    let mut columns = jobs.columns().unwrap().groups.iter();
    assert!(columns.any(|group| *group == team(2).as_uuid()));
}

#[test]
fn a_payload_that_is_none_is_refused() {
    for payload in ["{}", r#"{"turns":7}"#, "[]"] {
        assert!(
            serde_json::from_str::<DeliveryJob>(payload).is_err(),
            "{payload}"
        );
    }
}
