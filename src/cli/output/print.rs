//! Writes to standard output.

use std::io::{self, ErrorKind, Write};

use crate::cli::failure::Failure;

/// Writes all bytes. A reader that closes the pipe early (`| head`) is not a failure.
///
/// # Errors
/// When standard output cannot be written for another reason: a full disk, for example.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush()))
}

fn written(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new("output", format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a line for people on standard error. A failure cannot be reported.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_closed_pipe_is_not_a_failure() {
        assert!(written(Ok(())).is_ok());
        assert!(written(Err(ErrorKind::BrokenPipe.into())).is_ok());
        assert!(written(Err(ErrorKind::StorageFull.into())).is_err());
    }
}
