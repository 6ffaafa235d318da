//! `gatehouse erasure`: checks what an erasure has left, and certificates.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, anyhow, ensure};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use clap::{Args, Subcommand};
use domain::{
    erasure::{ItemsDigest, Subject},
    id::MediaId,
};
use store::erasure::{
    self, certificate,
    search::{self, Searched},
};

use crate::{
    config::AnyDatabaseOptions,
    service,
    terminal::{self, quoted},
};

const NAME: &str = "gatehouse erasure";

/// A shorter text would be found everywhere.
const SHORTEST: usize = 3;

/// Options of `gatehouse erasure`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    database: AnyDatabaseOptions,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Search every column of the database for texts, after removing dead rows. The exit code is 1 if one is found. Files of the
    /// write-ahead log, and backups, are not searched
    Verify {
        /// A file with the texts, one a line; `-` is standard input
        #[arg(long)]
        texts: PathBuf,
        /// Search without removing dead rows before, which reads every table once more
        #[arg(long)]
        skip_vacuum: bool,
    },
    /// Check a certificate of an erasure, and print what it says. The exit code is 1 if it is not valid
    CheckCertificate(CertificateArgs),
}

pub(crate) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    match options.action {
        Action::Verify { texts, skip_vacuum } => {
            let texts = lines(&texts)?;
            ensure!(!texts.is_empty(), "there are no texts to search for");
            for text in &texts {
                ensure!(
                    text.chars().count() >= SHORTEST,
                    "a text to search for must have at least {SHORTEST} characters"
                );
            }
            let located = options.database.locate()?;
            let pool = service::open_current(&located.database, NAME).await?;
            let pool = database::for_command(&pool);
            if !skip_vacuum {
                search::vacuum(&pool).await?;
            }
            let mut conn = pool.acquire().await?;
            tell(&search::search(&mut conn, &texts).await?, texts.len())
        }
        Action::CheckCertificate(args) => check_certificate(args, options.database).await,
    }
}

fn tell(searched: &Searched, texts: usize) -> anyhow::Result<ExitCode> {
    terminal::print(&format!(
        "searched {} columns of {} tables for {texts} {}\n",
        searched.columns,
        searched.tables,
        if texts == 1 { "text" } else { "texts" }
    ))?;
    if searched.found.is_empty() {
        terminal::print("nothing found\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    for found in &searched.found {
        terminal::print(&format!("found: {}, rows: {}\n", found.column, found.rows))?;
    }
    Ok(ExitCode::FAILURE)
}

/// The lines of a file that are not empty.
fn lines(file: &Path) -> anyhow::Result<Vec<String>> {
    let text = if file == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(file)
    };
    let text = text.with_context(|| format!("cannot read {}", file.display()))?;
    let lines = text.lines().filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}

/// Options of `gatehouse erasure check-certificate`.
#[derive(Debug, Args)]
struct CertificateArgs {
    /// The file with the certificate; `-` is standard input
    file: PathBuf,
    /// The public key: the `x` of `GET /management/v1/erasures/signing-key` [default: the key in the database]
    // One key in 64 begins with a hyphen.
    #[arg(long, allow_hyphen_values = true)]
    public_key: Option<String>,
    /// A file with the subject as JSON, such as {"author":"anna"}: checks that the certificate is about it
    #[arg(long)]
    subject: Option<PathBuf>,
    /// A file with the ids of the items, one a line, ordered by the ids of their sites and then their own: checks that the
    /// certificate is about these and no others
    #[arg(long)]
    items: Option<PathBuf>,
}

async fn check_certificate(
    args: CertificateArgs,
    database: AnyDatabaseOptions,
) -> anyhow::Result<ExitCode> {
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Check {
        #[command(flatten)]
        args: CertificateArgs,
    }

    #[test]
    fn a_public_key_may_begin_with_a_hyphen() {
        let key = "-qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
        let check = Check::try_parse_from(["check", "certificate.txt", "--public-key", key]);
        assert_eq!(check.unwrap().args.public_key.as_deref(), Some(key));
    }
}
