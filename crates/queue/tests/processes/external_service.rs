//! The outside world: jobs call it, and it remembers every call and answers when the test wants.
//! Unlike effects, these calls cannot be taken back.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::watch,
};

use crate::harness::eventually;

/// A server for the jobs of one test.
pub(crate) struct ExternalService {
    pub(crate) port: u16,
    calls: Arc<Mutex<Calls>>,
    /// This many calls are answered, in the order in which they came.
    answered: watch::Sender<usize>,
}

#[derive(Default)]
struct Calls {
    names: Vec<String>,
    /// The working callers, and the highest number at any time, by the part of their names before
    /// the slash.
    at_work: HashMap<String, (u32, u32)>,
}

impl ExternalService {
    /// A witness that answers only this many calls, until it is told otherwise.
    pub(crate) async fn answering(calls: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let witness = Self {
            port: listener.local_addr().unwrap().port(),
            calls: Arc::default(),
            answered: watch::Sender::new(calls),
        };
        let (calls, answered) = (witness.calls.clone(), witness.answered.clone());
        tokio::spawn(async move {
            while let Ok((line, _)) = listener.accept().await {
                let (calls, answered) = (calls.clone(), answered.subscribe());
                tokio::spawn(async move {
                    // A caller that dies is expected in these tests.
                    let _ = listen(line, &calls, answered).await;
                });
            }
        });
        witness
    }

    /// A witness that answers at once.
    pub(crate) async fn start() -> Self {
        Self::answering(usize::MAX).await
    }

    /// Answers the first calls up to this number, whether they have come or not.
    pub(crate) fn answer(&self, calls: usize) {
        self.answered.send_replace(calls);
    }

    /// Answers all calls.
    pub(crate) fn answer_all(&self) {
        self.answer(usize::MAX);
    }

    /// The callers, in order.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.lock().names.clone()
    }

    /// Waits for so many calls.
    pub(crate) async fn until_called(&self, times: usize) {
        eventually(&format!("{times} calls"), async || {
            (self.lock().names.len() >= times).then_some(())
        })
        .await;
    }

    /// The highest number of callers of this group that worked at the same time.
    pub(crate) fn most_at_work(&self, group: &str) -> u32 {
        self.lock().at_work.get(group).map_or(0, |&(_, most)| most)
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        lock(&self.calls)
    }
}

fn lock(calls: &Mutex<Calls>) -> MutexGuard<'_, Calls> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn listen(
    line: TcpStream,
    calls: &Mutex<Calls>,
    mut answered: watch::Receiver<usize>,
) -> io::Result<()> {
    let mut line = BufReader::new(line);
    let mut name = String::new();
    line.read_line(&mut name).await?;
    let name = name.trim_end().to_owned();
    let group = name.split('/').next().unwrap_or_default().to_owned();
    let number = {
        let mut calls = lock(calls);
        calls.names.push(name);
        let (now, most) = calls.at_work.entry(group.clone()).or_default();
        *now += 1;
        *most = (*most).max(*now);
        calls.names.len()
    };
    let mut rest = [0];
    let is_told = tokio::select! {
        _ = line.read(&mut rest) => false,
        told = answered.wait_for(|&answered| answered >= number) => told.is_ok(),
    };
    if is_told && line.write_u8(1).await.is_ok() {
        // Until the caller hangs up.
        let _ = line.read(&mut rest).await;
    }
    if let Some((now, _)) = lock(calls).at_work.get_mut(&group) {
        *now -= 1;
    }
    Ok(())
}
