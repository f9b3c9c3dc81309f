//! The committed folders, and what is refused.

mod languages;

use sha2::{Digest, Sha256};

use crate::*;
use memgate_embed::{
    Embedder, Member, Pooling, Precision, Run, deterministic::DeterministicEmbedder,
};

/// The smaller embedder's space.
pub(super) fn minilm_space() -> Space {
    Space {
        model: "all-MiniLM-L6-v2".into(),
        dimension: 384,
        run: Run::Here { pooling: Pooling::Mean, precision: Precision::Int8 },
        query_prefix: String::new(),
        passage_prefix: String::new(),
    }
}

/// The default embedder's space.
fn e5_space() -> Space {
    Space {
        model: "multilingual-e5-small-memgate-1".into(),
        query_prefix: "query: ".into(),
        passage_prefix: "passage: ".into(),
        ..minilm_space()
    }
}

/// The models of the default embedder.
pub(super) fn e5() -> Arc<Models> {
    Models::for_embedder(&e5_space()).unwrap()
}

/// The models of the smaller embedder.
pub(super) fn minilm() -> Arc<Models> {
    Models::for_embedder(&minilm_space()).unwrap()
}

fn default() -> &'static Folder {
    FOLDERS.iter().find(|folder| folder.name == DEFAULT).unwrap()
}

#[test]
fn the_weights_of_every_folder_are_those_of_its_manifest() {
    for folder in FOLDERS {
        let manifest = Manifest::read(folder.manifest).unwrap();
        let digest: String =
            Sha256::digest(folder.weights).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(manifest.weights_sha256, digest, "{}: run cargo xtask train", folder.name);
    }
}

#[test]
fn the_exported_models_are_those_that_the_folders_were_trained_with() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for folder in FOLDERS {
        let manifest: toml::Table = folder.manifest.parse().unwrap();
        let of = |key: &str| manifest["embedder"][key].as_str().unwrap().to_owned();
        let file = root.join(".assets/models").join(of("model")).join(of("file"));
        let bytes = std::fs::read(file).expect("`cargo xtask assets` fetches the models");
        let digest: String = Sha256::digest(bytes).iter().map(|it| format!("{it:02x}")).collect();
        // Stored vectors of another training must not be compared: it needs another name.
        assert_eq!(digest, of("sha256"), "{}: a new training needs a new name", folder.name);
    }
}

#[test]
fn a_file_that_is_cut_or_longer_is_refused() {
    let read = |file: &'static [u8]| Models::read(default().manifest, file, &e5_space());
    assert!(read(default().weights).is_ok());
    for length in [0, 7, 8, 20, 1000, default().weights.len() - 1] {
        assert!(read(&default().weights[..length]).is_err(), "{length}");
    }
    assert!(read(Vec::leak([default().weights, b"x"].concat())).is_err());
}

#[test]
fn a_tensor_that_is_missing_and_other_features_are_named() {
    let renamed = |from: &str, to: &str| {
        let mut file = default().weights.to_vec();
        let at = file.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        file[at..at + from.len()].copy_from_slice(to.as_bytes());
        Models::read(default().manifest, Vec::leak(file), &e5_space()).unwrap_err().to_string()
    };
    let told = renamed("relevance.vectors.cosine", "relevance.vectors.cosinx");
    assert!(told.contains("relevance.vectors.cosine"), "{told}");
    let told = renamed("near_untrusted", "near_untrustex");
    assert!(told.contains("update.features: not the features of this version"), "{told}");
    let other = default().manifest.replace("\nfeatures = 1\n", "\nfeatures = 2\n");
    let told = Models::read(&other, default().weights, &e5_space()).unwrap_err().to_string();
    assert_eq!(told, "manifest.toml: features is 2, and this program reads 1");
}

#[test]
fn an_embedder_without_a_folder_gets_what_needs_no_vectors_and_the_rest_is_named() {
    let models = Models::for_embedder(DeterministicEmbedder::new(384).space()).unwrap();
    assert!(models.query_adapter.is_none());
    assert_eq!(models.missing().len(), 6);
    assert!(e5().missing().is_empty());
}

#[test]
fn each_embedder_with_a_folder_has_its_own_models() {
    let multilingual = e5();
    assert!(multilingual.missing().is_empty());
    assert_ne!(multilingual.weights_sha256(), minilm().weights_sha256());
    // Layers 4, 6 and 8 of twelve, where MiniLM gives four of six.
    let opinion = multilingual.need.opinion("when is my sister's birthday?");
    assert!(opinion.by_layers(&[0.0; 3 * 384], &[0.0; 384]).is_some());
}

#[test]
fn vectors_of_another_pooling_dimension_or_prefix_are_not_those_of_the_folder() {
    let models = minilm();
    let fp32 = Run::Here { pooling: Pooling::Mean, precision: Precision::Fp32 };
    assert!(models.are_trained_with(&Space { run: fp32, ..minilm_space() }));
    let cls = Run::Here { pooling: Pooling::Cls, precision: Precision::Int8 };
    for other in [
        Space { run: cls, ..minilm_space() },
        Space { run: Run::Remote, ..minilm_space() },
        Space { dimension: 385, ..minilm_space() },
        Space { query_prefix: "query: ".into(), ..minilm_space() },
        Space { passage_prefix: "passage: ".into(), ..minilm_space() },
        Space { model: "other".into(), ..minilm_space() },
    ] {
        assert!(!models.are_trained_with(&other), "{other:?}");
        assert!(!Models::for_embedder(&other).unwrap().missing().is_empty(), "{other:?}");
    }
}

#[test]
fn of_several_models_one_with_a_folder_is_enough() {
    let other = Space { model: "openai/m".into(), run: Run::Remote, ..minilm_space() };
    let members = [other, minilm_space()].map(|space| Member { space, weight: 1.0 });
    let models = Models::for_embedder(&Space::ensemble(members.into())).unwrap();
    assert!(models.missing().is_empty() && models.query_adapter.is_some());
}
