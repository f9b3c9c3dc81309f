//! Labelled rows from JSON Lines files, and the digests that say which they were.

use std::{fs, io, path::Path};

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::{
    config::{Config, EmbeddingModel},
    embed::onnx,
};

/// The rows of a file and the file's SHA-256.
///
/// # Errors
/// When the file cannot be read, or a line is no row; the line is named.
pub(super) fn rows<T: DeserializeOwned>(file: &Path) -> Result<(Vec<T>, String)> {
    let text = fs::read_to_string(file).with_context(|| format!("{}", file.display()))?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let row = |(number, line)| {
        serde_json::from_str(line).with_context(|| format!("{}:{number}", file.display()))
    };
    let rows = lines.map(row).collect::<Result<Vec<T>>>()?;
    anyhow::ensure!(!rows.is_empty(), "{}: there are no rows in it", file.display());
    Ok((rows, hex(Sha256::digest(text.as_bytes()).as_slice())))
}

/// The SHA-256 of a file of any size.
///
/// # Errors
/// When it cannot be read.
fn digest(file: &Path) -> Result<String> {
    let context = || format!("{}", file.display());
    let mut hash = Sha256::new();
    io::copy(&mut fs::File::open(file).with_context(context)?, &mut hash).with_context(context)?;
    Ok(hex(hash.finalize().as_slice()))
}

/// The SHA-256 of the embedding model's file; of a model on a server only that it is there. Of several
/// models each, joined by ` + `.
///
/// # Errors
/// When there is no such file, or it cannot be read.
pub(super) fn model_digest(config: &Config) -> Result<String> {
    let of = |EmbeddingModel { config: model, .. }: EmbeddingModel| {
        if model.remote().is_some() {
            return Ok("unknown: on a server".to_owned());
        }
        digest(&onnx::model_file(&config.folder_of(&model), model.precision)?)
    };
    let digests = config.memory.embedding.models().into_iter().map(of);
    Ok(digests.collect::<Result<Vec<_>>>()?.join(" + "))
}

/// Bytes as lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn rows_come_with_their_files_digest_and_bad_lines_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows.jsonl");
        fs::write(&file, "1\n\n2\n").unwrap();
        let (numbers, sha256) = rows::<u8>(&file).unwrap();
        assert_eq!(numbers, [1, 2]);
        assert_eq!(sha256, digest(&file).unwrap());
        assert!(sha256.starts_with("33477ea2"), "{sha256}");
        fs::write(&file, "1\nx\n").unwrap();
        assert!(rows::<u8>(&file).unwrap_err().to_string().ends_with("rows.jsonl:2"));
        fs::write(&file, "").unwrap();
        assert!(rows::<u8>(&file).unwrap_err().to_string().contains("no rows"));
    }
}
