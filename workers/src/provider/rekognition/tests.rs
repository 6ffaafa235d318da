//! How requests are signed, and what happens when a session expires.

mod labels;

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use picture::Rendition;
use serde_json::json;
use url::Url;

use super::*;
use crate::provider::{
    Auth, AwsKey, AwsRole, Provider as _, Scope,
    aws::fake::{HOUR, Server, issued},
    remote::client,
};

/// The expected signature was made by botocore 1.44.5, AWS's own library for Python, for the same
/// request and time.
#[test]
fn a_request_is_signed_as_the_official_sdk_signs_it() {
    let url: Url = Rekognition::url("eu-west-1").parse().unwrap();
    let key = AwsKey {
        id: "AKIDEXAMPLE".into(),
        secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
        session_token: None,
    };
    assert!(!format!("{key:?}").contains("wJalr"));
    let credentials = key.credentials();
    let access = AwsAccess::Key(key);
    let signer = Signer::new(access, "rekognition", "eu-west-1".into(), None).unwrap();
    let noon = SystemTime::UNIX_EPOCH + Duration::from_hours(491_628);
    let request = client(Duration::ZERO, None).unwrap().post(url.clone());
    let request = signer.sign(
        &credentials,
        request,
        &url,
        &HEADERS,
        br#"{"MinConfidence":0}"#,
        noon,
    );
    let headers = request.build().unwrap().headers().clone();
    assert_eq!(headers["x-amz-date"], "20260131T120000Z");
    assert_eq!(
        headers["authorization"],
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260131/eu-west-1/rekognition/aws4_request, \
         SignedHeaders=content-type;host;x-amz-date;x-amz-target, \
         Signature=c3eea4ba4825c16c46e0374c22e4a452f38608acb18c65b1b4381b6b75646a4e"
    );
}

/// Rekognition at this server, with the role of this container.
fn rekognition(at: &Server, container: &Server) -> Rekognition {
    let remote = Remote {
        scope: Scope {
            text: Vec::new(),
            image: vec![Category::Violence],
        },
        deadline: Duration::from_secs(20),
        ..Remote::example(at.url.as_str(), Auth::Nothing)
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
        team: None,
    };
    let answer = provider.analyse(question).await?;
    Ok(answer.scores.iter().count())
}

#[tokio::test]
async fn case_70_a_session_that_aws_calls_expired_is_renewed_and_the_request_sent_once_more() {
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
async fn case_70_a_session_that_stays_expired_is_asked_for_twice_and_no_more() {
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
