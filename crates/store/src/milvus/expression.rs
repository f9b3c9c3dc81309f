//! Milvus filter expressions: the only place where a value becomes part of an expression.
//!
//! Expression templates require Milvus 2.5. Without them a value is a quoted literal; an unescaped
//! one could select all owners' rows. memgate's own keys are hexadecimal and need no escaping, but
//! are quoted the same way.

use memgate_core::memory::Owner;

/// A text as a literal.
///
/// Control characters other than line break and tab are kept: servers accept them, and not all
/// support `\u` escapes.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// `field in [..]`.
pub(super) fn one_of<T: AsRef<str>>(field: &str, values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(|value| literal(value.as_ref())).collect();
    format!("{field} in [{}]", values.join(", "))
}

/// `field not in [..]`.
pub(super) fn none_of<T: AsRef<str>>(field: &str, values: &[T]) -> String {
    one_of(&format!("{field} not"), values)
}

/// The rows of one owner; it selects the owner's partition.
pub(super) fn of_owner(owner: &Owner) -> String {
    format!("owner == {}", literal(&owner.key()))
}

/// The rows of a tenant's memories that one of these readers may read.
pub(super) fn shared_with(tenant: &str, readers: &[String]) -> String {
    let readers: Vec<String> = readers.iter().map(|reader| literal(reader)).collect();
    let tenant = literal(tenant);
    format!(
        "tenant_id == {tenant} and json_contains_any(readers[\"in\"], [{}])",
        readers.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_escape_its_literal() {
        for (text, expected) in [
            ("plain", r#""plain""#),
            (r#"a" or owner != ""#, r#""a\" or owner != \"""#),
            (r"back\slash", r#""back\\slash""#),
            (r#"\" or 1 == 1 or ""#, r#""\\\" or 1 == 1 or \"""#),
            ("a\nb\tc\rd", r#""a\nb\tc\rd""#),
            ("日本 {x} % _ '", r#""日本 {x} % _ '""#),
        ] {
            assert_eq!(literal(text), expected, "{text}");
        }
        assert_eq!(one_of("key", &["a", "\"b"]), r#"key in ["a", "\"b"]"#);
    }
}
