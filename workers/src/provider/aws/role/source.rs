//! The three places that issue a role's credentials, as AWS's SDKs ask them.
//!
//! Source: AWS's "SDKs and Tools Reference Guide": container credential provider, IMDS credential provider, assume role with web
//! identity.

use std::{path::Path, time::SystemTime};

use aws_credential_types::Credentials;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use reqwest::{Client, RequestBuilder};
use serde::Deserialize;
use url::Url;

use super::{AwsRole, ContainerToken, Issued};
use crate::provider::{
    error::{NoCredentials, causes},
    transport::{code_of, is_word, read},
};

/// A role's credentials take a few kilobytes.
const MOST: usize = 64 << 10;
/// The lifetime that is requested for a token of the instance's metadata, in seconds. The token is
/// used at once.
const TOKEN_SECONDS: &str = "60";

/// The answer of a container's or an instance's endpoint.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    access_key_id: String,
    secret_access_key: String,
    token: String,
    expiration: DateTime<Utc>,
}

impl From<Answer> for Issued {
    fn from(answer: Answer) -> Self {
        let expires = SystemTime::from(answer.expiration);
        let Answer {
            access_key_id,
            secret_access_key,
            token,
            ..
        } = answer;
        let token = Some(token);
        Self {
            credentials: Credentials::new(
                access_key_id,
                secret_access_key,
                token,
                Some(expires),
                "gatehouse",
            ),
            expires,
        }
    }
}

/// Fetches a role's credentials from their source.
pub(super) async fn fetch(http: &Client, role: &AwsRole) -> Result<Issued, NoCredentials> {
    let issued = match role {
        AwsRole::WebIdentity {
            sts,
            role,
            session,
            token_file,
        } => of_web_identity(http, sts, role, session, token_file).await,
        AwsRole::Container { url, token } => of_container(http, url, token.as_ref()).await,
        AwsRole::Instance { endpoint } => of_instance(http, endpoint).await,
    };
    issued.map_err(|what| failed(role, &what))
}

/// What went wrong, where, and what to do.
pub(super) fn failed(role: &AwsRole, what: &str) -> NoCredentials {
    NoCredentials(match role {
        AwsRole::WebIdentity { sts, .. } => format!(
            "AWS's token service at {}: {what}; check AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE, and that the role trusts this service account",
            place(sts)
        ),
        AwsRole::Container { url, .. } => format!(
            "the container's credentials at {}: {what}; check the task's role (ECS) or the pod identity association (EKS)",
            place(url)
        ),
        AwsRole::Instance { endpoint } => format!(
            "the instance's metadata at {}: {what}; attach a role to the instance, and in a container allow a hop limit of 2",
            place(endpoint)
        ),
    })
}

fn place(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

async fn of_container(
    http: &Client,
    url: &Url,
    token: Option<&ContainerToken>,
) -> Result<Issued, String> {
    let token = match token {
        None => None,
        Some(ContainerToken::Value(token)) => Some(token.clone()),
        Some(ContainerToken::File(path)) => Some(in_file(path).await?),
    };
    let request = http.get(url.clone());
    let request = match token {
        None => request,
        Some(token) => request.header("authorization", token),
    };
    issued(&send(request).await?)
}

/// Version 2 of the metadata: every request needs a token, which a PUT creates.
async fn of_instance(http: &Client, endpoint: &Url) -> Result<Issued, String> {
    let at = |path: &str| {
        let mut url = endpoint.clone();
        url.set_path(path);
        url
    };
    let request = http.put(at("/latest/api/token"));
    let token = send(request.header("x-aws-ec2-metadata-token-ttl-seconds", TOKEN_SECONDS)).await?;
    let token = text(&token)?.to_owned();
    let ask = |path: &str| {
        let request = http.get(at(path));
        send(request.header("x-aws-ec2-metadata-token", token.clone()))
    };
    let roles = "/latest/meta-data/iam/security-credentials/";
    let role = ask(roles).await?;
    let role = text(&role)?.lines().next().unwrap_or_default().trim();
    if role.is_empty() {
        return Err("it has no role".into());
    }
    issued(&ask(&format!("{roles}{role}")).await?)
}

/// `AssumeRoleWithWebIdentity`, which needs no signature. It answers in XML.
async fn of_web_identity(
    http: &Client,
    sts: &Url,
    role: &str,
    session: &str,
    token_file: &Path,
) -> Result<Issued, String> {
    let token = in_file(token_file).await?;
    let form = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("Action", "AssumeRoleWithWebIdentity")
        .append_pair("Version", "2011-06-15")
        .append_pair("RoleArn", role)
        .append_pair("RoleSessionName", session)
        .append_pair("WebIdentityToken", &token)
        .finish();
    let request = http
        .post(sts.clone())
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form);
    let body = send(request).await?;
    let body = text(&body)?;
    let member = |name| element(body, name).map(str::to_owned);
    let answer = || {
        Some(Answer {
            access_key_id: member("AccessKeyId")?,
            secret_access_key: member("SecretAccessKey")?,
            token: member("SessionToken")?,
            expiration: element(body, "Expiration")?.parse().ok()?,
        })
    };
    let answer = answer().ok_or("not the documented answer")?;
    Ok(answer.into())
}

/// The content of the first element with this name. What we read has no characters that XML
/// escapes.
fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    Some(rest.split_once(&format!("</{name}>"))?.0.trim())
}

async fn in_file(path: &Path) -> Result<String, String> {
    let text = tokio::fs::read_to_string(path).await;
    let text =
        text.map_err(|error| format!("cannot read the token in {}: {error}", path.display()))?;
    Ok(text.trim().to_owned())
}

async fn send(request: RequestBuilder) -> Result<Bytes, String> {
    let answer = request.send().await.map_err(|error| {
        let cause = causes(&error).unwrap_or_else(|| "no answer".into());
        format!("it could not be reached: {cause}")
    })?;
    let (status, headers) = (answer.status(), answer.headers().clone());
    let body = read(answer, MOST)
        .await
        .map_err(|error| error.to_string())?;
    if status.is_success() {
        return Ok(body);
    }
    let code = code_of(&headers, &body).or_else(|| {
        let code = element(std::str::from_utf8(&body).ok()?, "Code")?;
        is_word(code).then(|| code.to_owned())
    });
    Err(match code {
        Some(code) => format!("HTTP {}, {code}", status.as_u16()),
        None => format!("HTTP {}", status.as_u16()),
    })
}

fn text(body: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(body).map_err(|_| "not the documented answer".to_owned())
}

fn issued(body: &[u8]) -> Result<Issued, String> {
    // serde's message may quote the answer, which has the secret.
    let answer: Result<Answer, _> = serde_json::from_slice(body);
    answer
        .map(Issued::from)
        .map_err(|_| "not the documented answer".to_owned())
}
