//! Chunks hold whole lines.

use super::*;

#[test]
fn chunks_hold_whole_lines_and_lose_none() {
    let lines = |count: usize| format!("{}\n", "f".repeat(64)).repeat(count).into_bytes();
    let long = [vec![b'x'; CHUNK * 2], b"\n".to_vec(), lines(2)].concat();
    let unended = [lines(10_000), b"ff".to_vec()].concat();
    for (file, expected) in [
        (Vec::new(), 0),
        (b"\n".to_vec(), 1),
        (lines(1), 1),
        (lines(10_000), 10_000),
        (unended, 10_001),
        (long, 3),
    ] {
        let chunks = chunks(&file);
        let count: usize = chunks.iter().map(|chunk| chunk.lines).sum();
        assert_eq!(count, expected);
        let joined: Vec<u8> = chunks
            .iter()
            .flat_map(|chunk| chunk.bytes)
            .copied()
            .collect();
        assert_eq!(joined, file);
        let (last, others) = chunks.split_last().unwrap();
        assert!(others.iter().all(|chunk| chunk.bytes.ends_with(b"\n")));
        assert!(last.bytes.len() <= CHUNK);
    }
}
