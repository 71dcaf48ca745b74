//! The program `afterbay-edge`: `./afterbay edge` starts it.

use std::process::ExitCode;

fn main() -> ExitCode {
    afterbay_edge::cli::main()
}
