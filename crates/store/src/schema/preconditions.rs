//! Preconditions of the first migration, in a database without anything of Gatehouse: nobody else has what the migrations create, and the role may
//! create it. Some migrations run in several transactions, so a failure in their middle would leave tables behind.

use std::collections::BTreeSet;

use sqlx::PgConnection;

use super::{MIGRATOR, unready::Unready};
use crate::Error;

/// The schemas that migrations create. That of the queue may be there if it is empty.
const SCHEMAS: [&str; 2] = ["ops", "queue"];

/// How many things of others are named.
const NAMED: usize = 5;

/// Fails if there is no room.
pub(super) async fn require(conn: &mut PgConnection) -> Result<(), Unready> {
    let mut foreign = foreign(conn).await?;
    if !foreign.is_empty() {
        let more = foreign.len().saturating_sub(NAMED);
        foreign.truncate(NAMED);
        let mut named = foreign.join(", ");
        if more > 0 {
            named = format!("{named} and {more} more");
        }
        return Err(Unready::Foreign(named));
    }
    may_create(conn).await
}

/// What others have that migrations would create.
async fn foreign(conn: &mut PgConnection) -> Result<Vec<String>, Error> {
    let found = sqlx::query_scalar(
        "select what
         from (
             select 0 as place, 'the table _sqlx_migrations of its own' as what
             where to_regclass('_sqlx_migrations') is not null
             union all
             select 1, case when c.relkind in ('i', 'I') then 'the index ' when c.relkind = 'S' then 'the sequence '
                            when c.relkind in ('v', 'm') then 'the view ' else 'the table ' end || c.relname
             from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = current_schema() and c.relname = any($1)
             union all
             select distinct 2, 'the function ' || p.proname
             from pg_proc p join pg_namespace n on n.oid = p.pronamespace
             where n.nspname = current_schema() and p.proname = any($2)
             union all
             select 3, 'the schema ' || n.nspname
             from pg_namespace n
             where n.nspname = any($3)
               and (n.nspname <> 'queue' or exists (select from pg_class c where c.relnamespace = n.oid))
         ) found
         order by place, what",
    )
    .bind(names(&["table", "view", "sequence", "index"]))
    .bind(names(&["function"]))
    .bind(SCHEMAS.map(str::to_owned).to_vec())
    .fetch_all(conn)
    .await?;
    Ok(found)
}

/// The names of these kinds of things that migrations create in the schema of the service.
pub(super) fn names(kinds: &[&str]) -> Vec<String> {
    let lines = MIGRATOR
        .iter()
        .flat_map(|migration| migration.sql.as_str().lines());
    let names: BTreeSet<&str> = lines.filter_map(|line| created(line, kinds)).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// What a line of SQL creates, if it is of one of these kinds: `create unique index if not exists NAME on ...`.
fn created<'l>(line: &'l str, kinds: &[&str]) -> Option<&'l str> {
    const BEFORE: [&str; 5] = ["or", "replace", "unique", "unlogged", "recursive"];
    const AFTER: [&str; 4] = ["concurrently", "if", "not", "exists"];
    let mut words = line.split_whitespace();
    if words.next() != Some("create") {
        return None;
    }
    let kind = words.find(|word| !BEFORE.contains(word))?;
    let name = words.find(|word| !AFTER.contains(word))?;
    let name = name.split(['(', ';']).next()?;
    // Names with a dot are in another schema, and unnamed indexes are on their table: `create index on media`.
    let is_own = kinds.contains(&kind) && !name.contains('.') && name != "on" && !name.is_empty();
    is_own.then_some(name)
}

/// Fails if the role may not create schemas, or tables in the schema that is used.
async fn may_create(conn: &mut PgConnection) -> Result<(), Unready> {
    let (role, database, schema, schemas, tables): (String, String, Option<String>, bool, bool) =
        sqlx::query_as(
            "select quote_ident(current_user), quote_ident(current_database()), quote_ident(current_schema()),
                    has_database_privilege(current_database(), 'create'),
                    coalesce(has_schema_privilege(current_schema(), 'create'), false)",
        )
        .fetch_one(conn)
        .await?;
    let mut remedy = Vec::new();
    if !schemas {
        remedy.push(format!("grant create on database {database} to {role};"));
    }
    match schema {
        Some(schema) if !tables => {
            remedy.push(format!("grant create on schema {schema} to {role};"));
        }
        Some(_) => {}
        // Nothing in the search path exists that the role may use.
        None => remedy.push(format!(
            "create schema if not exists public; grant usage, create on schema public to {role};"
        )),
    }
    if remedy.is_empty() {
        return Ok(());
    }
    let remedy = remedy.join(" ");
    Err(Unready::Forbidden { role, remedy })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_creates_is_found() {
        let kinds = ["table", "index", "function"];
        for (line, name) in [
            ("create table media (", Some("media")),
            (
                "    create unique index if not exists a_idx on media (id);",
                Some("a_idx"),
            ),
            (
                "create or replace function f(a text) returns text",
                Some("f"),
            ),
            ("create table if not exists actors (", Some("actors")),
            ("create index concurrently b on c (d)", Some("b")),
            ("create index on media (id)", None),
            ("create view v as", None),
            ("create table queue.jobs (", None),
            ("-- create table media (", None),
            ("insert into media", None),
        ] {
            assert_eq!(created(line, &kinds), name, "{line}");
        }
    }
}
