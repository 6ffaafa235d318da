//! The provider, as its two uses need it: where to send a browser, and who came back.

use std::time::Instant;

use chrono::{DateTime, Utc};
use reqwest::Client;
use rustls::ClientConfig;
use url::Url;

use crate::{
    Ask, Attempt, Failed, Identity, Issuer, Settings,
    claims::{self, Claims},
    discovery::Document,
    document_cache::DocumentCache,
    http,
    id_token::{self, Keys},
    signature,
};

/// The longest code that is redeemed.
const LONGEST_CODE: usize = 4_096;

/// The provider. Nothing is asked before it is needed.
#[derive(Debug)]
pub struct Provider {
    settings: Settings,
    http: Client,
    document: DocumentCache<Document>,
    keys: DocumentCache<Keys>,
}

/// What the provider said in the address that it sent the browser to.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The code to redeem.
    pub code: &'a str,
    /// Who says so (RFC 9207); empty if nobody does.
    pub issuer: &'a str,
}

impl Provider {
    /// A provider with these settings, whose certificates are judged by `tls`.
    ///
    /// # Errors
    /// The settings of TLS cannot be used.
    pub fn new(settings: Settings, tls: ClientConfig) -> Result<Self, Failed> {
        signature::install();
        Ok(Self {
            settings,
            http: http::client(tls).map_err(Failed::Unreachable)?,
            document: DocumentCache::new(),
            keys: DocumentCache::new(),
        })
    }

    /// Who the provider is.
    pub fn issuer(&self) -> &Issuer {
        &self.settings.issuer
    }

    /// Where to send the browser of this attempt.
    ///
    /// # Errors
    /// The provider's endpoints cannot be found.
    pub async fn address(&self, attempt: &Attempt) -> Result<Url, Failed> {
        let mut url = self.document().await?.authorization_endpoint;
        let settings = &self.settings;
        let mut scopes = vec!["openid"];
        scopes.extend(
            settings
                .scopes
                .iter()
                .map(String::as_str)
                .filter(|scope| *scope != "openid"),
        );
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &settings.client_id)
            .append_pair("redirect_uri", settings.redirect.as_str())
            .append_pair("scope", &scopes.join(" "))
            .append_pair("state", &attempt.state)
            .append_pair("nonce", &attempt.nonce)
            .append_pair("code_challenge", &attempt.challenge())
            .append_pair("code_challenge_method", "S256");
        if !settings.strong_acrs.is_empty() {
            query.append_pair("acr_values", &settings.strong_acrs.join(" "));
        }
        if attempt.ask == Ask::Again {
            query
                .append_pair("prompt", "login")
                .append_pair("max_age", "0");
        }
        drop(query);
        Ok(url)
    }

    /// Redeems the code that came back, and says who signed in. The caller has compared the state.
    ///
    /// # Errors
    /// The provider cannot be asked, refuses the code, or its answer is not to be trusted.
    pub async fn redeem(
        &self,
        attempt: &Attempt,
        answer: Answer<'_>,
        now: DateTime<Utc>,
    ) -> Result<Identity, Failed> {
        let document = self.document().await?;
        let must_name = document.authorization_response_iss_parameter_supported;
        if (must_name || !answer.issuer.is_empty()) && answer.issuer != self.issuer().as_str() {
            return Err(Failed::Untrusted("another issuer answered"));
        }
        if answer.code.is_empty() || answer.code.len() > LONGEST_CODE {
            return Err(Failed::Untrusted("there is no code, or it is too long"));
        }
        let settings = &self.settings;
        let tokens =
            id_token::redeem(&self.http, &document, settings, attempt, answer.code).await?;
        let header = id_token::header(&tokens.id_token)?;
        let read = async || Keys::read(&self.http, document.jwks_uri.clone()).await;
        let keys = self
            .keys
            .get(Instant::now(), |keys| keys.has(&header), read)
            .await?;
        let claims = id_token::verify(&tokens.id_token, &header, &keys, settings)?;
        let subject = claims::check(&claims, settings, attempt, now)?;
        let more = match (&tokens.access_token, document.userinfo_endpoint) {
            (Some(access), Some(url)) if Identity::wants_more(settings, &claims) => {
                self.about(url, access, subject).await?
            }
            _ => Claims::new(),
        };
        Ok(Identity::of(subject, settings, &claims, &more))
    }

    /// What the provider says about the person when it is asked. It must be the same person.
    async fn about(&self, url: Url, access: &str, subject: &str) -> Result<Claims, Failed> {
        let claims: Claims = http::send(self.http.get(url).bearer_auth(access)).await?;
        if claims::subject(&claims) == Some(subject) {
            Ok(claims)
        } else {
            Err(Failed::Untrusted("the provider told about another person"))
        }
    }

    async fn document(&self) -> Result<Document, Failed> {
        let read = async || Document::read(&self.http, &self.settings.issuer).await;
        self.document.get(Instant::now(), |_| true, read).await
    }
}
