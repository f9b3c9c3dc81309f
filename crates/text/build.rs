//! Lists the files of `lang/` as the enum `Language`, so that another language is another file and nothing else.

use std::{env, fmt::Write as _, fs, io, path::Path};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lang").canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut codes = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            codes.extend(path.file_stem().map(|code| code.to_string_lossy().into_owned()));
        }
    }
    codes.sort();
    let (mut variants, mut arms, mut names) = (String::new(), String::new(), String::new());
    let mut cldr = String::new();
    for code in &codes {
        let mut variant = code.clone();
        variant[..1].make_ascii_uppercase();
        let path = folder.join(code).with_extension("toml");
        let times = folder.join("cldr").join(code).with_extension("toml");
        let fails = |_| io::Error::other("writing to a string failed");
        writeln!(variants, "    /// `lang/{code}.toml`.\n    {variant},").map_err(fails)?;
        writeln!(arms, "            Self::{variant} => include_str!({path:?}),").map_err(fails)?;
        writeln!(cldr, "            Self::{variant} => include_str!({times:?}),").map_err(fails)?;
        writeln!(names, "            Self::{variant} => {code:?},").map_err(fails)?;
    }
    let source = format!(
        "/// A language of `lang/`.\n\
         #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::VariantArray)]\n\
         pub enum Language {{\n{variants}}}\n\n\
         impl Language {{\n    \
             /// Its code by ISO 639-1.\n    \
             #[must_use]\n    \
             pub fn code(self) -> &'static str {{\n        match self {{\n{names}        }}\n    }}\n\n    \
             fn source(self) -> &'static str {{\n        match self {{\n{arms}        }}\n    }}\n\n    \
             fn cldr_source(self) -> &'static str {{\n        match self {{\n{cldr}        }}\n    }}\n\
         }}\n"
    );
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("Cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("languages.rs"), source)
}
