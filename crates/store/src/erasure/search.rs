//! Searching the whole database for texts: whether an erasure has left any.

use sqlx::{AssertSqlSafe, PgConnection, PgPool};

use crate::Error;

/// What was searched, and where something was found.
#[derive(Debug, Default)]
pub struct Searched {
    /// How many tables.
    pub tables: usize,
    /// How many columns that can hold a text.
    pub columns: usize,
    /// Columns in which one of the texts is.
    pub found: Vec<Found>,
}

/// A column in which one of the texts is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// `schema.table.column`, or the same as part of Postgres's statistics for its planner.
    pub column: String,
    /// In how many rows.
    pub rows: i64,
}

/// Removes dead rows, and renews what Postgres keeps of columns for its planner: it keeps frequent values.
pub async fn vacuum(pool: &PgPool) -> Result<(), Error> {
    sqlx::query("vacuum (analyze)").execute(pool).await?;
    Ok(())
}

/// Searches every column of every table for these texts, also as JSON writes them. Columns of numbers, times and UUIDs are left out.
pub async fn search(conn: &mut PgConnection, texts: &[String]) -> Result<Searched, Error> {
    let forms = forms(texts);
    let tables = sqlx::query!(
        r#"
        select
            format('%I.%I', n.nspname, c.relname) as "name!",
            array_agg(format('%I', a.attname) order by a.attnum) as "columns!",
            array_agg(t.typname = 'bytea' order by a.attnum) as "are_bytes!"
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        join pg_type t on t.oid = a.atttypid
        where
            c.relkind in ('r', 'm') and n.nspname not like 'pg\_%' and n.nspname <> 'information_schema'
            -- Booleans, numbers, times and spans of time, and their arrays.
            and t.typcategory not in ('B', 'N', 'D', 'T')
            and t.typname not in ('uuid', '_uuid', 'xid8', 'xid', '_int2', '_int4', '_int8', '_timestamptz')
        group by n.nspname, c.relname
        order by 1
        "#,
    )
    .fetch_all(&mut *conn)
    .await?;
    let mut searched = Searched {
        tables: tables.len(),
        ..Searched::default()
    };
    for table in tables {
        searched.columns += table.columns.len();
        let counts: Vec<String> = table
            .columns
            .iter()
            .zip(&table.are_bytes)
            .map(|(column, is_bytes)| count(column, *is_bytes))
            .collect();
        // Names come from Postgres, quoted by it.
        let statement = format!("select array[{}] from {}", counts.join(", "), table.name);
        let rows: Vec<i64> = sqlx::query_scalar(AssertSqlSafe(statement))
            .bind(&forms)
            .fetch_one(&mut *conn)
            .await?;
        let found = table.columns.iter().zip(rows).filter(|(_, rows)| *rows > 0);
        searched.found.extend(found.map(|(column, rows)| Found {
            column: format!("{}.{column}", table.name),
            rows,
        }));
    }
    searched.found.extend(in_statistics(conn, &forms).await?);
    Ok(searched)
}

/// How many rows have one of the texts in this column.
fn count(column: &str, is_bytes: bool) -> String {
    let has = if is_bytes {
        format!("position(convert_to(form, 'UTF8') in {column}) > 0")
    } else {
        format!("strpos({column}::text, form) > 0")
    };
    format!("count(*) filter (where exists (select from unnest($1::text []) form where {has}))")
}

/// What Postgres keeps of columns for its planner until it analyses their table again.
async fn in_statistics(conn: &mut PgConnection, forms: &[String]) -> Result<Vec<Found>, Error> {
    let found = sqlx::query_scalar!(
        r#"
        select format('%I.%I.%I', s.schemaname, s.tablename, s.attname) as "column!"
        from pg_stats s
        where
            s.schemaname not like 'pg\_%' and exists (
                select from unnest($1::text []) form
                where
                    strpos(s.most_common_vals::text, form) > 0 or strpos(s.histogram_bounds::text, form) > 0
                    or strpos(s.most_common_elems::text, form) > 0
            )
        order by 1
        "#,
        forms,
    )
    .fetch_all(conn)
    .await?;
    Ok(found
        .into_iter()
        .map(|column| Found {
            column: format!("{column} (the planner's statistics)"),
            rows: 1,
        })
        .collect())
}

/// The texts as they may be written: plainly, and within JSON, also where it escapes all that is not ASCII.
fn forms(texts: &[String]) -> Vec<String> {
    let mut forms = Vec::with_capacity(texts.len());
    for text in texts {
        forms.push(text.clone());
        let json = serde_json::to_string(text).unwrap_or_default();
        let json = json
            .trim_start_matches('"')
            .strip_suffix('"')
            .unwrap_or_default();
        if json != text {
            forms.push(json.to_owned());
        }
        if !json.is_ascii() {
            forms.push(escaped(json, false));
            forms.push(escaped(json, true));
        }
    }
    forms
}

/// With `\u` for every character that is not ASCII.
fn escaped(json: &str, in_capitals: bool) -> String {
    let escape = |unit: &u16| {
        if in_capitals {
            format!("\\u{unit:04X}")
        } else {
            format!("\\u{unit:04x}")
        }
    };
    json.chars()
        .map(|character| match character {
            ascii if ascii.is_ascii() => ascii.to_string(),
            other => other.encode_utf16(&mut [0; 2]).iter().map(escape).collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    #[test]
    fn a_text_is_looked_for_as_json_writes_it_too() {
        let of = |text: &str| forms(&[text.to_owned()]);
        assert_eq!(of("anna"), ["anna"]);
        assert_eq!(of("a\"b"), ["a\"b", "a\\\"b"]);
        assert_eq!(of("Ünal"), ["Ünal", "\\u00dcnal", "\\u00DCnal"]);
    }

    #[sqlx::test(migrations = false)]
    async fn a_text_is_found_wherever_it_is(pool: PgPool) {
        schema::migrate(&pool).await.unwrap();
        let mut conn = pool.acquire().await.unwrap();
        let texts = ["Ünal \"U\" 4711".to_owned()];
        let clean = search(&mut conn, &texts).await.unwrap();
        assert_eq!(clean.found, []);
        assert!(clean.tables > 40 && clean.columns > 150, "{clean:?}");
        for statement in [
            "create schema own",
            "create table own.notes (a integer, b text, c json, d jsonb, e bytea, f text [], g varchar, h json)",
            r#"insert into own.notes values (
                1, 'by Ünal "U" 4711!', '{"by":"Ünal \"U\" 4711"}', '{"by":"Ünal \"U\" 4711"}',
                convert_to(chr(0) || 'x', 'UTF8'), '{"other"}', 'x', '{"by":"\u00dcnal \"U\" 4711"}'
            )"#
            .replace("chr(0) || 'x'", "'say: Ünal \"U\" 4711'")
            .leak(),
        ] {
            sqlx::query(statement).execute(&mut *conn).await.unwrap();
        }
        let found = search(&mut conn, &texts).await.unwrap();
        let columns: Vec<&str> = found.found.iter().map(|f| f.column.as_str()).collect();
        assert_eq!(
            columns,
            [
                "own.notes.b",
                "own.notes.c",
                "own.notes.d",
                "own.notes.e",
                "own.notes.h"
            ]
        );
        sqlx::query("update own.notes set c = null, d = null, e = null, h = null")
            .execute(&mut *conn)
            .await
            .unwrap();
        vacuum(&pool).await.unwrap();
        let found = search(&mut conn, &texts).await.unwrap();
        assert_eq!(found.found.len(), 1, "{:?}", found.found);
    }
}
