//! Requests that wait for their share: a line for each holder, and the holders in turn.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
};

use tokio::sync::oneshot;

use crate::{Limit, Share};

/// All waiting requests.
#[derive(Debug)]
pub(crate) struct Waiting<K: Clone + Eq + Hash> {
    /// Holders that have a line, each once. The front is next.
    turns: VecDeque<K>,
    lines: HashMap<K, VecDeque<Request<K>>>,
}

/// A request in a line.
#[derive(Debug)]
pub(crate) struct Request<K: Clone + Eq + Hash> {
    pub(crate) amount: usize,
    pub(crate) limit: Limit,
    pub(crate) answer: oneshot::Sender<Share<K>>,
}

impl<K: Clone + Eq + Hash> Waiting<K> {
    pub(crate) fn new() -> Self {
        Self {
            turns: VecDeque::new(),
            lines: HashMap::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// How many holders wait.
    pub(crate) fn holders(&self) -> usize {
        self.turns.len()
    }

    /// Puts a request at the end of its holder's line.
    pub(crate) fn join(
        &mut self,
        holder: K,
        amount: usize,
        limit: Limit,
    ) -> oneshot::Receiver<Share<K>> {
        let (answer, receiver) = oneshot::channel();
        let line = self.lines.entry(holder.clone()).or_default();
        if line.is_empty() {
            self.turns.push_back(holder);
        }
        // Withdrawn requests leave before the line would need more memory.
        if line.len() == line.capacity() {
            line.retain(|request| !request.answer.is_closed());
        }
        line.push_back(Request {
            amount,
            limit,
            answer,
        });
        receiver
    }

    /// Takes out the first request of the holder whose turn it is. One of the three calls below must follow.
    pub(crate) fn next(&mut self) -> Option<(K, Request<K>)> {
        while let Some(holder) = self.turns.pop_front() {
            if let Some(line) = self.lines.get_mut(&holder) {
                while let Some(request) = line.pop_front() {
                    if !request.answer.is_closed() {
                        return Some((holder, request));
                    }
                }
            }
            self.lines.remove(&holder);
        }
        None
    }

    /// The request was granted: the holder's next one waits for the next turn.
    pub(crate) fn end_turn(&mut self, holder: K) {
        if self.lines.get(&holder).is_some_and(|line| !line.is_empty()) {
            self.turns.push_back(holder);
        } else {
            self.lines.remove(&holder);
        }
    }

    /// The request goes back to the front of its line, and its holder stays next.
    pub(crate) fn keep_turn(&mut self, holder: K, request: Request<K>) {
        self.put_back(&holder, request);
        self.turns.push_front(holder);
    }

    /// The request goes back to the front of its line, and the next holder has its turn.
    pub(crate) fn pass_over(&mut self, holder: K, request: Request<K>) {
        self.put_back(&holder, request);
        self.turns.push_back(holder);
    }

    fn put_back(&mut self, holder: &K, request: Request<K>) {
        self.lines
            .entry(holder.clone())
            .or_default()
            .push_front(request);
    }
}
