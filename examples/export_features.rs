//! Exports the features that the trainers in tools/ learn from, as the program extracts them: hashed features, vectors
//! and inner layers of the embedding model, and the decisions of rules. `tools/rust_features.py` runs it; the result is a
//! safetensors file.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{Parser, ValueEnum};
use memgate::startup::{Need, Offline};
use memgate_config::Config;
use memgate_core::clock::Clock;
use memgate_embed::{Embedder, Vector};
use memgate_models::{Features, reader};
use memgate_text::{command::own_words, pieces::Piece, rules};
use safetensors::{Dtype, serialize_to_file, tensor::TensorView};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

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
    /// The sentences and clauses of messages, as JSON Lines: what `statements` reads.
    Pieces,
    /// Features of pieces within their messages and alone.
    Statements,
    /// The reader's features of the pieces of messages, in the order of `pieces`.
    Readings,
    /// Passage vectors alone.
    Texts,
}

#[derive(Deserialize)]
struct Row {
    text: String,
}

/// A sentence or clause within its message.
#[derive(Deserialize, Serialize)]
struct Part {
    /// The row of the message.
    row: usize,
    before: String,
    text: String,
    after: String,
    /// A clause, or else a sentence.
    clause: bool,
    /// Rules say that it is not said of the user.
    excluded: bool,
    /// Rules say that nothing of the message may be kept.
    dropped: bool,
}

impl Part {
    fn of(row: usize, piece: &Piece<'_>, clause: bool, dropped: bool) -> Self {
        Self {
            row,
            before: piece.before().to_owned(),
            text: piece.words().to_owned(),
            after: piece.after().to_owned(),
            clause,
            excluded: rules::excludes(piece.words()),
            dropped,
        }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    if let Kind::Pieces = args.kind {
        return write_pieces(&texts(&args.files)?, &args.out);
    }
    let folder = tempfile::tempdir()?;
    let mut config = Config::load_with(args.config.as_deref(), &|_| {})?;
    folder.path().clone_into(&mut config.data_dir);
    let offline = Offline::open_answering(config, Need::Model, Clock::System).await?;
    let embedder = offline.operations().embedder.as_ref();
    let tensors = match args.kind {
        Kind::Need => need(embedder, &texts(&args.files)?).await?,
        Kind::Statements => statements(&rows(&args.files)?),
        Kind::Readings => readings(embedder, &texts(&args.files)?).await?,
        Kind::Texts | Kind::Pieces => {
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
    let features: Vec<Features> = texts.iter().map(|text| Features::of_message(text)).collect();
    let mut tensors = sparse("", &features);
    tensors.extend([numbers("vectors", &vectors), numbers("layers", &layers)]);
    Ok(tensors)
}

async fn readings(embedder: &dyn Embedder, messages: &[String]) -> Result<Vec<Tensor>> {
    let mut rows: Vec<Vector> = Vec::new();
    for message in messages {
        let own = own_words(message);
        let parts = reader::Part::all(&own);
        let spans: Vec<_> = parts.iter().map(|part| part.piece.range()).collect();
        let layers = embedder.read_spans(&own, &spans).await?;
        let layers = layers.context("the embedding model gives no inner layers of tokens")?;
        rows.extend(reader::features(&parts, &layers).into_iter().map(Vector::from));
    }
    Ok(vec![numbers("readings", &rows)])
}

fn write_pieces(messages: &[String], out: &Path) -> Result<()> {
    let mut lines = String::new();
    for (row, message) in messages.iter().enumerate() {
        let own = own_words(message);
        let dropped = rules::drops(&own);
        for part in reader::Part::all(&own) {
            let part = Part::of(row, &part.piece, part.is_clause, dropped);
            lines.push_str(&serde_json::to_string(&part)?);
            lines.push('\n');
        }
    }
    std::fs::write(out, lines).with_context(|| shown(out))
}

fn statements(parts: &[Part]) -> Vec<Tensor> {
    let features = |it: &Part| Features::within(&it.before, &it.text, &it.after);
    let mut tensors = sparse("", &parts.iter().map(features).collect::<Vec<_>>());
    let alone: Vec<_> = parts.iter().map(|part| Features::of(&part.text)).collect();
    tensors.extend(sparse("alone.", &alone));
    tensors
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
