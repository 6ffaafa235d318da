//! A file in chunks of whole lines.

/// Bytes of a chunk, unless a single line has more: some thousand lines.
pub(super) const CHUNK: usize = 256 << 10;

/// Some whole lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) lines: usize,
}

/// A file in chunks, at least one.
pub(super) fn chunks(file: &[u8]) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let mut rest = file;
    loop {
        let (bytes, more) = rest.split_at(end_of_chunk(rest));
        let ended = bytes.split_inclusive(|byte| *byte == b'\n').count();
        chunks.push(Chunk {
            bytes,
            lines: ended,
        });
        rest = more;
        if rest.is_empty() {
            return chunks;
        }
    }
}

/// Where the last line ends that fits into a chunk, or the first if none does.
fn end_of_chunk(rest: &[u8]) -> usize {
    if rest.len() <= CHUNK {
        return rest.len();
    }
    let is_end = |byte: &u8| *byte == b'\n';
    let last = rest[..CHUNK].iter().rposition(is_end);
    let end = last.or_else(|| rest.iter().position(is_end));
    end.map_or(rest.len(), |end| end + 1)
}

#[cfg(test)]
mod tests;
