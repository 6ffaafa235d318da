//! What the lexicon alone says about texts, for `crates/builtin/training/evaluate.py`: reads one text from
//! each line of standard input, and writes a line with the scores of the categories that the models
//! have, in their order, with tabs between them. A category without a score is 0.

use std::io::{self, BufRead as _, BufWriter, Write as _};

use builtin::lexicon::Analyser;
use domain::score::Category;

/// In the order of `CATEGORIES` in `crates/builtin/training/corpus.py`.
const COLUMNS: [Category; 5] = [
    Category::Adult,
    Category::Hate,
    Category::Violence,
    Category::SelfHarm,
    Category::Harassment,
];

fn main() -> io::Result<()> {
    let lexicon = Analyser::new();
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let scores = lexicon.analyse(&line?);
        let columns = COLUMNS.map(|category| scores.get(category).unwrap_or_default().to_string());
        writeln!(out, "{}", columns.join("\t"))?;
    }
    out.flush()
}
