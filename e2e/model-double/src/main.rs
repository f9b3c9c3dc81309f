//! Starts the double: reads the command line, binds, says where it listens, and serves until it is told to stop.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr};

use clap::Parser;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// An OpenAI-compatible model server without a model: it answers with what it was sent.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The address to listen on.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// The port to listen on; 0 picks a free one.
    #[arg(long, default_value_t = 8000)]
    port: u16,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let listener = TcpListener::bind((arguments.host, arguments.port)).await?;
    // Written and flushed by hand: whoever started us waits for this line on a pipe.
    let mut out = std::io::stdout().lock();
    writeln!(out, "listening http://{}", listener.local_addr()?)?;
    out.flush()?;
    drop(out);

    // Streams that hang on purpose would hold up a graceful end for ever: a signal simply ends the process.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        served = model_double::serve(listener) => served?,
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
