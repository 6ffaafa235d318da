//! The table's form: an entry is a heading, the SQL that prepares its database if it has one, and its commands with what they print.

use std::ops::Range;

/// The table, and where in it each entry says something.
pub(super) struct Table<'t> {
    lines: Vec<&'t str>,
    pub(super) entries: Vec<Entry>,
}

/// One wrong configuration.
#[derive(Default)]
pub(super) struct Entry {
    /// What is wrong.
    pub(super) title: String,
    /// Prepares a database. The first line says which. None: it has no database.
    pub(super) sql: Option<String>,
    /// For a shell.
    pub(super) commands: String,
    /// What the commands print, and the line with the exit code.
    pub(super) says: String,
    /// The lines of `says`.
    place: Range<usize>,
}

impl<'t> Table<'t> {
    pub(super) fn parse(text: &'t str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let mut entries: Vec<Entry> = Vec::new();
        let mut block = None;
        for (at, line) in lines.iter().enumerate() {
            if let Some((language, start)) = block {
                if *line == "```" {
                    let entry = entries.last_mut().expect("a block belongs to an entry");
                    entry.read(language, &lines, start..at);
                    block = None;
                }
            } else if let Some(language) = line.strip_prefix("```") {
                block = Some((language, at + 1));
            } else if let Some(title) = line.strip_prefix("### ") {
                let title = title.to_owned();
                entries.push(Entry {
                    title,
                    ..Entry::default()
                });
            }
        }
        for entry in &entries {
            assert!(
                !entry.commands.is_empty() && !entry.says.is_empty(),
                "{:?} has no command, or says nothing",
                entry.title
            );
        }
        Self { lines, entries }
    }

    /// The same table, whose entries say this.
    pub(super) fn saying(&self, said: &[String]) -> String {
        let mut written: Vec<&str> = Vec::new();
        let mut from = 0;
        for (entry, said) in self.entries.iter().zip(said) {
            written.extend(&self.lines[from..entry.place.start]);
            written.push(said);
            from = entry.place.end;
        }
        written.extend(&self.lines[from..]);
        written.join("\n") + "\n"
    }
}

impl Entry {
    fn read(&mut self, language: &str, lines: &[&str], place: Range<usize>) {
        let inside = &lines[place.clone()];
        match language {
            "sql" => self.sql = Some(inside.join("\n")),
            "console" => {
                let commands = inside.iter().map_while(|line| line.strip_prefix("$ "));
                let commands: Vec<&str> = commands.collect();
                self.commands = commands.join("\n");
                self.says = inside[commands.len()..].join("\n");
                self.place = place.start + commands.len()..place.end;
            }
            other => panic!("{other:?} is no block of an entry"),
        }
    }
}

#[test]
fn a_table_is_written_as_it_was_read_except_for_what_it_says() {
    let text = "# T\n\n### one\n\n```sql\n-- an empty database\nselect 1;\n```\n\n```console\n$ a\n$ b\nold\nexit code 1\n```\n\n\
                ### two\n\n```console\n$ c\nexit code 2\n```\n";
    let table = Table::parse(text);
    let [one, two] = &table.entries[..] else {
        panic!("{}", table.entries.len());
    };
    assert_eq!(
        (one.commands.as_str(), two.commands.as_str()),
        ("a\nb", "c")
    );
    assert_eq!(one.says, "old\nexit code 1");
    assert_eq!(one.sql.as_deref(), Some("-- an empty database\nselect 1;"));
    let same = [one.says.clone(), two.says.clone()];
    assert_eq!(table.saying(&same), text);
    let new = ["new\nexit code 1".to_owned(), "exit code 2".to_owned()];
    assert_eq!(table.saying(&new), text.replace("old", "new"));
}
