//! A cache that is divided by team: when it is full, the team that holds the most loses entries.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
};

use domain::id::TeamId;

/// Values with their weight in bytes, and a limit for their sum.
pub(super) struct TeamCache<K, V> {
    most_bytes: usize,
    bytes: usize,
    entries: HashMap<K, Entry<V>>,
    teams: HashMap<TeamId, Held<K>>,
    /// Counts uses, so that the least recent one is known.
    uses: u64,
}

struct Entry<V> {
    value: V,
    team: TeamId,
    bytes: usize,
    used: u64,
}

/// What a team holds.
struct Held<K> {
    bytes: usize,
    /// The least recently used first.
    by_use: BTreeMap<u64, K>,
}

impl<K: Copy> Held<K> {
    /// The least recently used, except the one that was used at `but`.
    fn oldest(&self, but: u64) -> Option<K> {
        let mut others = self.by_use.iter().filter(|(used, _)| **used != but);
        others.next().map(|(_, key)| *key)
    }
}

impl<K: Copy + Eq + Hash, V: Clone> TeamCache<K, V> {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self {
            most_bytes,
            bytes: 0,
            entries: HashMap::new(),
            teams: HashMap::new(),
            uses: 0,
        }
    }

    pub(super) fn get(&mut self, key: &K) -> Option<V> {
        let entry = self.entries.get_mut(key)?;
        self.uses += 1;
        if let Some(held) = self.teams.get_mut(&entry.team) {
            held.by_use.remove(&entry.used);
            held.by_use.insert(self.uses, *key);
        }
        entry.used = self.uses;
        Some(entry.value.clone())
    }

    /// Keeps a value. The team that holds the most loses what it has not used for longest; it is returned. The new value
    /// stays.
    pub(super) fn insert(&mut self, key: K, team: TeamId, value: V, bytes: usize) -> Vec<V> {
        let mut evicted: Vec<V> = self.remove(&key).into_iter().collect();
        self.uses += 1;
        let used = self.uses;
        let entry = Entry {
            value,
            team,
            bytes,
            used,
        };
        self.entries.insert(key, entry);
        self.bytes += bytes;
        let held = self.teams.entry(team).or_insert_with(|| Held {
            bytes: 0,
            by_use: BTreeMap::new(),
        });
        held.bytes += bytes;
        held.by_use.insert(used, key);
        while self.bytes > self.most_bytes {
            let Some(victim) = self.victim(used) else {
                break;
            };
            evicted.extend(self.remove(&victim));
        }
        evicted
    }

    /// The least recently used entry of the team that holds the most, except the one that was used
    /// at `but`.
    fn victim(&self, but: u64) -> Option<K> {
        let (_, held) = self
            .teams
            .iter()
            .filter(|(_, held)| held.oldest(but).is_some())
            .max_by_key(|(team, held)| (held.bytes, **team))?;
        held.oldest(but)
    }

    fn remove(&mut self, key: &K) -> Option<V> {
        let entry = self.entries.remove(key)?;
        self.bytes -= entry.bytes;
        if let Some(held) = self.teams.get_mut(&entry.team) {
            held.bytes -= entry.bytes;
            held.by_use.remove(&entry.used);
            if held.by_use.is_empty() {
                self.teams.remove(&entry.team);
            }
        }
        Some(entry.value)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn team(number: u128) -> TeamId {
        Uuid::from_u128(number).into()
    }

    #[test]
    fn case_36_the_team_that_holds_the_most_makes_room() {
        let mut kept = TeamCache::new(100);
        kept.insert("small", team(1), 1, 5);
        for (number, key) in ["a", "b", "c", "d", "e", "f"].into_iter().enumerate() {
            kept.insert(key, team(2), number, 40);
            assert!(
                kept.get(&"small").is_some(),
                "{key} takes nothing of another team's"
            );
            assert!(kept.get(&key).is_some());
        }
        assert_eq!((kept.get(&"d"), kept.get(&"e")), (None, Some(4)));
        // Another team that needs a lot takes from the one that has most.
        kept.insert("large", team(3), 9, 60);
        assert!(kept.get(&"small").is_some() && kept.get(&"large").is_some());
        assert!(kept.bytes <= 100);
    }

    #[test]
    fn case_36_what_is_as_large_as_all_together_is_kept() {
        let mut kept = TeamCache::new(100);
        kept.insert("before", team(1), 1, 30);
        kept.insert("all", team(2), 2, 100);
        assert_eq!((kept.get(&"before"), kept.get(&"all")), (None, Some(2)));
        kept.insert("all", team(2), 3, 90);
        assert_eq!((kept.bytes, kept.teams.len()), (90, 1));
    }
}
