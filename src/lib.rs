//! memgate: long-term memory for any OpenAI-compatible LLM gateway, as an Envoy
//! external-processing filter. `ARCHITECTURE.md` tells how the parts fit.

pub mod api;
pub mod capture;
pub mod cli;
pub mod config;
pub mod dialect;
pub mod embed;
pub mod gateway;
pub mod identity;
pub mod llm;
pub mod memory;
pub mod models;
pub mod recall;
pub mod remote;
pub mod screening;
pub mod sqlite;
pub mod startup;
pub mod store;
pub mod telemetry;
pub mod text;
pub mod transfer;
