//! Tables for people: aligned columns without borders, the last one cut to the terminal's width.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal as _},
};

use crate::terminal::printable;

/// The least width of the last column, in characters.
const LEAST: usize = 20;
/// Its width if the width of the terminal is unknown.
const WITHOUT_TERMINAL: usize = 160;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

pub(super) use Align::{Left, Right};

/// Rows under a heading.
pub(super) struct Table<const N: usize> {
    columns: [(&'static str, Align); N],
    rows: Vec<([String; N], Option<String>)>,
}

impl<const N: usize> Table<N> {
    pub(super) fn new(columns: [(&'static str, Align); N]) -> Self {
        Self {
            columns,
            rows: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, cells: [String; N]) {
        self.rows.push((cells, None));
    }

    /// Adds a line under the last row.
    pub(super) fn note(&mut self, note: String) {
        if let Some((_, last)) = self.rows.last_mut() {
            *last = Some(note);
        }
    }

    /// The table as lines, for the terminal that the output goes to.
    pub(super) fn render(&self) -> String {
        self.render_within(terminal_width())
    }

    fn render_within(&self, width: Option<usize>) -> String {
        let heading = self.columns.map(|(name, _)| name.to_owned());
        let mut widths = heading.each_ref().map(|cell| cell.chars().count());
        for (cells, _) in &self.rows {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let before_last: usize = widths[..N - 1].iter().map(|width| width + 2).sum();
        let room = width.map_or(WITHOUT_TERMINAL, |width| {
            width.saturating_sub(before_last).max(LEAST)
        });
        widths[N - 1] = widths[N - 1].min(room);

        let mut lines = String::new();
        self.line(&mut lines, &heading, &widths);
        for (cells, note) in &self.rows {
            self.line(&mut lines, cells, &widths);
            if let Some(note) = note {
                let _ = writeln!(lines, "    {note}");
            }
        }
        lines
    }

    fn line(&self, lines: &mut String, cells: &[String; N], widths: &[usize; N]) {
        let mut line = String::new();
        for ((cell, width), (_, align)) in cells.iter().zip(widths).zip(self.columns) {
            let cell = cut(cell, *width);
            let _ = match align {
                Left => write!(line, "{cell:<width$}  "),
                Right => write!(line, "{cell:>width$}  "),
            };
        }
        lines.push_str(line.trim_end());
        lines.push('\n');
    }
}

fn terminal_width() -> Option<usize> {
    let out = io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(out).ok()?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}

/// A text on one line: errors and payloads can come from anyone.
pub(super) fn one_line(text: &str) -> String {
    printable(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    kept + "…"
}

/// With commas: `100,000`.
pub(super) fn thousands(number: impl Into<i128>) -> String {
    let number: i128 = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 {
        text.insert(0, '-');
    }
    text
}

/// `1 job`, `1,024 jobs`.
pub(super) fn counted(number: impl Into<i128>, one: &str, many: &str) -> String {
    let number: i128 = number.into();
    format!(
        "{} {}",
        thousands(number),
        if number == 1 { one } else { many }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_the_last_is_cut() {
        let mut table = Table::new([("QUEUE", Left), ("DUE", Right), ("ERROR", Left)]);
        table.push(["webhooks".into(), thousands(12_345), "e".repeat(40)]);
        table.push(["rules".into(), thousands(7), String::new()]);
        assert_eq!(
            table.render_within(Some(42)),
            "QUEUE        DUE  ERROR\n\
             webhooks  12,345  eeeeeeeeeeeeeeeeeeeeeee…\n\
             rules          7\n"
        );
    }

    #[test]
    fn no_control_character_reaches_the_terminal() {
        assert_eq!(one_line("a\r\n\u{1b}[2Jb\u{7}\t c"), r"a \u{1b}[2Jb\u{7} c");
    }

    #[test]
    fn numbers_are_grouped() {
        let shown = [0, 999, 1_000, 100_000, -1_234_567].map(|number: i64| thousands(number));
        assert_eq!(shown, ["0", "999", "1,000", "100,000", "-1,234,567"]);
    }
}
