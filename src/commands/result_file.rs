//! Files of results, a JSON object on each line, that a command continues when it is run again.

use std::{
    fs::{File, OpenOptions},
    io::{BufRead as _, BufReader, BufWriter, Seek as _, SeekFrom},
    path::Path,
};

use anyhow::Context as _;
use serde::de::DeserializeOwned;

/// Opens a file to append to, and reads what is there. A last line that was cut off is removed.
///
/// # Errors
/// The file cannot be read or written, or has other lines.
pub(super) fn open<T: DeserializeOwned>(path: &Path) -> anyhow::Result<(BufWriter<File>, Vec<T>)> {
    let name = path.display();
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(path);
    let mut file = file.with_context(|| format!("cannot write {name}"))?;
    let (mut rows, mut whole) = (Vec::new(), 0);
    let mut reader = BufReader::new(&mut file);
    let mut text = Vec::new();
    loop {
        text.clear();
        let read = reader.read_until(b'\n', &mut text)? as u64;
        if !text.ends_with(b"\n") {
            break;
        }
        let Ok(row) = serde_json::from_slice(&text) else {
            anyhow::bail!("{name} has other lines than this command writes: choose another file");
        };
        rows.push(row);
        whole += read;
    }
    file.set_len(whole)?;
    file.seek(SeekFrom::End(0))?;
    Ok((BufWriter::new(file), rows))
}
