//! The program memgate: Envoy's side, the REST API, start-up and the command line.
//! `ARCHITECTURE.md` shows how it and the crates fit together.

pub mod api;
pub mod cli;
pub mod gateway;
#[cfg(test)]
mod injected;
mod placement;
pub mod startup;
