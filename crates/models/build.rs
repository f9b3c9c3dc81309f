//! Lists the folders of `models/`, so that the models for another embedder are another folder and nothing else.

use std::{env, fmt::Write as _, fs, io, path::Path};

fn main() -> io::Result<()> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").canonicalize()?;
    println!("cargo::rerun-if-changed={}", models.display());
    let mut folders = Vec::new();
    for entry in fs::read_dir(&models)? {
        let folder = entry?.path();
        if folder.join("manifest.toml").exists() {
            folders.push(folder);
        }
    }
    folders.sort();
    let mut list = String::new();
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let (manifest, weights) =
            (folder.join("manifest.toml"), folder.join("weights.safetensors"));
        writeln!(
            list,
            "Folder {{ name: {name:?}, manifest: include_str!({manifest:?}), weights: include_bytes!({weights:?}) }},"
        )
        .map_err(|_| io::Error::other("writing to a string failed"))?;
    }
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("Cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("folders.rs"), format!("&[{list}]"))
}
