//! A role's credentials, from servers of our own that answer as AWS's do.

use std::fs;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use domain::{breaker::BreakerSettings, image::ImageFormat, score::Category};
use futures::future::join_all;
use reqwest::header::HeaderMap;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
    time::sleep,
};

use super::*;
use crate::{
    picture::Rendition,
    provider::{Auth, AwsAccess, Content, Provider as _, Question, Rekognition, Remote, Scope},
};

const HOUR: Duration = Duration::from_hours(1);

/// A request: its method and target, its headers in lower case, its body.
#[derive(Clone, Debug)]
struct Asked {
    target: String,
    headers: String,
    body: String,
}

impl Asked {
    fn shows(&self, header: &str, value: &str) -> bool {
        self.headers
            .lines()
            .any(|line| line == format!("{header}: {value}"))
    }
}

/// A server; dropping it closes its port.
struct Server {
    url: Url,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: AbortHandle,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Answers a request, the n-th from 1, with this status and body, after a moment in which others may come.
    async fn start(
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

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// A container's endpoint that answers so.
    fn container(&self) -> Arc<Holder> {
        let mut url = self.url.clone();
        url.set_path("/v2/credentials/1");
        holder(AwsRole::Container { url, token: None })
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

fn holder(role: AwsRole) -> Arc<Holder> {
    Holder::new(role, None).unwrap()
}

/// What is issued the n-th time, for so long.
fn issued(number: usize, lasts: Duration) -> String {
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

async fn id(holder: &Arc<Holder>) -> Result<String, ProviderError> {
    let credentials = holder.current().await?;
    Ok(credentials.access_key_id().to_owned())
}

#[tokio::test]
async fn a_container_s_credentials_are_fetched_with_its_token_and_kept() {
    let directory = std::env::temp_dir().join(format!("gatehouse-token-{}", uuid::Uuid::now_v7()));
    fs::write(&directory, "a-token\n").unwrap();
    let server = Server::start(|_, number| (200, issued(number, HOUR))).await;
    let mut url = server.url.clone();
    url.set_path("/v1/credentials");
    let token = Some(ContainerToken::File(directory.clone()));
    let holder = holder(AwsRole::Container { url, token });
    let credentials = holder.current().await.unwrap();
    assert_eq!(credentials.access_key_id(), "AKID1");
    assert_eq!(credentials.secret_access_key(), "secret/of+the=tests");
    assert_eq!(credentials.session_token(), Some("token=="));
    assert_eq!(id(&holder).await.unwrap(), "AKID1");
    let [asked] = server.asked().try_into().unwrap();
    assert_eq!(asked.target, "GET /v1/credentials");
    assert!(asked.shows("authorization", "a-token"), "{asked:?}");
    fs::remove_file(directory).unwrap();
}

#[tokio::test]
async fn an_instance_is_asked_for_a_token_first() {
    let server = Server::start(|asked, number| {
        let knows = asked.shows("x-aws-ec2-metadata-token", "a-token");
        match asked.target.as_str() {
            "PUT /latest/api/token" if asked.headers.contains("token-ttl-seconds: ") => {
                (200, "a-token".into())
            }
            "GET /latest/meta-data/iam/security-credentials/" if knows => (200, "my-role\n".into()),
            "GET /latest/meta-data/iam/security-credentials/my-role" if knows => {
                (200, issued(number, HOUR))
            }
            _ => (401, String::new()),
        }
    })
    .await;
    let endpoint = server.url.clone();
    assert_eq!(
        id(&holder(AwsRole::Instance { endpoint })).await.unwrap(),
        "AKID3"
    );
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn a_service_account_s_token_is_exchanged() {
    let file = std::env::temp_dir().join(format!("gatehouse-token-{}", uuid::Uuid::now_v7()));
    fs::write(&file, "a.web+token").unwrap();
    let server = Server::start(|asked, _| {
        let wanted = "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&\
            RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName=gatehouse&WebIdentityToken=a.web%2Btoken";
        if asked.body != wanted {
            return (400, "<ErrorResponse><Error><Code>ValidationError</Code></Error></ErrorResponse>".into());
        }
        let expiration = DateTime::<Utc>::from(SystemTime::now() + HOUR).to_rfc3339();
        (200, format!(
            "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">\
             <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIA1</AccessKeyId>\
             <SecretAccessKey>s/+=</SecretAccessKey><SessionToken>t</SessionToken>\
             <Expiration>{expiration}</Expiration></Credentials></AssumeRoleWithWebIdentityResult>\
             </AssumeRoleWithWebIdentityResponse>"
        ))
    })
    .await;
    let role = |session: &str| AwsRole::WebIdentity {
        sts: server.url.clone(),
        role: "arn:aws:iam::1:role/r".into(),
        session: session.into(),
        token_file: file.clone(),
    };
    assert_eq!(id(&holder(role("gatehouse"))).await.unwrap(), "ASIA1");
    let refused = id(&holder(role("other"))).await.unwrap_err();
    let told = refused.cause().unwrap();
    assert!(
        told.contains("HTTP 400, ValidationError; check AWS_ROLE_ARN"),
        "{told}"
    );
    fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn many_who_need_credentials_ask_once() {
    let server = Server::start(|_, number| (200, issued(number, HOUR))).await;
    let holder = server.container();
    let all = join_all((0..50).map(|_| id(&holder))).await;
    assert!(all.into_iter().all(|id| id.unwrap() == "AKID1"));
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn many_who_wait_for_a_failure_ask_once() {
    let server = Server::start(|_, _| {
        (
            403,
            json!({ "code": "AccessDenied", "message": "m" }).to_string(),
        )
    })
    .await;
    let holder = server.container();
    for failed in join_all((0..50).map(|_| id(&holder))).await {
        let error = failed.unwrap_err();
        assert_eq!(error.reason(), "denied");
        assert_eq!(error.to_string(), "there are no valid credentials for it");
        let told = error.cause().unwrap();
        assert!(
            told.contains("at 127.0.0.1: HTTP 403, AccessDenied; check the task's role"),
            "{told}"
        );
    }
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn nobody_waits_for_new_credentials_while_the_old_ones_are_valid() {
    let server = Server::start(|_, number| {
        let lasts = if number == 1 {
            Duration::from_mins(4)
        } else {
            HOUR
        };
        (200, issued(number, lasts))
    })
    .await;
    let holder = server.container();
    assert_eq!(id(&holder).await.unwrap(), "AKID1");
    // What was tried a moment ago is not tried again.
    assert_eq!(id(&holder).await.unwrap(), "AKID1");
    assert_eq!(server.asked().len(), 1);
    long_ago(&holder);
    for _ in 0..50 {
        let started = Instant::now();
        let seen = id(&holder).await.unwrap();
        if started.elapsed() < Duration::from_millis(50) && seen == "AKID2" {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(id(&holder).await.unwrap(), "AKID2");
    assert_eq!(server.asked().len(), 2);
}

/// As if the last attempt were long ago.
fn long_ago(holder: &Arc<Holder>) {
    let mut state = holder.state();
    if let Some((ended, _)) = &mut state.last {
        *ended = ended.checked_sub(PAUSE).unwrap();
    }
}

#[tokio::test]
async fn credentials_that_cannot_be_renewed_are_used_until_they_expire_and_no_longer() {
    let lasts = Duration::from_secs(4);
    let server = Server::start(move |_, number| match number {
        1 => (200, issued(number, lasts)),
        2 | 3 => (500, "<html>".into()),
        _ => (200, issued(number, HOUR)),
    })
    .await;
    let holder = server.container();
    assert_eq!(id(&holder).await.unwrap(), "AKID1");
    let started = Instant::now();
    long_ago(&holder);
    id(&holder).await.unwrap();
    while server.asked().len() < 2 && started.elapsed() < lasts {
        sleep(Duration::from_millis(20)).await;
    }
    sleep(Duration::from_millis(200)).await;
    let still = id(&holder).await;
    assert!(still.is_ok() || started.elapsed() > lasts, "{still:?}");
    sleep(lasts.saturating_sub(started.elapsed())).await;
    let told = id(&holder).await.unwrap_err().cause().unwrap();
    assert!(told.contains("HTTP 500; check the task's role"), "{told}");
    assert_eq!(id(&holder).await.unwrap(), "AKID4");
}

#[tokio::test]
async fn what_is_no_answer_gives_none() {
    for (body, word) in [
        ("<html>", "not the documented answer"),
        (r#"{"Code":"Failed"}"#, "not the documented answer"),
        (&issued(1, Duration::ZERO), "check this machine's clock"),
    ] {
        let body = body.to_owned();
        let server = Server::start(move |_, _| (200, body.clone())).await;
        let told = id(&server.container()).await.unwrap_err().cause().unwrap();
        assert!(told.contains(word), "{told}");
    }
    let gone = Server::start(|_, _| (200, String::new())).await;
    let holder = gone.container();
    drop(gone);
    sleep(Duration::from_millis(50)).await;
    let told = id(&holder).await.unwrap_err().cause().unwrap();
    assert!(told.contains("refused"), "{told}");
}

/// Rekognition at this server, by the role of this container.
fn rekognition(at: &Server, container: &Server) -> Rekognition {
    let remote = Remote {
        name: "aws".into(),
        url: at.url.clone(),
        auth: Auth::Nothing,
        headers: HeaderMap::new(),
        scope: Scope {
            text: Vec::new(),
            image: vec![Category::Violence],
        },
        deadline: Duration::from_secs(20),
        concurrency: 1,
        breaker: BreakerSettings::default(),
        piece_bytes: 1_000,
        proxy: None,
    };
    let access = AwsAccess::Role(AwsRole::Container {
        url: container.url.clone(),
        token: None,
    });
    Rekognition::new(remote, "eu-west-1".into(), access).unwrap()
}

async fn look(provider: &Rekognition) -> Result<usize, ProviderError> {
    let image = Rendition {
        format: ImageFormat::Png,
        bytes: Bytes::from_static(b"png"),
    };
    let question = Question {
        content: Content::Image(&image),
        categories: &[Category::Violence],
        policy: None,
    };
    let answer = provider.analyse(question).await?;
    Ok(answer.scores.iter().count())
}

#[tokio::test]
async fn a_session_that_aws_calls_expired_is_renewed_and_the_request_sent_once_more() {
    let container = Server::start(|_, number| (200, issued(number, HOUR))).await;
    let service = Server::start(|asked, _| {
        assert!(asked.shows("x-amz-security-token", "token=="));
        assert!(
            asked.headers.contains("x-amz-security-token, ")
                || asked.headers.contains("x-amz-security-token;")
        );
        if asked.headers.contains("Credential=AKID1/") {
            (
                400,
                json!({ "__type": "ExpiredTokenException", "message": "m" }).to_string(),
            )
        } else {
            (
                200,
                json!({ "ModerationLabels": [], "ModerationModelVersion": "7.0" }).to_string(),
            )
        }
    })
    .await;
    let provider = rekognition(&service, &container);
    assert_eq!(look(&provider).await.unwrap(), 1);
    assert_eq!(look(&provider).await.unwrap(), 1);
    assert_eq!((container.asked().len(), service.asked().len()), (2, 3));
}

#[tokio::test]
async fn a_session_that_stays_expired_is_asked_for_twice_and_no_more() {
    let container = Server::start(|_, _| (200, issued(1, HOUR))).await;
    let service = Server::start(|_, _| {
        (
            400,
            json!({ "__type": "ExpiredTokenException", "message": "m" }).to_string(),
        )
    })
    .await;
    let error = look(&rekognition(&service, &container)).await.unwrap_err();
    assert_eq!(
        (error.reason(), error.code()),
        ("denied", Some("ExpiredTokenException"))
    );
    assert_eq!((container.asked().len(), service.asked().len()), (2, 2));
}
