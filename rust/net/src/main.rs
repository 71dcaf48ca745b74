//! The program `afterbay-net`: `./afterbay net` starts it.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    afterbay_net_cli::cli::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!(
        "afterbay net: shared-memory sockets need Linux (sealed memory, eventfds, LD_PRELOAD)"
    );
    ExitCode::FAILURE
}
