//! Building the next member of an archive, in one session.

use domain::{
    id::{MediaId, RuleGroupId},
    name::Name,
    rule_file::RuleFile,
    rules::Rule,
    scope::Scope,
};
use serde_json::{Value, json};
use store::{
    export::{self, Export, Planned},
    site,
};
use uuid::Uuid;

use super::archive::{Counts, Cursor, EXPORT, FORMAT, LAST, Part};
use crate::{Caller, Management, Noun, Refused, Session};

/// Items in one member, at most.
const ITEMS: usize = 500;

/// Bytes of one member, about. One item is always whole, so a member can be larger by the largest item.
const BYTES: usize = 4 << 20;

/// Bytes of items that are read by one statement, about.
const STEP: i64 = 512 << 10;

/// Rows of the audit log that one session looks at, at most, and in how large steps.
const AUDIT_ROWS: usize = 5_000;
const AUDIT_STEP: i64 = 200;

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A step of the walk.
pub(super) enum Built {
    /// A member with its name and content. The cursor does not count it yet.
    Member(String, Vec<u8>, Cursor),
    /// Nothing was found, and the walk goes on here.
    Nothing(Cursor),
}

/// The next step of the walk over an export.
///
/// # Errors
/// The caller may not do it; the site does not exist any more; the database failed.
pub(super) async fn next(
    caller: &Caller,
    export: &Export,
    cursor: &Cursor,
) -> Result<Built, Refused> {
    let mut session = caller.read(Scope::SitesExport).await?;
    session.require_team(export.team)?;
    match cursor.part {
        Part::Nothing => Ok(about_export(export, cursor)),
        Part::Export => about_site(&mut session, export, cursor).await,
        Part::Rules => rules(&caller.management, session, export, cursor).await,
        Part::Items => items(&mut session, export, cursor).await,
        Part::Audit => audit(&mut session, export, cursor).await,
        Part::End => Ok(Built::Nothing(*cursor)),
    }
}

fn about_export(export: &Export, cursor: &Cursor) -> Built {
    let content = json!({ "format": FORMAT, "gatehouse": VERSION, "export": export });
    Built::Member(
        EXPORT.to_owned(),
        pretty(&content),
        Cursor {
            part: Part::Export,
            ..*cursor
        },
    )
}

async fn about_site(
    session: &mut Session,
    export: &Export,
    cursor: &Cursor,
) -> Result<Built, Refused> {
    let reach = session.reach();
    let site = site::settings::find(session.conn(), reach, export.site).await?;
    let site = site.ok_or(Refused::NotFound(Noun::Site))?;
    let next = Cursor {
        part: Part::Rules,
        ..*cursor
    };
    let content = serde_json::to_value(site).map_err(|_| Refused::Internal)?;
    Ok(Built::Member(
        "site.json".to_owned(),
        pretty(&content),
        next,
    ))
}

/// The next version of the present group, or the next group.
async fn rules(
    management: &Management,
    mut session: Session,
    export: &Export,
    cursor: &Cursor,
) -> Result<Built, Refused> {
    let group = RuleGroupId::from(cursor.id);
    // The cursor could name any group.
    let is_own = store::rule_group::owner(session.conn(), group).await? == Some(export.team);
    if is_own {
        let version = export::next_version(session.conn(), group, cursor.ordinal).await?;
        if let Some((name, number, rules)) = version {
            session.end();
            let yaml = management
                .trial_pool
                .work(Some(export.team), move || as_yaml(&name, rules))
                .await?;
            return Ok(Built::Member(
                format!("rules/{group}/{number}.yaml"),
                yaml.into_bytes(),
                Cursor {
                    ordinal: number,
                    ..*cursor
                },
            ));
        }
    }
    let Some(group) = export::next_group(session.conn(), export.team, cursor.id).await? else {
        return Ok(Built::Nothing(Cursor {
            part: Part::Items,
            id: Uuid::nil(),
            ordinal: 0,
            ..*cursor
        }));
    };
    let content = serde_json::to_value(&group).map_err(|_| Refused::Internal)?;
    Ok(Built::Member(
        format!("rules/{}/group.json", group.id),
        pretty(&content),
        Cursor {
            id: group.id.as_uuid(),
            ordinal: 0,
            ..*cursor
        },
    ))
}

fn as_yaml(name: &str, rules: Vec<Rule>) -> String {
    // The command line once accepted other names.
    let name: Name = name.parse().unwrap_or_else(|_| fallback());
    let rules = rules.into_iter().map(Into::into).collect();
    RuleFile { name, rules }.to_yaml()
}

fn fallback() -> Name {
    "Rules".parse().expect("it is a name")
}

async fn items(session: &mut Session, export: &Export, cursor: &Cursor) -> Result<Built, Refused> {
    let mut gathered = Gathered::default();
    let mut next = *cursor;
    // The rest of an item with many verdicts or notes comes first.
    while next.ordinal > 0 && gathered.content.len() < BYTES {
        let item = (export.site, MediaId::from(next.id));
        match export::page(session.conn(), item, next.ordinal).await? {
            Some(line) => {
                gathered.push(&line);
                next.ordinal += 1;
            }
            None => next.ordinal = 0,
        }
    }
    if next.ordinal == 0 {
        let limit = i64::try_from(ITEMS).unwrap_or(i64::MAX);
        let between = (next.id, export.upto);
        let planned = export::planned(session.conn(), export.site, between, limit).await?;
        let mut rest = &planned[..];
        while !rest.is_empty() && gathered.content.len() < BYTES {
            let step = &rest[..step(rest)];
            rest = &rest[step.len()..];
            let ids: Vec<Uuid> = step.iter().map(|item| item.media.as_uuid()).collect();
            for line in export::lines(session.conn(), &ids).await? {
                gathered.push(&line);
                next.counts.items += 1;
            }
            if let Some(last) = step.last() {
                next.id = last.media.as_uuid();
                next.ordinal = i32::from(last.has_more);
                if last.has_more {
                    break;
                }
            }
        }
    }
    if gathered.content.is_empty() {
        if next.id != cursor.id || next.ordinal != cursor.ordinal {
            // All of them were removed meanwhile.
            return Ok(Built::Nothing(next));
        }
        return Ok(Built::Nothing(Cursor {
            part: Part::Audit,
            id: Uuid::nil(),
            ordinal: 0,
            ..next
        }));
    }
    let name = format!("items/{:06}.ndjson", next.number + 1);
    Ok(Built::Member(name, gathered.content, next))
}

/// How many of the next items are read together: up to an item that has further lines, and up to about [`STEP`] bytes; at
/// least one.
fn step(planned: &[Planned]) -> usize {
    let mut bytes = 0;
    for (place, item) in planned.iter().enumerate() {
        bytes += item.bytes;
        if item.has_more || bytes > STEP {
            return if bytes > STEP && place > 0 {
                place
            } else {
                place + 1
            };
        }
    }
    planned.len()
}

async fn audit(session: &mut Session, export: &Export, cursor: &Cursor) -> Result<Built, Refused> {
    let mut gathered = Gathered::default();
    let mut next = *cursor;
    let mut looked_at = 0;
    let mut has_ended = false;
    while looked_at < AUDIT_ROWS && gathered.content.len() < BYTES {
        let slice = export::audit_slice(session.conn(), export, next.id, AUDIT_STEP).await?;
        looked_at += usize::try_from(AUDIT_STEP).unwrap_or(AUDIT_ROWS);
        for line in &slice.lines {
            gathered.push(line);
            next.counts.audit += 1;
        }
        let Some(last) = slice.last else {
            has_ended = true;
            break;
        };
        next.id = last;
    }
    if gathered.content.is_empty() {
        return Ok(if has_ended {
            end(&next)
        } else {
            Built::Nothing(next)
        });
    }
    let name = format!("audit/{:06}.ndjson", next.number + 1);
    Ok(Built::Member(name, gathered.content, next))
}

fn end(cursor: &Cursor) -> Built {
    let Counts { items, audit } = cursor.counts;
    let content = json!({
        "members": cursor.number,
        "items": items,
        "audit": audit,
        "sha256": hex::encode(cursor.digest),
    });
    Built::Member(
        LAST.to_owned(),
        pretty(&content),
        Cursor {
            part: Part::End,
            ..*cursor
        },
    )
}

/// Lines of a member.
#[derive(Default)]
struct Gathered {
    content: Vec<u8>,
}

impl Gathered {
    fn push(&mut self, line: &str) {
        self.content.extend_from_slice(line.as_bytes());
        self.content.push(b'\n');
    }
}

fn pretty(value: &Value) -> Vec<u8> {
    let mut content = format!("{value:#}").into_bytes();
    content.push(b'\n');
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(items: &[(i64, bool)]) -> Vec<Planned> {
        let items = items.iter().map(|(bytes, has_more)| Planned {
            media: Uuid::nil().into(),
            bytes: *bytes,
            has_more: *has_more,
        });
        items.collect()
    }

    #[test]
    fn items_are_read_together_as_long_as_they_are_small_and_have_one_line() {
        assert_eq!(step(&planned(&[(10, false), (10, false)])), 2);
        assert_eq!(step(&planned(&[(STEP, false), (1, false)])), 1);
        assert_eq!(step(&planned(&[(STEP * 9, false), (1, false)])), 1);
        assert_eq!(step(&planned(&[(1, false), (STEP * 9, true)])), 1);
        assert_eq!(step(&planned(&[(1, false), (1, true), (1, false)])), 2);
    }
}
