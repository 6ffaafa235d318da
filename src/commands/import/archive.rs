//! The archive as a file: checked as a whole first, then read member by member.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{BufReader, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail, ensure};
use domain::id::RuleGroupId;
use management::{
    exports::archive::{EXPORT, FORMAT, LAST, chain},
    imports::{ExportedGroup, GivenSite},
};
use serde::Deserialize;
use uuid::Uuid;

use crate::terminal::quoted;

/// The largest member that is read, in bytes. Gatehouse writes members of about 4 MiB, and one item can have 14 MiB more.
const LONGEST: u64 = 64 << 20;

/// An archive whose digest is right.
pub(super) struct Verified {
    path: PathBuf,
    /// The export's id.
    pub(super) export: String,
    pub(super) site: GivenSite,
    pub(super) groups: Vec<ExportedGroup>,
    /// Where the files of rules are: position and length, by the name of the member.
    files: HashMap<String, (u64, u64)>,
    /// The versions that items name.
    pub(super) versions: HashSet<Uuid>,
    /// How many items there are.
    pub(super) items: u64,
}

/// Reads the whole file once. Nothing is imported of an archive that is not whole.
///
/// # Errors
/// It is incomplete, damaged, of another format, or no archive.
pub(super) fn verify(path: &Path) -> anyhow::Result<Verified> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    #[derive(Deserialize)]
    struct Head {
        export: Export,
    }
    #[derive(Deserialize)]
    struct Export {
        id: String,
    }
    #[derive(Deserialize)]
    struct End {
        members: u32,
        items: u64,
        sha256: String,
    }
    let mut export = None;
    let mut site = None;
    let mut groups = Vec::new();
    let mut files = HashMap::new();
    let mut versions = HashSet::new();
    let mut items = 0;
    let mut members = 0;
    let mut digest = [0; 32];
    let mut end = None;
    let mut archive = open(path)?;
    for member in archive.entries()? {
        let member = read(member).with_context(|| incomplete(path))?;
        let (name, content) = (&member.name, &member.content);
        ensure!(end.is_none(), "{} goes on after {LAST}", path.display());
        if name == LAST {
            end = Some(serde_json::from_slice::<End>(content)?);
            continue;
        }
        if members == 0 {
            ensure!(
                name == EXPORT,
                "{} is no archive of Gatehouse: it begins with {} instead of {EXPORT}",
                path.display(),
                quoted(name)
            );
            let Format { format } = serde_json::from_slice(content)?;
            ensure!(
                format == FORMAT,
                "the archive has the format {format}, and this version reads {FORMAT}"
            );
            let head: Head = serde_json::from_slice(content)?;
            export = Some(head.export.id);
        }
        members += 1;
        digest = chain(&digest, name, content);
        match name.split('/').collect::<Vec<_>>()[..] {
            ["site.json"] => {
                site = Some(serde_json::from_slice(content).context("site.json is unusable")?);
            }
            ["rules", _, "group.json"] => {
                let group = serde_json::from_slice(content);
                groups.push(group.with_context(|| format!("{} is unusable", quoted(name)))?);
            }
            ["rules", _, _] => {
                files.insert(name.clone(), (member.position, content.len() as u64));
            }
            ["items", _] => {
                items += look_at(content, &mut versions)
                    .with_context(|| format!("{} is unusable", quoted(name)))?;
            }
            // Later versions may have other members.
            _ => {}
        }
    }
    let end = end.with_context(|| incomplete(path))?;
    let is_whole =
        end.sha256 == hex::encode(digest) && end.members == members && end.items == items;
    ensure!(
        is_whole,
        "{} is damaged: its content does not have the digest in {LAST}",
        path.display()
    );
    Ok(Verified {
        path: path.to_owned(),
        export: export.with_context(|| incomplete(path))?,
        site: site.context("the archive has no site.json")?,
        groups,
        files,
        versions,
        items,
    })
}

impl Verified {
    /// The file of a version's rules.
    pub(super) fn rules(&self, group: RuleGroupId, number: i32) -> anyhow::Result<String> {
        let name = format!("rules/{group}/{number}.yaml");
        let Some((position, length)) = self.files.get(&name) else {
            bail!("the archive has no {name}");
        };
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(*position))?;
        let mut content = String::new();
        file.take(*length).read_to_string(&mut content)?;
        Ok(content)
    }

    /// The members with items, one after the other.
    pub(super) fn items(
        &self,
    ) -> anyhow::Result<impl Iterator<Item = anyhow::Result<(String, String)>>> {
        let file = BufReader::with_capacity(1 << 20, File::open(&self.path)?);
        Ok(Members { file, position: 0 })
    }
}

/// Members with items, read one at a time. The tar crate's own iterator borrows its archive, so this reads each member with a new
/// one.
struct Members {
    file: BufReader<File>,
    position: u64,
}

impl Iterator for Members {
    type Item = anyhow::Result<(String, String)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.step() {
                Ok(None) => return None,
                Ok(Some((name, content))) if name.starts_with("items/") => {
                    let content = String::from_utf8(content);
                    return Some(content.map(|content| (name, content)).map_err(Into::into));
                }
                Ok(Some(_)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Members {
    fn step(&mut self) -> anyhow::Result<Option<(String, Vec<u8>)>> {
        self.file.seek(SeekFrom::Start(self.position))?;
        let mut archive = tar::Archive::new(&mut self.file);
        let Some(member) = archive.entries()?.next() else {
            return Ok(None);
        };
        let member = read(member)?;
        self.position += (member.position + member.content.len() as u64).next_multiple_of(512);
        Ok(Some((member.name, member.content)))
    }
}

struct Member {
    name: String,
    /// Where the content begins.
    position: u64,
    content: Vec<u8>,
}

fn open(path: &Path) -> anyhow::Result<tar::Archive<BufReader<File>>> {
    let mut file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut head = Vec::new();
    file.by_ref().take(512).read_to_end(&mut head)?;
    file.rewind()?;
    // Every kind of archive that Gatehouse has written has this mark in its first head. An incomplete one can be shorter.
    ensure!(
        head.get(257..262).is_none_or(|mark| mark == b"ustar"),
        "{} is no archive of Gatehouse: it is no tar file",
        path.display()
    );
    Ok(tar::Archive::new(BufReader::with_capacity(1 << 20, file)))
}

fn read<R: std::io::Read>(member: std::io::Result<tar::Entry<'_, R>>) -> anyhow::Result<Member> {
    let mut member = member?;
    let name = member
        .path()?
        .to_str()
        .context("a name is no text")?
        .to_owned();
    let size = member.size();
    ensure!(
        size <= LONGEST,
        "{} has {size} bytes, which is too much",
        quoted(&name)
    );
    let position = member.raw_file_position();
    let mut content = Vec::with_capacity(usize::try_from(size)?);
    member.read_to_end(&mut content)?;
    ensure!(content.len() as u64 == size, "{} is cut off", quoted(&name));
    Ok(Member {
        name,
        position,
        content,
    })
}

/// Counts the items of a member, and notes the versions that they name.
fn look_at(content: &[u8], versions: &mut HashSet<Uuid>) -> anyhow::Result<u64> {
    #[derive(Deserialize)]
    struct Glance {
        page: Option<u32>,
        #[serde(default)]
        group_versions: Vec<Uuid>,
    }
    let mut items = 0;
    for line in content.split(|byte| *byte == b'\n') {
        if line.is_empty() {
            continue;
        }
        let glance: Glance = serde_json::from_slice(line)?;
        items += u64::from(glance.page.is_none());
        versions.extend(glance.group_versions);
    }
    Ok(items)
}

fn incomplete(path: &Path) -> String {
    format!(
        "{} is incomplete: run `gatehouse export` with it again, and it goes on",
        path.display()
    )
}
