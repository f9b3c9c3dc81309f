//! What the trainers in tools/ learn from, as the program extracts it: hashed features, vectors and inner layers of
//! the embedding model, what rules say. `tools/rust_features.py` runs it; the result is a safetensors file.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{Parser, ValueEnum};
use memgate::startup::{Need, Offline};
use memgate_capture::Ruled;
use memgate_config::Config;
use memgate_core::clock::Clock;
use memgate_embed::{Embedder, Vector};
use memgate_models::{Features, NeedModel};
use safetensors::{Dtype, serialize_to_file, tensor::TensorView};
use serde::{Deserialize, de::DeserializeOwned};

/// Passages embedded in one call.
const AT_ONCE: usize = 64;

/// Exports features of labelled rows.
#[derive(Parser)]
struct Args {
    /// For which model.
    kind: Kind,
    /// The file to write.
    out: PathBuf,
    /// JSON Lines: objects with `text`; for `texts`, strings.
    files: Vec<PathBuf>,
    /// The configuration, for another embedder than the default one.
    #[arg(long, env = "MEMGATE_CONFIG")]
    config: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Features, question vectors and inner layers.
    Need,
    /// Features, passage vectors and what rules say; the same of what questions tell before they ask (`told.…`).
    Memorable,
    /// Passage vectors alone.
    Texts,
}

#[derive(Deserialize)]
struct Row {
    text: String,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let folder = tempfile::tempdir()?;
    let mut config = Config::load_with(args.config.as_deref(), &|_| {})?;
    folder.path().clone_into(&mut config.data_dir);
    let offline = Offline::open_answering(config, Need::Model, Clock::System).await?;
    let embedder = offline.operations().embedder.as_ref();
    let tensors = match args.kind {
        Kind::Need => need(embedder, &texts(&args.files)?).await?,
        Kind::Memorable => memorable(embedder, &texts(&args.files)?).await?,
        Kind::Texts => {
            let texts: Vec<String> = rows(&args.files)?;
            vec![numbers("vectors", &vectors(embedder, &texts).await?)]
        }
    };
    offline.close().await;
    let views = tensors.iter().map(|it| Ok((it.name.as_str(), it.view()?)));
    let buckets = ("buckets".to_owned(), Features::BUCKETS.to_string());
    serialize_to_file(views.collect::<Result<Vec<_>>>()?, Some([buckets].into()), &args.out)?;
    Ok(())
}

async fn need(embedder: &dyn Embedder, texts: &[String]) -> Result<Vec<Tensor>> {
    let (mut vectors, mut layers) = (Vec::new(), Vec::new());
    for text in texts {
        let reading = embedder.read_query(text).await?;
        layers.push(reading.layers.context("the embedding model gives no inner layers")?);
        vectors.push(reading.vector);
    }
    let features: Vec<Features> = texts.iter().map(|text| NeedModel::features(text)).collect();
    let mut tensors = sparse("", &features);
    tensors.extend([numbers("vectors", &vectors), numbers("layers", &layers)]);
    Ok(tensors)
}

async fn memorable(embedder: &dyn Embedder, texts: &[String]) -> Result<Vec<Tensor>> {
    let ruled: Vec<Ruled<'_>> = texts.iter().map(|text| Ruled::of(text)).collect();
    let told =
        || ruled.iter().zip(0_u32..).flat_map(|(it, row)| it.told.iter().map(move |t| (row, *t)));
    let told_texts: Vec<String> = told().map(|(_, text)| text.to_owned()).collect();
    let of = |texts: &[String]| texts.iter().map(|text| Features::of(text)).collect::<Vec<_>>();
    let mut tensors = sparse("", &of(texts));
    tensors.extend(sparse("told.", &of(&told_texts)));
    tensors.extend([
        numbers("vectors", &vectors(embedder, texts).await?),
        numbers("told.vectors", &vectors(embedder, &told_texts).await?),
        integers("told.row", told().map(|(row, _)| row)),
        integers("dropped", ruled.iter().map(|it| it.dropped.into())),
        integers("excluded", ruled.iter().map(|it| it.excluded.into())),
    ]);
    Ok(tensors)
}

async fn vectors(embedder: &dyn Embedder, texts: &[String]) -> Result<Vec<Vector>> {
    let mut vectors = Vec::with_capacity(texts.len());
    for some in texts.chunks(AT_ONCE) {
        vectors.extend(embedder.embed_passages(some.to_vec()).await?);
    }
    Ok(vectors)
}

/// The rows' texts, without white space at their ends.
fn texts(files: &[PathBuf]) -> Result<Vec<String>> {
    let rows: Vec<Row> = rows(files)?;
    Ok(rows.into_iter().map(|row| row.text.trim().to_owned()).collect())
}

fn rows<T: DeserializeOwned>(files: &[PathBuf]) -> Result<Vec<T>> {
    let mut rows = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).with_context(|| shown(file))?;
        for line in text.lines() {
            rows.push(serde_json::from_str(line).with_context(|| shown(file))?);
        }
    }
    Ok(rows)
}

fn shown(file: &Path) -> String {
    file.display().to_string()
}

/// A tensor with its bytes, little-endian.
struct Tensor {
    name: String,
    kind: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    fn view(&self) -> Result<TensorView<'_>> {
        Ok(TensorView::new(self.kind, self.shape.clone(), &self.bytes)?)
    }
}

/// Features as a compressed sparse row matrix.
fn sparse(prefix: &str, features: &[Features]) -> Vec<Tensor> {
    let mut starts = vec![0_u32];
    let (mut buckets, mut values) = (Vec::new(), Vec::new());
    for row in features {
        for (bucket, value) in row.iter() {
            buckets.push(u32::try_from(bucket).unwrap_or(u32::MAX));
            values.push(value);
        }
        starts.push(u32::try_from(buckets.len()).unwrap_or(u32::MAX));
    }
    let (kind, shape) = (Dtype::F64, vec![values.len()]);
    let bytes = values.into_iter().flat_map(f64::to_le_bytes).collect();
    vec![
        integers(&format!("{prefix}starts"), starts.into_iter()),
        integers(&format!("{prefix}buckets"), buckets.into_iter()),
        Tensor { name: format!("{prefix}values"), kind, shape, bytes },
    ]
}

fn integers(name: &str, integers: impl Iterator<Item = u32>) -> Tensor {
    let bytes: Vec<u8> = integers.flat_map(u32::to_le_bytes).collect();
    Tensor { name: name.to_owned(), kind: Dtype::U32, shape: vec![bytes.len() / 4], bytes }
}

fn numbers(name: &str, rows: &[Vector]) -> Tensor {
    let shape = vec![rows.len(), rows.first().map_or(0, |row| row.len())];
    let bytes = rows.iter().flat_map(|row| row.iter()).flat_map(|x| x.to_le_bytes()).collect();
    Tensor { name: name.to_owned(), kind: Dtype::F32, shape, bytes }
}
