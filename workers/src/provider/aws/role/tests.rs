//! A role's credentials, from test servers that answer as AWS's do.

mod renewal;

use std::fs;

use chrono::{DateTime, Utc};

use super::*;
use crate::provider::aws::fake::{HOUR, Server, issued};

fn holder(role: AwsRole) -> Arc<Holder> {
    Holder::new(role, None).unwrap()
}

/// Holds the role of a container whose endpoint is this server.
fn container(server: &Server) -> Arc<Holder> {
    let mut url = server.url.clone();
    url.set_path("/v2/credentials/1");
    holder(AwsRole::Container { url, token: None })
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
async fn what_is_no_answer_gives_none() {
    for (body, word) in [
        ("<html>", "not the documented answer"),
        (r#"{"Code":"Failed"}"#, "not the documented answer"),
        (&issued(1, Duration::ZERO), "check this machine's clock"),
    ] {
        let body = body.to_owned();
        let server = Server::start(move |_, _| (200, body.clone())).await;
        let told = id(&container(&server)).await.unwrap_err().cause().unwrap();
        assert!(told.contains(word), "{told}");
    }
    // Bound, so that nobody else gets the port, and not listening.
    let nobody = tokio::net::TcpSocket::new_v4().unwrap();
    nobody.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}/", nobody.local_addr().unwrap());
    let holder = holder(AwsRole::Container {
        url: url.parse().unwrap(),
        token: None,
    });
    let told = id(&holder).await.unwrap_err().cause().unwrap();
    assert!(told.contains("refused"), "{told}");
}
