//! Memory and CPU time of a process, from Linux' /proc.

use std::time::Duration;

use anyhow::{Context, Result, bail};

/// Memory of a process, in MiB.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    pub now: u64,
    pub most: u64,
}

/// Current and peak resident memory of a process.
///
/// # Errors
/// When the process does not exist.
pub(super) fn memory(pid: u32) -> Result<Memory> {
    let path = format!("/proc/{pid}/status");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let mib = |name: &str| -> Result<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|rest| rest.trim_matches([':', ' ', '\t']).split(' ').next());
        Ok(kib.and_then(|kib| kib.parse::<u64>().ok()).context("no memory value")? / 1024)
    };
    Ok(Memory { now: mib("VmRSS")?, most: mib("VmHWM")? })
}

/// Interval between two checks of processes.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// CPU time per interval, in hundredths of a second, that counts as idle.
const IDLE_TICKS: u64 = 1;
/// Number of consecutive idle checks required, because work may wait for a timer.
const IDLE_LOOKS: u32 = 2;
/// Maximum time to wait.
const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until all these processes are idle, so that leftover work of one case does not affect the
/// next.
///
/// # Errors
/// When one has ended, or they are still busy after two minutes.
pub(super) async fn settled(pids: &[u32]) -> Result<()> {
    let started = tokio::time::Instant::now();
    let mut before = ticks(pids)?;
    let mut idle = 0;
    while idle < IDLE_LOOKS {
        tokio::time::sleep(LOOK_EVERY).await;
        let now = ticks(pids)?;
        idle = if now - before <= IDLE_TICKS { idle + 1 } else { 0 };
        before = now;
        if started.elapsed() > PATIENCE {
            bail!("memgate is still busy {} s after the last request", PATIENCE.as_secs());
        }
    }
    Ok(())
}

/// Total CPU time used so far, in hundredths of a second.
fn ticks(pids: &[u32]) -> Result<u64> {
    pids.iter().map(|pid| ticks_of(*pid)).sum()
}

fn ticks_of(pid: u32) -> Result<u64> {
    let path = format!("/proc/{pid}/stat");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    // The name, in parentheses, can contain anything; user and system time are the 12th and 13th
    // field after it.
    let fields =
        text.rsplit_once(')').map(|(_, fields)| fields.split_whitespace().skip(11).take(2));
    fields
        .into_iter()
        .flatten()
        .map(|field| field.parse::<u64>().context("a value in /proc is not a number"))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_uses_time() {
        let memory = memory(std::process::id()).unwrap();
        assert!(memory.now > 0 && memory.most >= memory.now);
        let before = ticks_of(std::process::id()).unwrap();
        let started = std::time::Instant::now();
        while ticks_of(std::process::id()).unwrap() == before {
            assert!(started.elapsed() < Duration::from_secs(10), "the time does not move");
        }
    }
}
