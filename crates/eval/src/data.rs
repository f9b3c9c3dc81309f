//! Labelled rows from JSON Lines files, and the digests that identify data and model.

use std::{collections::HashMap, fs, io, path::Path};

use anyhow::{Context, Result, bail, ensure};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use crate::parse;

/// A labelled row.
pub(super) trait Labelled {
    /// Its id, unique in its file, if it has one.
    fn id(&self) -> Option<&str> {
        None
    }

    /// An error in its labels, if there is one.
    fn wrong(&self) -> Option<String> {
        None
    }
}

/// Digests of what was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Digests {
    /// SHA-256 of the data's files, concatenated.
    pub data_sha256: String,
    /// SHA-256 of the embedding model.
    pub model_sha256: String,
}

/// The rows of a file and the file's SHA-256.
///
/// # Errors
/// When the file cannot be read, a line is not a valid row, or an id is repeated; the error names
/// the line.
pub(super) fn rows<T: DeserializeOwned + Labelled>(file: &Path) -> Result<(Vec<T>, String)> {
    let text = parse::text(file)?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let row = |(number, line)| Ok((number, parse::object_of(line, file, number - 1)?));
    let rows = lines.map(row).collect::<Result<Vec<(usize, T)>>>()?;
    ensure!(!rows.is_empty(), "{}: no rows", file.display());
    let mut lines = HashMap::with_capacity(rows.len());
    for (line, row) in &rows {
        let place = format!("{}:{line}", file.display());
        if let Some(id) = row.id()
            && let Some(other) = lines.insert(id, line)
        {
            bail!("{place}: id: {id:?} is already used in line {other}");
        }
        if let Some(wrong) = row.wrong() {
            bail!("{place}: {wrong}");
        }
    }
    Ok((rows.into_iter().map(|(_, row)| row).collect(), file_sha256(file)?))
}

/// The error for a label that is not one of these.
pub(super) fn none_of(field: &str, label: &str, known: &[&str]) -> Option<String> {
    (!known.contains(&label))
        .then(|| format!("{field}: {label:?} is not one of {}", known.join(", ")))
}

/// The error for an invalid language.
pub(super) fn no_language(lang: &str) -> Option<String> {
    let good = lang.len() == 2 && lang.bytes().all(|byte| byte.is_ascii_lowercase());
    (!good).then(|| format!("lang: {lang:?} is not a language code like en (ISO 639-1)"))
}

/// The SHA-256 of a file of any size.
///
/// # Errors
/// When it cannot be read.
pub fn file_sha256(file: &Path) -> Result<String> {
    let context = || format!("{}", file.display());
    let mut hash = Sha256::new();
    io::copy(&mut fs::File::open(file).with_context(context)?, &mut hash).with_context(context)?;
    Ok(hex(hash.finalize().as_slice()))
}

/// Bytes as lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Row {
        id: String,
        lang: String,
        kind: String,
    }

    impl Labelled for Row {
        fn id(&self) -> Option<&str> {
            Some(&self.id)
        }

        fn wrong(&self) -> Option<String> {
            no_language(&self.lang).or_else(|| none_of("kind", &self.kind, &["fact", "update"]))
        }
    }

    /// The result of reading a file with these lines.
    fn read(text: &str) -> Result<(Vec<Row>, String)> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("g.jsonl");
        fs::write(&file, text).unwrap();
        rows(&file)
    }

    /// The error message, without the folder.
    fn wrong(text: &str) -> String {
        let told = read(text).unwrap_err().to_string();
        told[told.find("g.jsonl").unwrap()..].to_owned()
    }

    const A: &str = r#"{"id": "a", "lang": "en", "kind": "fact"}"#;

    #[test]
    fn reads_rows_with_a_digest_and_reports_invalid_lines() {
        let (rows, sha256) = read(&format!("{A}\n\n")).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(sha256, hex(Sha256::digest(format!("{A}\n\n")).as_slice()));
        assert_eq!(wrong(&format!("{A}\n\nx\n")), "g.jsonl:3:1: expected value");
        assert_eq!(wrong(&format!("{A}\n[1]\n")).find("g.jsonl:2:"), Some(0));
        assert!(wrong("").contains("no rows"));
    }

    #[test]
    fn ignores_a_byte_order_mark() {
        assert_eq!(read(&format!("\u{feff}{A}\n")).unwrap().0.len(), 1);
    }

    #[test]
    fn reports_invalid_labels_and_repeated_ids() {
        assert_eq!(
            wrong(&format!("{A}\n\n{A}")),
            r#"g.jsonl:3: id: "a" is already used in line 1"#
        );
        let kind = wrong(&A.replace("fact", "fakt"));
        assert_eq!(kind, r#"g.jsonl:1: kind: "fakt" is not one of fact, update"#);
        let lang = wrong(&A.replace("en", "English"));
        assert_eq!(
            lang,
            r#"g.jsonl:1: lang: "English" is not a language code like en (ISO 639-1)"#
        );
    }
}
