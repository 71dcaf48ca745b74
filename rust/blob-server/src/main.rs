//! The program `afterbay-blob`: `./afterbay blob` starts it.

use std::process::ExitCode;

fn main() -> ExitCode {
    afterbay_blob_server::cli::main()
}
