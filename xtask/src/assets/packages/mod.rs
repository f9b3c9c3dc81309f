//! Packages of the registries, each pinned by version and digest: wheels and their virtual environments, cargo
//! subcommands, and packages of npm.

pub(super) mod cargo_tools;
pub(super) mod fetch;
pub(super) mod npm;
pub(super) mod venv;
