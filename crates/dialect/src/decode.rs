//! Undoes content encodings with a bound on the output. It does not interpret the body.

use std::io::Read;

/// Most encodings of one body that are undone; more than this is an attack, not a client.
const MAX_ENCODINGS: usize = 3;

/// Largest zstd window, as a power of two: 8 MiB, what RFC 9659 allows on the web.
const ZSTD_WINDOW_LOG: u32 = 23;

/// Buffer of the brotli reader, in bytes.
const BROTLI_BUFFER: usize = 4096;

/// Why a body could not be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// An encoding other than gzip, br, zstd, deflate and identity.
    #[error("a content encoding is not one of gzip, br, zstd, deflate")]
    Unsupported,
    /// More encodings than anybody needs.
    #[error("more than {MAX_ENCODINGS} content encodings")]
    TooMany,
    /// The decoded body would be larger than the limit.
    #[error("the decoded body is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The bytes are not what the encoding says, or end too early.
    #[error("the body does not decode as its content encoding says")]
    Corrupt,
}

/// Decodes a body by its `content-encoding` header, in which several encodings stand in the order
/// they were applied. No step's output may exceed `max` bytes.
///
/// # Errors
/// See [`DecodeError`].
pub fn decode_body(encoding: &str, bytes: &[u8], max: usize) -> Result<Vec<u8>, DecodeError> {
    let codings: Vec<Coding> = encoding
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"))
        .map(|name| Coding::of(name).ok_or(DecodeError::Unsupported))
        .collect::<Result<_, _>>()?;
    if codings.len() > MAX_ENCODINGS {
        return Err(DecodeError::TooMany);
    }
    let mut decoded: Option<Vec<u8>> = None;
    for coding in codings.iter().rev() {
        decoded = Some(coding.decode(decoded.as_deref().unwrap_or(bytes), max)?);
    }
    match decoded {
        Some(decoded) => Ok(decoded),
        None if bytes.len() > max => Err(DecodeError::TooLarge { limit: max }),
        None => Ok(bytes.to_vec()),
    }
}

#[derive(Clone, Copy)]
enum Coding {
    Gzip,
    Brotli,
    Zstd,
    Deflate,
}

impl Coding {
    fn of(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Some(Self::Gzip),
            "br" => Some(Self::Brotli),
            "zstd" => Some(Self::Zstd),
            "deflate" => Some(Self::Deflate),
            _ => None,
        }
    }

    fn decode(self, bytes: &[u8], max: usize) -> Result<Vec<u8>, DecodeError> {
        match self {
            Self::Gzip => bounded(flate2::read::MultiGzDecoder::new(bytes), max),
            Self::Brotli => bounded(brotli::Decompressor::new(bytes, BROTLI_BUFFER), max),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes)
                    .map_err(|_| DecodeError::Corrupt)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG).map_err(|_| DecodeError::Corrupt)?;
                bounded(decoder, max)
            }
            // The name means the zlib format; some clients send the raw one.
            Self::Deflate => match bounded(flate2::read::ZlibDecoder::new(bytes), max) {
                Err(DecodeError::Corrupt) => bounded(flate2::read::DeflateDecoder::new(bytes), max),
                decided => decided,
            },
        }
    }
}

fn bounded(decoder: impl Read, max: usize) -> Result<Vec<u8>, DecodeError> {
    let mut decoded = Vec::new();
    let over = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    decoder.take(over).read_to_end(&mut decoded).map_err(|_| DecodeError::Corrupt)?;
    if decoded.len() > max { Err(DecodeError::TooLarge { limit: max }) } else { Ok(decoded) }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn raw_deflate(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn brotli(bytes: &[u8]) -> Vec<u8> {
        let mut encoded = Vec::new();
        brotli::CompressorWriter::new(&mut encoded, 4096, 5, 20).write_all(bytes).unwrap();
        encoded
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 3).unwrap()
    }

    const TEXT: &[u8] = br#"{"messages":[{"role":"user","content":"caf\u00e9"}]}"#;

    fn encoded() -> [(&'static str, Vec<u8>); 8] {
        [
            ("gzip", gzip(TEXT)),
            ("X-GZip", gzip(TEXT)),
            ("br", brotli(TEXT)),
            ("zstd", zstd(TEXT)),
            ("deflate", zlib(TEXT)),
            ("deflate", raw_deflate(TEXT)),
            ("gzip, br", brotli(&gzip(TEXT))),
            ("zstd,identity,deflate , gzip", gzip(&zlib(&zstd(TEXT)))),
        ]
    }

    #[test]
    fn every_encoding_is_undone_in_the_reverse_order() {
        for (encoding, bytes) in encoded() {
            assert_eq!(decode_body(encoding, &bytes, 200).as_deref(), Ok(TEXT), "{encoding}");
        }
    }

    #[test]
    fn identity_and_none_are_the_body_itself() {
        for encoding in ["", "identity", " Identity ,"] {
            assert_eq!(decode_body(encoding, TEXT, TEXT.len()).as_deref(), Ok(TEXT));
            let limit = TEXT.len() - 1;
            assert_eq!(decode_body(encoding, TEXT, limit), Err(DecodeError::TooLarge { limit }));
        }
    }

    #[test]
    fn the_limit_itself_is_allowed_and_one_more_is_not() {
        for (encoding, bytes) in encoded().into_iter().filter(|(name, _)| !name.contains(',')) {
            let limit = TEXT.len();
            assert_eq!(decode_body(encoding, &bytes, limit).as_deref(), Ok(TEXT), "{encoding}");
            let limit = limit - 1;
            let fault = Err(DecodeError::TooLarge { limit });
            assert_eq!(decode_body(encoding, &bytes, limit), fault, "{encoding}");
        }
    }

    #[test]
    fn a_bomb_is_too_large() {
        let zeros = vec![0; 20_000_000];
        let bombs = [
            ("gzip", gzip(&zeros)),
            ("br", brotli(&zeros)),
            ("zstd", zstd(&zeros)),
            ("deflate", zlib(&zeros)),
            ("gzip,gzip", gzip(&gzip(&zeros))),
        ];
        for (encoding, bytes) in bombs {
            let limit = 1_000_000;
            assert_eq!(decode_body(encoding, &bytes, limit), Err(DecodeError::TooLarge { limit }));
        }
    }

    #[test]
    fn a_zstd_window_beyond_the_webs_is_refused() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(24).unwrap();
        encoder.long_distance_matching(true).unwrap();
        encoder.write_all(&vec![7; 1 << 20]).unwrap();
        let bytes = encoder.finish().unwrap();
        assert_eq!(decode_body("zstd", &bytes, 1 << 21), Err(DecodeError::Corrupt));
    }

    #[test]
    fn a_body_that_ends_too_early_or_is_something_else_is_corrupt() {
        for (encoding, bytes) in encoded() {
            for end in 0..bytes.len() {
                let cut = decode_body(encoding, &bytes[..end], 200);
                // A cut between two frames or before a checksum may still give the whole text.
                assert!(
                    cut == Err(DecodeError::Corrupt) || cut.as_deref() == Ok(TEXT),
                    "{encoding} {end}"
                );
            }
            assert_eq!(decode_body(encoding, TEXT, 200), Err(DecodeError::Corrupt), "{encoding}");
        }
    }

    #[test]
    fn gzip_members_are_put_together() {
        let two = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(decode_body("gzip", &two, 100).as_deref(), Ok(&b"one two"[..]));
    }

    #[test]
    fn unknown_and_too_many_encodings_are_refused() {
        assert_eq!(decode_body("compress", TEXT, 200), Err(DecodeError::Unsupported));
        assert_eq!(decode_body("gzip, aes128gcm", TEXT, 200), Err(DecodeError::Unsupported));
        assert_eq!(decode_body("gzip,gzip,gzip,gzip", TEXT, 200), Err(DecodeError::TooMany));
    }
}
