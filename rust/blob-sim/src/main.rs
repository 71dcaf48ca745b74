//! The program `afterbay-blob-sim`, or `./afterbay blob sim`.

use std::process::ExitCode;

fn main() -> ExitCode {
    afterbay_blob_sim::cli::main()
}
