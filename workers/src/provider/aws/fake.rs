//! A fake of AWS for tests: a server that records requests and answers as AWS's services do.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use chrono::{DateTime, Utc};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
    time::sleep,
};
use url::Url;

pub(crate) const HOUR: Duration = Duration::from_hours(1);

/// A request: its method and target, its headers in lower case, its body.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) target: String,
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn shows(&self, header: &str, value: &str) -> bool {
        self.headers
            .lines()
            .any(|line| line == format!("{header}: {value}"))
    }
}

/// A server; dropping it closes its port.
pub(crate) struct Server {
    pub(crate) url: Url,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: AbortHandle,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Answers the n-th request, from 1, with this status and body, after a moment in which others
    /// can arrive.
    pub(crate) async fn start(
        answer: impl Fn(&Asked, usize) -> (u16, String) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (answer, all) = (Arc::new(answer), Arc::clone(&asked));
        let server = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (answer, all) = (Arc::clone(&answer), Arc::clone(&all));
                tokio::spawn(async move {
                    let asked = read(&mut stream).await;
                    let number = {
                        let mut all = all.lock().unwrap();
                        all.push(asked.clone());
                        all.len()
                    };
                    sleep(Duration::from_millis(100)).await;
                    let (status, body) = answer(&asked, number);
                    let length = body.len();
                    let answer = format!(
                        "HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
                    );
                    stream.write_all(answer.as_bytes()).await.unwrap();
                });
            }
        });
        Self {
            url: url.parse().unwrap(),
            asked,
            task: server.abort_handle(),
        }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn read(stream: &mut TcpStream) -> Asked {
    let mut bytes = Vec::new();
    loop {
        stream.read_buf(&mut bytes).await.unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let (target, headers) = head.split_once("\r\n").unwrap_or((head, ""));
        let length = headers
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse().unwrap());
        if body.len() >= length {
            return Asked {
                target: target.trim_end_matches(" HTTP/1.1").to_owned(),
                headers: headers.to_owned(),
                body: body.to_owned(),
            };
        }
    }
}

/// The credentials that are issued the n-th time, valid for `lasts`.
pub(crate) fn issued(number: usize, lasts: Duration) -> String {
    let expiration = DateTime::<Utc>::from(SystemTime::now() + lasts);
    json!({
        "Code": "Success",
        "AccessKeyId": format!("AKID{number}"),
        "SecretAccessKey": "secret/of+the=tests",
        "Token": "token==",
        "Expiration": expiration.to_rfc3339(),
    })
    .to_string()
}
