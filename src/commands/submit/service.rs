//! Requests to the public interface, within its limits.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use domain::key::SiteKey;
use reqwest::{StatusCode, header::CONTENT_TYPE};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use sha2::{Digest as _, Sha256};
use tokio::time::sleep;
use url::Url;

use crate::commands::{
    http_client::{Client, Reply},
    line_files::Line,
};

/// How long the answer may wait for the verdict.
const PREFER: &str = "wait=10";
/// The pause before the status is asked for again, the first and the longest.
const FIRST_QUESTION: Duration = Duration::from_secs(1);
const LAST_QUESTION: Duration = Duration::from_secs(30);

/// The most mistakes of a line that are told.
const TOLD: usize = 10;

/// How a line ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// The answer with the verdict, or with `pending` if there is none in time.
    Answered(Value),
    /// The service refuses this line, and would refuse it again.
    Refused { code: String, detail: String },
}

/// A service, and a key of a site.
pub(super) struct Service {
    client: Client,
    url: String,
    key: String,
    run: String,
    patience: Duration,
}

#[derive(Deserialize)]
struct Problem {
    code: String,
    detail: String,
    #[serde(default)]
    errors: Vec<FieldError>,
}

#[derive(Deserialize)]
struct FieldError {
    field: String,
    message: String,
}

impl Service {
    pub(super) fn new(
        url: &Url,
        key: &SiteKey,
        run: String,
        patience: Duration,
    ) -> anyhow::Result<Self> {
        let client = Client::new(
            concat!("gatehouse-submit/", env!("CARGO_PKG_VERSION")),
            Duration::ZERO,
        )?;
        Ok(Self {
            client,
            url: format!("{}/functions/v1", url.as_str().trim_end_matches('/')),
            key: key.expose().to_owned(),
            run,
            patience,
        })
    }

    /// Submits a line and waits for its verdict.
    ///
    /// # Errors
    /// The key is refused, or everything that is submitted with it; the service fails for too long.
    pub(super) async fn submit(&self, line: &Line) -> anyhow::Result<Ended> {
        let Some(body) = self.body(line) else {
            return Ok(Ended::Refused {
                code: "invalid_line".to_owned(),
                detail: "The line must be a JSON object without api_key.".to_owned(),
            });
        };
        let begun = Instant::now();
        let idempotency_key = self.idempotency_key(line);
        let answer = self
            .post(line, "submit-media", &body, Some(&idempotency_key))
            .await?;
        let mut answer = match answer {
            Ok(answer) => answer,
            Err(problem) => return Ok(refused(problem)),
        };
        let mut pause = FIRST_QUESTION;
        while answer["status"] == "pending" && begun.elapsed() < self.patience {
            sleep(pause.min(self.patience.saturating_sub(begun.elapsed()))).await;
            pause = (2 * pause).min(LAST_QUESTION);
            let question = json!({ "api_key": self.key, "media_id": answer["id"] }).to_string();
            let status = self.post(line, "get-media-status", &question, None).await?;
            match status {
                Ok(mut status) => {
                    status["id"] = status["media_id"].take();
                    answer = status;
                }
                Err(problem) => return Ok(refused(problem)),
            }
        }
        Ok(Ended::Answered(answer))
    }

    /// The request's body. None: the line is no object, or has a key of its own.
    fn body(&self, line: &Line) -> Option<String> {
        // The values are sent as they are: the service says what is wrong with them.
        let members: HashMap<String, &RawValue> = serde_json::from_str(&line.text).ok()?;
        let rest = line.text.strip_prefix('{')?;
        let comma = if members.is_empty() { "" } else { "," };
        let key = Value::from(self.key.as_str());
        let has_key = members.contains_key("api_key");
        (!has_key).then(|| format!("{{\"api_key\":{key}{comma}{rest}"))
    }

    /// The same line of the same run has the same key, so it is stored once, however often it is sent.
    fn idempotency_key(&self, line: &Line) -> String {
        let mut hash = Sha256::new();
        for part in [
            self.run.as_bytes(),
            &line.number.to_be_bytes(),
            line.text.as_bytes(),
        ] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        format!("gatehouse-submit-{}", hex::encode(&hash.finalize()[..16]))
    }

    /// An answer, or a refusal of this line.
    async fn post(
        &self,
        line: &Line,
        operation: &str,
        body: &str,
        idempotency_key: Option<&str>,
    ) -> anyhow::Result<Result<Value, Problem>> {
        let url = format!("{}/{operation}", self.url);
        let place = format!("line {}", line.number);
        let reply = self.client.ask(&place, || {
            let mut request = self
                .client
                .post(&url)
                .header(CONTENT_TYPE, "application/json")
                .header("prefer", PREFER)
                .body(body.to_owned());
            if let Some(key) = idempotency_key {
                request = request.header("idempotency-key", key);
            }
            request
        });
        read(&reply.await?)
    }
}

fn read(Reply { status, body }: &Reply) -> anyhow::Result<Result<Value, Problem>> {
    if *status == StatusCode::OK {
        let answer = serde_json::from_slice(body);
        return answer
            .map(Ok)
            .context("the answer is not Gatehouse's: is the URL right?");
    }
    let Ok(problem) = serde_json::from_slice::<Problem>(body) else {
        bail!("the service answers {status}: is the URL right?");
    };
    if matches!(*status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        // It would be the same for every line.
        bail!("{}: {}", problem.code, problem.detail);
    }
    Ok(Err(problem))
}

/// The mistakes say more than the detail, which only points to them.
fn refused(problem: Problem) -> Ended {
    let mistakes = problem.errors.iter().take(TOLD);
    let mistakes: Vec<String> = mistakes
        .map(|FieldError { field, message }| format!("{field} {message}"))
        .collect();
    Ended::Refused {
        code: problem.code,
        detail: if mistakes.is_empty() {
            problem.detail
        } else {
            mistakes.join("; ")
        },
    }
}
