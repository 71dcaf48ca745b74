//! One target: that whose name the program has.

#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use afterbay_fuzz::{Target, target};
use libfuzzer_sys::fuzz_target;

fn own() -> Target {
    static OWN: OnceLock<Target> = OnceLock::new();
    *OWN.get_or_init(|| {
        let program = std::env::args().next().unwrap_or_default();
        let name = Path::new(&program).file_name().and_then(|name| name.to_str());
        target(name.unwrap_or_default()).expect("the program has the name of a target")
    })
}

fuzz_target!(|bytes: &[u8]| {
    (own().run)(bytes);
});
