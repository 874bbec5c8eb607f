//! Server-sent events (HTML standard, section 9.2.6), as far as the service sends them.

/// The most octets of one block.
const BLOCK_OCTETS_MAX: usize = 1 << 20;

/// A block of a stream. Without a name it is no event of this interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) event: String,
    pub(super) data: String,
}

/// Finds the blocks in the octets of a stream.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    octets: Vec<u8>,
}

impl Decoder {
    /// Takes further octets; `false` if a block is longer than any of this interface.
    pub(super) fn feed(&mut self, octets: &[u8]) -> bool {
        self.octets.extend_from_slice(octets);
        self.octets.len() <= BLOCK_OCTETS_MAX
    }

    /// The next whole block and its id, if it has one.
    pub(super) fn next(&mut self) -> Option<(Block, Option<String>)> {
        let end = self.octets.windows(2).position(|ends| ends == b"\n\n")?;
        let text = String::from_utf8_lossy(&self.octets[..end]).into_owned();
        self.octets.drain(..end + 2);
        let (mut block, mut id) = (Block::default(), None);
        for line in text.lines() {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => value.clone_into(&mut block.event),
                "data" => {
                    if !block.data.is_empty() {
                        block.data.push('\n');
                    }
                    block.data.push_str(value);
                }
                "id" => id = Some(value.to_owned()),
                // A comment has no name. Others are for browsers.
                _ => {}
            }
        }
        Some((block, id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_however_the_octets_are_cut() {
        let stream = b":\n\nretry: 1000\nid: 1-a\n\nevent: x\nid: 1-b\ndata: {\"a\":\ndata:1}\n\nevent: cut";
        let block = |event: &str, data: &str| Block { event: event.to_owned(), data: data.to_owned() };
        let expected = [
            (Block::default(), None),
            (Block::default(), Some("1-a".to_owned())),
            (block("x", "{\"a\":\n1}"), Some("1-b".to_owned())),
        ];
        for size in 1..=stream.len() {
            let (mut decoder, mut found) = (Decoder::default(), Vec::new());
            for piece in stream.chunks(size) {
                assert!(decoder.feed(piece));
                found.extend(std::iter::from_fn(|| decoder.next()));
            }
            assert_eq!(found, expected, "{size}");
        }
    }

    #[test]
    fn a_block_has_a_bound() {
        assert!(!Decoder::default().feed(&vec![b'x'; BLOCK_OCTETS_MAX + 1]));
    }
}
