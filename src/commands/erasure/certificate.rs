//! `gatehouse erasure check-certificate`.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context as _, anyhow};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    erasure::{ItemsDigest, Subject},
    id::MediaId,
};
use store::erasure::{self, certificate};

use super::{NAME, lines};
use crate::{
    config::AnyDatabaseOptions,
    service,
    terminal::{self, quoted},
};

/// Options of `gatehouse erasure check-certificate`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The file with the certificate; `-` is standard input
    file: PathBuf,
    /// The public key: the `x` of `GET /management/v1/erasures/signing-key` [default: the key in the database]
    #[arg(long)]
    public_key: Option<String>,
    /// A file with the subject as JSON, such as {"author":"anna"}: checks that the certificate is about it
    #[arg(long)]
    subject: Option<PathBuf>,
    /// A file with the ids of the items, one a line, ordered by the ids of their sites and then their own: checks that the
    /// certificate is about these and no others
    #[arg(long)]
    items: Option<PathBuf>,
}

pub(super) async fn check(args: Args, database: AnyDatabaseOptions) -> anyhow::Result<ExitCode> {
    let text = lines(&args.file)?.concat();
    let key = match &args.public_key {
        Some(key) => URL_SAFE_NO_PAD
            .decode(key)
            .context("the public key is not base64url without padding")?,
        None => stored_key(database).await?,
    };
    let certificate = match certificate::verify(text.trim(), &key) {
        Ok(certificate) => certificate,
        Err(invalid) => {
            terminal::print(&format!("not valid: {invalid}\n"))?;
            return Ok(ExitCode::FAILURE);
        }
    };
    let shown = terminal::json(serde_json::to_string_pretty(&certificate)?);
    terminal::print(&format!("{shown}\nthe signature is valid\n"))?;
    let mut fits = true;
    if let Some(file) = &args.subject {
        let subject: Subject = serde_json::from_str(&lines(file)?.concat())
            .context("the subject is not of the form {\"author\":\"anna\"}")?;
        let salt = hex::decode(&certificate.subject.salt).context("the salt")?;
        fits &= told(
            "the subject",
            hex::encode(subject.digest(&salt)) == certificate.subject.sha256,
        )?;
    }
    if let Some(file) = &args.items {
        let mut digest = ItemsDigest::default();
        for line in lines(file)? {
            let id: MediaId = line
                .trim()
                .parse()
                .map_err(|_| anyhow!("{} is no id of an item", quoted(&line)))?;
            digest = digest.with(id);
        }
        fits &= told(
            "the list of items",
            hex::encode(digest.as_bytes()) == certificate.items_digest,
        )?;
    }
    Ok(if fits {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn told(what: &str, fits: bool) -> anyhow::Result<bool> {
    let verdict = if fits { "is the one" } else { "is not the one" };
    terminal::print(&format!("{what} {verdict} that the certificate is about\n"))?;
    Ok(fits)
}

async fn stored_key(database: AnyDatabaseOptions) -> anyhow::Result<Vec<u8>> {
    let located = database.locate()?;
    let mut conn = service::connect(&located.database, NAME).await?;
    let key = erasure::public_key(&mut conn).await?;
    let key = key.context("this database has no key: no certificate was signed here")?;
    Ok(key.bytes.to_vec())
}
