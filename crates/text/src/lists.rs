//! Parses the word lists beside this file: sections with a name in brackets,
//! one entry or several a line.

/// The sections of a list, with their lines.
pub(crate) fn sections(list: &'static str) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in list.lines() {
        if line.trim().is_empty() || line.starts_with("# ") || line == "#" {
            continue;
        }
        match (heading(line), sections.last_mut()) {
            (Some(name), _) => sections.push((name, Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    sections
}

/// `[name]`, and nothing that could be a pattern.
fn heading(line: &str) -> Option<&str> {
    let name = line.strip_prefix('[')?.strip_suffix(']')?;
    let fits = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    fits.then_some(name)
}
