//! A document with measured results: the part between its two markers is replaced.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

const END: &str = "<!-- figures: to here -->";

/// A document with both markers.
pub(crate) struct Document {
    path: PathBuf,
    begin: String,
}

impl Document {
    /// Checks that the file has both markers, before anything is measured. The first one names `command`.
    ///
    /// # Errors
    /// When it cannot be read or a marker is missing.
    pub(crate) fn open(path: &Path, command: &str) -> Result<Self> {
        let begin = format!("<!-- figures: `{command}` writes from here -->");
        split(&read(path)?, &begin).with_context(|| path.display().to_string())?;
        Ok(Self { path: path.to_owned(), begin })
    }

    /// Writes the results.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub(crate) fn rewrite(&self, figures: &str) -> Result<()> {
        let text = put_between(&read(&self.path)?, &self.begin, figures)?;
        std::fs::write(&self.path, text)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// The results that it has.
    #[cfg(test)]
    pub(crate) fn figures(&self) -> Result<String> {
        let text = read(&self.path)?;
        let (_, figures, _) = split(&text, &self.begin)?;
        Ok(figures.trim().to_owned())
    }
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The text before the first marker, between both, and after the last one.
fn split<'a>(text: &'a str, begin: &str) -> Result<(&'a str, &'a str, &'a str)> {
    let (Some((before, rest)), true) = (text.split_once(begin), text.matches(begin).count() == 1)
    else {
        bail!("the line `{begin}` must be in it exactly once");
    };
    let Some((figures, after)) = rest.split_once(END) else {
        bail!("the line `{END}` must follow");
    };
    Ok((before, figures, after))
}

fn put_between(text: &str, begin: &str, figures: &str) -> Result<String> {
    let (before, _, after) = split(text, begin)?;
    Ok(format!("{before}{begin}\n\n{}\n\n{END}{after}", figures.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "<!-- begin -->";

    #[test]
    fn replaces_only_the_part_between_the_markers() {
        let text = format!("# Title\n{BEGIN}\nold\n{END}\nmore\n");
        let once = put_between(&text, BEGIN, "new\n").unwrap();
        assert_eq!(once, format!("# Title\n{BEGIN}\n\nnew\n\n{END}\nmore\n"));
        assert_eq!(put_between(&once, BEGIN, "new").unwrap(), once);
    }

    #[test]
    fn refuses_a_file_without_markers() {
        assert!(put_between("# Title", BEGIN, "new").is_err());
        assert!(put_between(&format!("{BEGIN} {BEGIN} {END}"), BEGIN, "new").is_err());
        assert!(put_between(&format!("{END} {BEGIN}"), BEGIN, "new").is_err());
    }
}
