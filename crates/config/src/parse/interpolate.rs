//! Replaces `${NAME}` in string values by environment variables. Values are never printed: they may
//! be secrets.

use memgate_located::{Node, Value, join};

use crate::parse::problem::{Place, Problem};

/// Looks up an environment variable.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Replaces `${NAME}` in all string values below `node`; `$${` becomes `${`. Such a string may spell
/// a number.
pub(crate) fn interpolate(
    node: &mut Node,
    key: &str,
    env: Lookup<'_>,
    problems: &mut Vec<Problem>,
) {
    match &mut node.value {
        Value::Text(text) if text.contains("${") => match replace(text, env) {
            Ok(replaced) => node.value = Value::Spelt(replaced),
            Err(cause) => problems
                .push(Problem { place: node.line.map(Place::Line), ..Problem::new(key, cause) }),
        },
        Value::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                interpolate(item, &format!("{key}[{index}]"), env, problems);
            }
        }
        Value::Map(members) => {
            for (name, member) in members {
                interpolate(member, &join(key, &name.name), env, problems);
            }
        }
        _ => {}
    }
}

fn replace(text: &str, env: Lookup<'_>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        if rest[..start].ends_with('$') {
            out.push_str(&rest[..start - 1]);
            out.push_str("${");
            rest = &rest[start + 2..];
            continue;
        }
        out.push_str(&rest[..start]);
        let inner = &rest[start + 2..];
        let Some(end) = inner.find('}') else {
            return Err("`${` without `}`; write `$${` for a literal `${`".into());
        };
        let name = &inner[..end];
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err("`${…}` must contain the name of an environment variable".into());
        }
        let value =
            env(name).ok_or_else(|| format!("the environment variable {name} is not set"))?;
        out.push_str(&value);
        rest = &inner[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str) -> Option<String> {
        (name == "HOST").then(|| "qwen".to_owned())
    }

    #[test]
    fn replaces_names_and_unescapes_two_dollars() {
        assert_eq!(replace("http://${HOST}:1/${HOST}", &env).as_deref(), Ok("http://qwen:1/qwen"));
        assert_eq!(replace("$${HOST} $5 {}", &env).as_deref(), Ok("${HOST} $5 {}"));
    }

    #[test]
    fn refuses_an_unset_name_an_open_brace_and_an_invalid_name() {
        assert_eq!(
            replace("${PORT}", &env),
            Err("the environment variable PORT is not set".to_owned())
        );
        assert!(replace("${HOST", &env).is_err());
        assert!(replace("${HO-ST}", &env).is_err());
    }
}
