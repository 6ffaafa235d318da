//! Lines of waiting things: one line for each holder, and the holders take turns.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
};

/// Lines of `T`, one for each `K` that has something waiting. There is no limit: the caller must
/// keep one.
#[derive(Debug)]
pub struct RoundRobin<K, T> {
    /// Holders that have a line, each once. The front is next.
    turns: VecDeque<K>,
    waiting: HashMap<K, VecDeque<T>>,
    len: usize,
}

impl<K, T> Default for RoundRobin<K, T> {
    fn default() -> Self {
        Self {
            turns: VecDeque::new(),
            waiting: HashMap::new(),
            len: 0,
        }
    }
}

impl<K: Clone + Eq + Hash, T> RoundRobin<K, T> {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many things wait.
    pub fn len(&self) -> usize {
        self.len
    }

    /// How many holders have something waiting.
    pub fn holders(&self) -> usize {
        self.turns.len()
    }

    /// Adds something at the end of its holder's line. A new line has the last turn.
    pub fn push(&mut self, holder: &K, item: T) {
        self.enter(holder).push_back(item);
        self.len += 1;
    }

    /// Takes out the first thing of the holder whose turn it is. If the holder has more, its next turn is the last.
    pub fn pop(&mut self) -> Option<(K, T)> {
        let holder = self.turns.pop_front()?;
        let line = self.waiting.get_mut(&holder)?;
        let first = line.pop_front()?;
        self.len -= 1;
        if line.is_empty() {
            self.waiting.remove(&holder);
        } else {
            self.turns.push_back(holder.clone());
        }
        Some((holder, first))
    }

    /// Puts something that was taken out back to the front of its line.
    pub fn put_back(&mut self, holder: &K, item: T) {
        self.enter(holder).push_front(item);
        self.len += 1;
    }

    /// Puts something that was taken out back, and gives its holder the next turn.
    pub fn put_back_first(&mut self, holder: &K, item: T) {
        self.put_back(holder, item);
        self.turns.retain(|other| other != holder);
        self.turns.push_front(holder.clone());
    }

    /// Removes unwanted things from a holder's line if the line is about to need more memory. So
    /// many additions share the cost of searching the line.
    pub fn tidy(&mut self, holder: &K, wanted: impl FnMut(&T) -> bool) {
        let Some(line) = self.waiting.get_mut(holder) else {
            return;
        };
        if line.len() < line.capacity() {
            return;
        }
        let before = line.len();
        line.retain(wanted);
        self.len -= before - line.len();
        if line.is_empty() {
            self.waiting.remove(holder);
            self.turns.retain(|other| other != holder);
        }
    }

    fn enter(&mut self, holder: &K) -> &mut VecDeque<T> {
        let line = self.waiting.entry(holder.clone()).or_default();
        if line.is_empty() {
            self.turns.push_back(holder.clone());
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(lines: &mut RoundRobin<char, u32>) -> Vec<u32> {
        std::iter::from_fn(|| lines.pop().map(|(_, number)| number)).collect()
    }

    #[test]
    fn holders_have_turns_and_lines_keep_their_order() {
        let mut lines = RoundRobin::default();
        for (holder, number) in [
            ('a', 1),
            ('a', 2),
            ('a', 3),
            ('b', 10),
            ('c', 20),
            ('b', 11),
        ] {
            lines.push(&holder, number);
        }
        assert_eq!((lines.len(), lines.holders()), (6, 3));
        assert_eq!(drain(&mut lines), [1, 10, 20, 2, 11, 3]);
        assert_eq!((lines.len(), lines.holders()), (0, 0));
    }

    #[test]
    fn what_is_put_back_is_first_in_its_line_and_if_asked_next_of_all() {
        let mut lines = RoundRobin::default();
        for (holder, number) in [('a', 1), ('a', 2), ('b', 10)] {
            lines.push(&holder, number);
        }
        let (holder, number) = lines.pop().unwrap();
        lines.put_back_first(&holder, number);
        assert_eq!(lines.pop(), Some(('a', 1)));
        let (holder, number) = lines.pop().unwrap();
        assert_eq!((holder, number), ('b', 10));
        lines.put_back(&holder, number);
        assert_eq!(drain(&mut lines), [2, 10]);
    }

    #[test]
    fn a_line_is_tidied_when_it_is_full() {
        let mut lines = RoundRobin::default();
        for number in 0..100_000 {
            lines.tidy(&'a', |_| false);
            lines.push(&'a', number);
        }
        assert!(lines.len() <= 8, "{} are kept", lines.len());
        assert_eq!(lines.holders(), 1);
    }
}
