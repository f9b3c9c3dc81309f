//! Why the trained models cannot be read.

/// Why a folder's models cannot be used: it was not written by the trainers of this version.
#[derive(Debug, thiserror::Error)]
#[error("models/{folder}: {cause}")]
pub struct ModelsError {
    pub(crate) folder: &'static str,
    pub(crate) cause: Unreadable,
}

/// Error in the files of a folder.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("this program was built without it")]
    Absent,
    #[error("manifest.toml: {0}")]
    Manifest(#[from] toml::de::Error),
    #[error("manifest.toml: {key} is {found}, and this program reads {read}")]
    Version { key: &'static str, found: u32, read: u32 },
    #[error("weights.safetensors: {0}")]
    Weights(#[from] safetensors::SafeTensorError),
    #[error("weights.safetensors: {name}: {why}")]
    Tensor { name: String, why: &'static str },
}
