//! A provider of `OpenID` Connect that speaks the wire format, and that can be told to do anything wrong.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use chrono::Utc;
use management::SignOn;
use oidc::{ClientSecret, Settings};
use ring::{
    hmac,
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use rustls::{ClientConfig, RootCertStore, crypto};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::sleep,
};
use url::{Url, form_urlencoded};

const CLIENT: &str = "gatehouse";
const SECRET: &str = "a secret: of the client";

/// What the provider does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum How {
    #[default]
    Well,
    /// Breaks every connection.
    Down,
    /// Sends far more than anybody needs.
    Huge,
    /// Sends a byte a second.
    Slow,
    /// Sends browsers and others elsewhere.
    Redirecting,
}

/// How tokens are signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Signing {
    #[default]
    Well,
    /// With a key that is not published.
    OtherKey,
    /// With the same name of a key, but another key.
    OtherKeyOfThatName,
    /// With the client's secret.
    Secret,
    /// Not at all.
    Nothing,
}

/// A provider.
#[derive(Clone)]
pub(crate) struct Provider {
    pub(crate) issuer: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) how: How,
    pub(crate) signing: Signing,
    /// Changes the members of the discovery document.
    pub(crate) document: Value,
    /// Claims about the person who signs in next.
    pub(crate) person: Value,
    /// Replaces claims of ID tokens; null removes one.
    pub(crate) claims: Value,
    /// What is told about a person on request, in place of the ID token.
    pub(crate) about: Value,
    /// How often the keys were read.
    pub(crate) keys_read: u32,
    asked: HashMap<String, HashMap<String, String>>,
}

impl Provider {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let provider = Self {
            issuer: format!("http://{}", listener.local_addr().unwrap()),
            state: Arc::default(),
        };
        let served = provider.clone();
        let key = Arc::new([key(), key()]);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (provider, key) = (served.clone(), Arc::clone(&key));
                tokio::spawn(async move { provider.answer(stream, &key).await });
            }
        });
        provider
    }

    /// What Gatehouse is told about it.
    pub(crate) fn sign_on(&self) -> SignOn {
        let settings = Settings {
            issuer: self.issuer.parse().unwrap(),
            client_id: CLIENT.to_owned(),
            client_secret: ClientSecret::new(SECRET.to_owned()),
            redirect: "http://localhost/sign-on/callback".parse().unwrap(),
            scopes: vec!["email".to_owned()],
            roles_claim: "roles".to_owned(),
            strong_acrs: Vec::new(),
        };
        let ring = Arc::new(crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(ring);
        let tls = tls.with_safe_default_protocol_versions().unwrap();
        let tls = tls
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let provider = oidc::Provider::new(settings, tls).unwrap();
        SignOn::new(provider, "Acme".to_owned(), "gatehouse:".to_owned())
    }

    pub(crate) fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
    }

    pub(crate) fn keys_read(&self) -> u32 {
        self.state.lock().unwrap().keys_read
    }

    /// Who signs in next: the subject, which is also the name in the address, and the roles.
    pub(crate) fn expect(&self, subject: &str, roles: &[String]) {
        let email = format!("{subject}@example.com");
        let person =
            json!({ "sub": subject, "email": email, "name": "Ada Lindqvist", "roles": roles });
        self.set(|state| state.person = person);
    }

    /// A browser comes here with this address: the path with which it goes back.
    pub(crate) fn visit(&self, address: &str) -> String {
        let url: Url = address.parse().unwrap();
        assert!(
            address.starts_with(&format!("{}/auth?", self.issuer)),
            "{address}"
        );
        let asked: HashMap<String, String> = url.query_pairs().into_owned().collect();
        for (name, value) in [
            ("response_type", "code"),
            ("client_id", CLIENT),
            ("redirect_uri", "http://localhost/sign-on/callback"),
            ("scope", "openid email"),
            ("code_challenge_method", "S256"),
        ] {
            assert_eq!(asked[name], value);
        }
        let mut state = self.state.lock().unwrap();
        let code = format!("code-{}", state.asked.len());
        let back = form_urlencoded::Serializer::new(String::new())
            .append_pair("code", &code)
            .append_pair("state", &asked["state"])
            .append_pair("iss", &self.issuer)
            .finish();
        state.asked.insert(code, asked);
        format!("/sign-on/callback?{back}")
    }

    async fn answer(&self, mut stream: TcpStream, keys: &[EcdsaKeyPair; 2]) {
        let how = self.state.lock().unwrap().how;
        let request = read(&mut stream).await;
        let (status, body) = match how {
            How::Down => return,
            How::Huge => (200, format!("{{\"keys\":\"{}\"}}", "x".repeat(1 << 20))),
            How::Redirecting => (302, String::new()),
            How::Well | How::Slow => self.asked(&request, keys),
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             location: {}/elsewhere\r\nconnection: close\r\n\r\n",
            body.len(),
            self.issuer
        );
        if how == How::Slow {
            for byte in head.bytes().chain(body.bytes()) {
                if stream.write_all(&[byte]).await.is_err() {
                    return;
                }
                sleep(Duration::from_secs(1)).await;
            }
            return;
        }
        // The other side may have had enough.
        let _sent = stream.write_all(format!("{head}{body}").as_bytes()).await;
    }

    fn asked(&self, request: &str, keys: &[EcdsaKeyPair; 2]) -> (u16, String) {
        let mut state = self.state.lock().unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let path = head.split(' ').nth(1).unwrap();
        let answer = match path {
            "/.well-known/openid-configuration" => {
                let mut document = json!({
                    "issuer": self.issuer,
                    "authorization_endpoint": format!("{}/auth", self.issuer),
                    "token_endpoint": format!("{}/token", self.issuer),
                    "jwks_uri": format!("{}/keys", self.issuer),
                    "userinfo_endpoint": format!("{}/about", self.issuer),
                    "authorization_response_iss_parameter_supported": true,
                });
                replace(&mut document, &state.document);
                document
            }
            "/keys" => {
                state.keys_read += 1;
                json!({ "keys": [jwk(&keys[0])] })
            }
            "/about" => {
                assert!(
                    head.to_lowercase().contains("authorization: bearer access"),
                    "{head}"
                );
                state.about.clone()
            }
            "/token" => {
                let given = form_urlencoded::parse(body.as_bytes()).into_owned();
                let given: HashMap<String, String> = given.collect();
                let pair = format!("{CLIENT}:a+secret%3A+of+the+client");
                let header = format!("authorization: Basic {}", STANDARD.encode(pair));
                let Some(asked) = state.asked.get(&given["code"]) else {
                    return (400, json!({ "error": "invalid_grant" }).to_string());
                };
                let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&given["code_verifier"]));
                let fits = challenge == asked["code_challenge"]
                    && given["redirect_uri"] == asked["redirect_uri"]
                    && given["grant_type"] == "authorization_code";
                if !fits || !head.contains(&header) {
                    return (400, json!({ "error": "invalid_request" }).to_string());
                }
                let now = Utc::now().timestamp();
                let mut claims = json!({
                    "iss": self.issuer, "aud": CLIENT, "nonce": asked["nonce"], "iat": now, "exp": now + 300,
                });
                replace(&mut claims, &state.person);
                replace(&mut claims, &state.claims);
                json!({ "id_token": signed(state.signing, keys, &claims), "access_token": "access", "token_type": "Bearer" })
            }
            _ => return (404, String::new()),
        };
        (200, answer.to_string())
    }
}

fn replace(object: &mut Value, with: &Value) {
    for (name, value) in with.as_object().into_iter().flatten() {
        if value.is_null() {
            object.as_object_mut().unwrap().remove(name);
        } else {
            object[name] = value.clone();
        }
    }
}

async fn read(stream: &mut TcpStream) -> String {
    let mut request = String::new();
    let mut buffer = [0; 4_096];
    loop {
        let count = stream.read(&mut buffer).await.unwrap_or(0);
        request.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
        if let Some((head, body)) = request.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let (_, length) = head.split_once("content-length: ").unwrap_or(("", "0"));
            if body.len() >= length.lines().next().unwrap().parse().unwrap() {
                return request;
            }
        }
        assert!(count > 0, "the request ends early");
    }
}

fn key() -> EcdsaKeyPair {
    let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
    let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).unwrap()
}

fn jwk(key: &EcdsaKeyPair) -> Value {
    let point = key.public_key().as_ref();
    let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    json!({
        "kty": "EC", "crv": "P-256", "kid": "first", "use": "sig", "alg": "ES256",
        "x": part(&point[1..33]), "y": part(&point[33..]),
    })
}

fn signed(signing: Signing, keys: &[EcdsaKeyPair; 2], claims: &Value) -> String {
    let (algorithm, name) = match signing {
        Signing::Well | Signing::OtherKeyOfThatName => ("ES256", "first"),
        Signing::OtherKey => ("ES256", "second"),
        Signing::Secret => ("HS256", "first"),
        Signing::Nothing => ("none", "first"),
    };
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let header = json!({ "alg": algorithm, "kid": name });
    let message = format!("{}.{}", part(&header), part(claims));
    let ecdsa = |key: &EcdsaKeyPair| {
        let signature = key.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        signature.as_ref().to_vec()
    };
    let signature = match signing {
        Signing::Well => ecdsa(&keys[0]),
        Signing::OtherKey | Signing::OtherKeyOfThatName => ecdsa(&keys[1]),
        Signing::Secret => {
            let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
            hmac::sign(&key, message.as_bytes()).as_ref().to_vec()
        }
        Signing::Nothing => Vec::new(),
    };
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}
