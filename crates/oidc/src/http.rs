//! Requests to the provider, with limits of time and size. The operator chose its address, so it may be in a private network.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response, redirect};
use rustls::ClientConfig;
use serde::{Deserialize, de::DeserializeOwned};
use url::Url;

use crate::Failed;

/// How long connecting may take.
const CONNECTING: Duration = Duration::from_secs(5);
/// How long one request may take, its answer included.
const DEADLINE: Duration = Duration::from_secs(10);
/// Bytes of one answer. Large sets of keys have some 20 KB.
const LONGEST: usize = 256 << 10;
/// Characters of the provider's codes of errors that are logged.
const LONGEST_CODE: usize = 60;

/// A client that follows no redirect, and uses no proxy.
pub(crate) fn client(tls: ClientConfig) -> Result<Client, reqwest::Error> {
    Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("Gatehouse/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECTING)
        .timeout(DEADLINE)
        .redirect(redirect::Policy::none())
        .no_proxy()
        .build()
}

/// Gets a JSON document.
pub(crate) async fn get<T: DeserializeOwned>(http: &Client, url: Url) -> Result<T, Failed> {
    send(http.get(url)).await
}

/// Sends a request whose answer is a JSON document.
pub(crate) async fn send<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, Failed> {
    let request = request.header("accept", "application/json");
    let answer = request.send().await.map_err(broken)?;
    let status = answer.status();
    let body = read(answer).await?;
    if !status.is_success() {
        return Err(Failed::Status {
            status: status.as_u16(),
            error: code(&body),
        });
    }
    // serde's message would quote the answer, which may be a token.
    serde_json::from_slice(&body)
        .map_err(|_| Failed::Malformed("it is not the JSON of the standard"))
}

async fn read(mut answer: Response) -> Result<Vec<u8>, Failed> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(broken)? {
        if body.len() + chunk.len() > LONGEST {
            return Err(Failed::TooLarge(LONGEST));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn broken(error: reqwest::Error) -> Failed {
    if error.is_timeout() {
        Failed::TimedOut
    } else {
        Failed::Unreachable(error.without_url())
    }
}

/// The code of an error, if the answer has one that looks like one.
fn code(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Problem {
        error: String,
    }
    let problem: Option<Problem> = serde_json::from_slice(body).ok();
    let named = problem.map(|problem| problem.error).filter(|code| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        code.len() <= LONGEST_CODE && code.bytes().all(known)
    });
    named.unwrap_or_else(|| "no code".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_code_of_an_error_is_kept() {
        assert_eq!(code(br#"{"error":"invalid_grant"}"#), "invalid_grant");
        for other in [
            &b""[..],
            b"<html>",
            br#"{"error":"a token: eyJ.x y"}"#,
            br#"{"error":{"code":1}}"#,
        ] {
            assert_eq!(code(other), "no code");
        }
    }
}
