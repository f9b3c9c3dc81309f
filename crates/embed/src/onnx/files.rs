//! Finds a model's files in a folder.

use std::path::{Path, PathBuf};

use crate::{EmbedError, Precision};

/// The files of a model.
#[derive(Debug)]
pub(super) struct Files {
    pub model: PathBuf,
    pub tokenizer: PathBuf,
}

/// Finds the tokenizer and the file of `precision` in `folder` or its `onnx/`.
pub(super) fn find(folder: &Path, precision: Precision) -> Result<Files, EmbedError> {
    if !folder.is_dir() {
        return Err(EmbedError::load(folder, "no such folder"));
    }
    let names: &[&str] = match precision {
        Precision::Fp32 => &["model.onnx", "onnx/model.onnx"],
        Precision::Int8 => {
            &["model_int8.onnx", "onnx/model_int8.onnx", "onnx/model_quantized.onnx"]
        }
    };
    let tokenizer = folder.join("tokenizer.json");
    if !tokenizer.is_file() {
        return Err(EmbedError::load(folder, "tokenizer.json is missing"));
    }
    let mut candidates = names.iter().map(|name| folder.join(name));
    match candidates.find(|path| path.is_file()) {
        Some(model) => Ok(Files { model, tokenizer }),
        None => Err(EmbedError::load(folder, format!("none of {} is there", names.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_file_of_the_precision_is_found_in_either_layout() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("onnx")).unwrap();
        for name in ["tokenizer.json", "onnx/model.onnx", "onnx/model_quantized.onnx"] {
            fs::write(at(name), "").unwrap();
        }
        let model = |precision| find(folder.path(), precision).unwrap().model;
        assert_eq!(model(Precision::Fp32), at("onnx/model.onnx"));
        assert_eq!(model(Precision::Int8), at("onnx/model_quantized.onnx"));
        fs::write(at("model.onnx"), "").unwrap();
        assert_eq!(model(Precision::Fp32), at("model.onnx"));
    }

    #[test]
    fn names_the_missing_file() {
        let folder = tempfile::tempdir().unwrap();
        let cause = |path: &Path| find(path, Precision::Int8).unwrap_err().to_string();
        assert!(cause(&folder.path().join("no")).ends_with("/no: no such folder"));
        assert!(cause(folder.path()).ends_with("tokenizer.json is missing"));
        fs::write(folder.path().join("tokenizer.json"), "").unwrap();
        assert!(cause(folder.path()).contains("none of model_int8.onnx, "));
    }
}
