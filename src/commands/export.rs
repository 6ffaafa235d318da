//! `gatehouse export`: downloads the archive of a site over HTTP, and goes on where it was when something broke.

mod http;

use std::{
    fs::File,
    io::{BufReader, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use domain::{
    id::{ExportId, SiteId},
    key::ManagementToken,
};
use http_body_util::BodyExt as _;
use hyper::Method;
use management::exports::archive::{Counts, Cursor, END, EXPORT, Part, Scan};
use serde::Deserialize;
use serde_json::json;
use tokio::time::{sleep, timeout};
use url::Url;

use super::line_files::SHOWN_EVERY;
use crate::{
    config::{id, service_url},
    terminal::{self, tell},
};
use http::{Failure, Server};

/// How long nothing may arrive before the connection counts as broken.
const SILENCE: Duration = Duration::from_mins(1);
/// The first pause after a failure. It doubles each time, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Failures in a row, without a whole member between them, after which the command ends.
const FAILURES: u32 = 20;

/// The options of `gatehouse export`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The service, for example <https://gatehouse.example.com>
    #[arg(long, value_name = "URL", value_parser = service_url)]
    url: Url,
    /// A file with a management token that has the scope `sites:export`
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// The site
    #[arg(long, value_parser = id::<SiteId>)]
    site: SiteId,
    /// An export of it that exists, for example that of a closure. Without this option, one is created
    #[arg(long, value_parser = id::<ExportId>)]
    export: Option<ExportId>,
    /// The archive. If it is there and incomplete, the download goes on where it ended
    #[arg(long, value_name = "FILE.tar")]
    to: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What the service says about an export.
#[derive(Debug, Deserialize)]
struct Export {
    id: String,
}

/// Downloads the archive to its end.
///
/// # Errors
/// The file is something else; the service refuses; it fails too often.
pub(crate) async fn run(args: Args) -> anyhow::Result<()> {
    let token = std::fs::read_to_string(&args.token_file)
        .with_context(|| format!("cannot read the token {}", args.token_file.display()))?;
    let token: ManagementToken = token.trim().parse().map_err(|_| {
        let file = args.token_file.display();
        anyhow::anyhow!("{file} has no management token: one begins with mgmt_")
    })?;
    let server = Server::new(args.url, token.expose());
    let mut file = Partial::open(&args.to)?;
    let export = match file.export()? {
        Some(head) => {
            ensure!(
                head.site_id == args.site,
                "{} is the archive of the site {}: choose another file",
                args.to.display(),
                head.site_id
            );
            head.id
        }
        None => match args.export {
            Some(export) => export.to_string(),
            None => begin(&server, args.site).await?,
        },
    };
    let mut failures = 0;
    while !file.is_complete() {
        let before = file.end;
        let ended = download(&server, &export, &mut file).await;
        file.cut()?;
        let progressed = file.end > before;
        if progressed {
            failures = 0;
        }
        match ended {
            Ok(()) if progressed => {}
            Ok(()) => pause(&mut failures, &Failure::passing("nothing arrived")).await?,
            Err(failure) => pause(&mut failures, &failure).await?,
        }
    }
    let bytes = file.finish()?;
    let Counts { items, audit } = file.counts();
    let done = json!({
        "export_id": export,
        "file": args.to,
        "bytes": bytes,
        "items": items,
        "audit_rows": audit,
    });
    if args.json {
        terminal::print_json(&done)?;
    } else {
        terminal::print(&format!(
            "{}: {items} items and {audit} rows of the audit log, {bytes} bytes\n",
            args.to.display(),
        ))?;
    }
    Ok(())
}

/// Creates the export.
async fn begin(server: &Server, site: SiteId) -> anyhow::Result<String> {
    let body = json!({ "site_id": site }).to_string();
    let mut failures = 0;
    loop {
        let created = async {
            let answer = server
                .send(Method::POST, "/management/v1/exports", Some(body.clone()))
                .await?;
            let body = timeout(SILENCE, answer.into_body().collect()).await;
            let body = body.map_err(|_| Failure::passing("the service fell silent"))?;
            let body = body.map_err(|error| Failure::passing(error.to_string()))?;
            serde_json::from_slice::<Export>(&body.to_bytes())
                .map_err(|_| Failure::Final("the answer is not Gatehouse's".to_owned()))
        };
        match created.await {
            Ok(export) => return Ok(export.id),
            Err(failure) => pause(&mut failures, &failure).await?,
        }
    }
}

/// Appends what one answer has.
async fn download(server: &Server, export: &str, file: &mut Partial) -> Result<(), Failure> {
    let after = match file.after {
        Some(cursor) => format!("?after={cursor}"),
        None => String::new(),
    };
    let path = format!("/management/v1/exports/{export}/archive{after}");
    let answer = server.send(Method::GET, &path, None).await?;
    let mut body = answer.into_body();
    let mut shown = Instant::now();
    loop {
        let frame = timeout(SILENCE, body.frame()).await;
        let frame = frame.map_err(|_| Failure::passing("the service fell silent"))?;
        let Some(frame) = frame else { return Ok(()) };
        let frame = frame.map_err(|error| Failure::passing(error.to_string()))?;
        if let Ok(bytes) = frame.into_data() {
            file.append(&bytes)
                .map_err(|error| Failure::Final(format!("{error:#}")))?;
        }
        if shown.elapsed() >= SHOWN_EVERY {
            shown = Instant::now();
            tell(&format!(
                "{} items, {} MiB",
                file.counts().items,
                file.end >> 20
            ));
        }
    }
}

/// Waits before the next try, after so many failures in a row and this one.
///
/// # Errors
/// Another try cannot help, or there were too many.
async fn pause(failures: &mut u32, failure: &Failure) -> anyhow::Result<()> {
    let (why, wanted) = match failure {
        Failure::Final(why) => bail!("{why}"),
        Failure::Passing { why, after } => (why, *after),
    };
    *failures += 1;
    if *failures > FAILURES {
        bail!("{why}; the file keeps what has arrived: run the command again to go on");
    }
    let backoff = FIRST_PAUSE
        .saturating_mul(1 << (*failures - 1).min(16))
        .min(LONGEST_PAUSE);
    let pause = wanted.unwrap_or(Duration::ZERO).max(backoff);
    tell(&format!("{why}; trying again in {} s", pause.as_secs()));
    sleep(pause).await;
    Ok(())
}

/// How an archive begins: the name of its first header.
const BEGINNING: &[u8] = b"pax\0";

/// A file, complete or not.
struct Partial {
    path: PathBuf,
    file: File,
    scan: Scan,
    /// Where the last whole member ends.
    end: u64,
    /// Where to go on.
    after: Option<Cursor>,
}

/// What the first member says about the export.
#[derive(Debug, Deserialize)]
struct Head {
    id: String,
    site_id: SiteId,
}

impl Partial {
    /// Opens the file or creates it, and cuts off what is no whole member.
    ///
    /// # Errors
    /// It is something else than an archive.
    fn open(path: &Path) -> anyhow::Result<Self> {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .with_context(|| format!("cannot open {}", path.display()))?;
        let mut partial = Self {
            path: path.to_owned(),
            file,
            scan: Scan::default(),
            end: 0,
            after: None,
        };
        let mut reader = BufReader::with_capacity(1 << 20, partial.file.try_clone()?);
        let mut piece = vec![0; 1 << 20];
        let mut beginning = Vec::new();
        loop {
            let read = reader.read(&mut piece)?;
            if read == 0 {
                break;
            }
            if beginning.is_empty() {
                beginning.extend_from_slice(&piece[..read.min(BEGINNING.len())]);
            }
            partial.follow(&piece[..read])?;
        }
        if !BEGINNING.starts_with(&beginning) {
            bail!(
                "{} is there and is no archive of Gatehouse: choose another name",
                path.display()
            );
        }
        partial.cut()?;
        Ok(partial)
    }

    /// The export that the file is of. None: its first member is not there yet.
    fn export(&self) -> anyhow::Result<Option<Head>> {
        #[derive(Deserialize)]
        struct First {
            export: Head,
        }
        if self.after.is_none() {
            return Ok(None);
        }
        let mut archive = tar::Archive::new(File::open(&self.path)?);
        let first = archive.entries()?.next();
        let mut first = first.context("the file has no members")??;
        if first.path()?.to_str() != Some(EXPORT) {
            bail!("{} does not begin with {EXPORT}", self.path.display());
        }
        let mut content = String::new();
        first.read_to_string(&mut content)?;
        let first: First = serde_json::from_str(&content)?;
        Ok(Some(first.export))
    }

    /// Adds bytes that have arrived.
    fn append(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.file
            .write_all(bytes)
            .with_context(|| format!("cannot write {}", self.path.display()))?;
        self.follow(bytes)
    }

    /// Cuts off what came after the last whole member. The end of a complete file stays.
    fn cut(&mut self) -> anyhow::Result<()> {
        if !self.is_complete() {
            self.file.set_len(self.end)?;
        }
        self.file.seek(SeekFrom::End(0))?;
        self.scan = Scan::at(self.end);
        Ok(())
    }

    fn follow(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let seen = self.scan.feed(bytes);
        let seen = seen.with_context(|| format!("{} is unusable", self.path.display()))?;
        if let Some(last) = seen.last() {
            self.end = last.end;
            self.after = Some(last.after);
        }
        Ok(())
    }

    /// Whether the last member is there.
    fn is_complete(&self) -> bool {
        self.after.is_some_and(|after| after.part == Part::End)
    }

    /// What the whole members have.
    fn counts(&self) -> Counts {
        self.after.map(|after| after.counts).unwrap_or_default()
    }

    /// Gives a complete file its end, of which the last answer may have lacked a part, and waits until it is on the disk.
    /// Returns its size.
    fn finish(&self) -> anyhow::Result<u64> {
        let size = self.end + END as u64;
        self.file.set_len(self.end)?;
        self.file.set_len(size)?;
        self.file.sync_all()?;
        Ok(size)
    }
}
