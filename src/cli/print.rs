//! Writing a command's answer to standard output.

use std::io::{self, ErrorKind, Write};

use super::failure::Failure;

/// Writes all of it. A reader who has seen enough (`| head`) is no failure.
///
/// # Errors
/// When standard output cannot be written for another reason: a full disk, for example.
pub(super) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush()))
}

fn written(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new("output", format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Says something to people. Nobody can be told when that fails.
pub(super) fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_reader_who_went_away_is_no_failure() {
        assert!(written(Ok(())).is_ok());
        assert!(written(Err(ErrorKind::BrokenPipe.into())).is_ok());
        assert!(written(Err(ErrorKind::StorageFull.into())).is_err());
    }
}
