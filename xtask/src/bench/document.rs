//! The document with the results: the part between its two markers is replaced.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

const BEGIN: &str = "<!-- figures: `cargo xtask bench --out` writes from here -->";
const END: &str = "<!-- figures: to here -->";

/// A document with both markers.
pub(super) struct Document {
    path: PathBuf,
}

impl Document {
    /// Checks that the file has both markers, before anything is measured.
    ///
    /// # Errors
    /// When it cannot be read or a marker is missing.
    pub(super) fn open(path: &Path) -> Result<Self> {
        put_between(&read(path)?, "").with_context(|| path.display().to_string())?;
        Ok(Self { path: path.to_owned() })
    }

    /// Writes the results.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub(super) fn rewrite(&self, figures: &str) -> Result<()> {
        let text = put_between(&read(&self.path)?, figures)?;
        std::fs::write(&self.path, text)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn put_between(text: &str, figures: &str) -> Result<String> {
    let (Some((before, rest)), true) = (text.split_once(BEGIN), text.matches(BEGIN).count() == 1)
    else {
        bail!("the line `{BEGIN}` must be in it exactly once");
    };
    let Some((_, after)) = rest.split_once(END) else {
        bail!("the line `{END}` must follow");
    };
    Ok(format!("{before}{BEGIN}\n\n{}\n\n{END}{after}", figures.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_only_the_part_between_the_markers() {
        let text = format!("# Title\n{BEGIN}\nold\n{END}\nmore\n");
        let once = put_between(&text, "new\n").unwrap();
        assert_eq!(once, format!("# Title\n{BEGIN}\n\nnew\n\n{END}\nmore\n"));
        assert_eq!(put_between(&once, "new").unwrap(), once);
    }

    #[test]
    fn refuses_a_file_without_markers() {
        assert!(put_between("# Title", "new").is_err());
        assert!(put_between(&format!("{BEGIN} {BEGIN} {END}"), "new").is_err());
        assert!(put_between(&format!("{END} {BEGIN}"), "new").is_err());
    }
}
