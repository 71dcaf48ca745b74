//! How much the tests do, and how long they wait: the one place for both.
//!
//! The normal form is what everybody runs, often: each test once, with counts that take seconds, and each control, which must
//! still find its fault. The long form (`./afterbay test --long`, which sets `AFTERBAY_LONG=true`) looks for what is rare.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::{Duration, Instant};

/// What comes is waited for so long. No machine is so busy that it needs more; a test that meets this has found a fault.
pub const PATIENCE: Duration = Duration::from_secs(240);

/// Longer than a test waits: for limits that must not be met.
pub const NEVER: Duration = Duration::from_secs(3600);

/// Whether this is the long form.
pub fn is_long() -> bool {
    std::env::var("AFTERBAY_LONG").is_ok_and(|long| long == "true")
}

/// Says what a test has counted; `./afterbay test` shows it, also if the test passes.
pub fn counted(text: &str) {
    println!("{text}");
    let Some(file) = std::env::var_os("AFTERBAY_COUNTED") else { return };
    let file = OpenOptions::new().create(true).append(true).open(file);
    // In one piece: several programs write it.
    let written = file.and_then(|mut file| file.write_all(format!("{text}\n").as_bytes()));
    assert!(written.is_ok(), "AFTERBAY_COUNTED: {written:?}");
}

fn form<T>(normal: T, long: T) -> T {
    if is_long() { long } else { normal }
}

/// A number that somebody asks for.
fn wanted(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|number| number.parse().ok())
}

/// How often a process is killed with -9: a partition's (`blob-store`), the server's (`blob-server`). `AFTERBAY_KILL_CYCLES`.
pub fn kill_cycles() -> u64 {
    wanted("AFTERBAY_KILL_CYCLES").unwrap_or(form(10, 1000))
}

/// Machines whose power goes, five times each (`blob-server`). `AFTERBAY_POWER_MACHINES`.
pub fn power_machines() -> u64 {
    wanted("AFTERBAY_POWER_MACHINES").unwrap_or(form(3, 200))
}

/// For each fuzz target. `AFTERBAY_FUZZ_SECONDS`.
pub fn fuzz_time() -> Duration {
    let normal = Duration::from_millis(250);
    let time = form(normal, Duration::from_secs(60));
    wanted("AFTERBAY_FUZZ_SECONDS").map_or(time, Duration::from_secs)
}

/// Random cases of a partition that is a map (`blob-store`).
pub fn partition_cases() -> u32 {
    form(100, 3000)
}

/// Random cases of losses of power and faults of a partition's disk (`blob-store`).
pub fn rough_cases() -> u32 {
    form(300, 30_000)
}

/// Random cases of a partition's disk that has bad sectors (`blob-store`).
pub fn worn_cases() -> u32 {
    form(100, 10_000)
}

/// The same cases in each run, of losses of power (`blob-store`).
pub fn fixed_rough_cases() -> u64 {
    form(2000, 10_000)
}

/// The same cases in each run, of bad sectors (`blob-store`).
pub fn fixed_worn_cases() -> u64 {
    form(1500, 6000)
}

/// Cases within which a control has to be noticed (`blob-store`): it ends with the first one.
pub const CONTROL_CASES: u64 = 10_000;

/// Random cases of replicas that hear of the same records in another order (`blob-store`).
pub fn replica_cases() -> u64 {
    form(200, 20_000)
}

/// Seeds of which a cluster is simulated (`blob-sim`). `AFTERBAY_SIMULATED_SEEDS`.
pub fn simulated_seeds() -> u64 {
    wanted("AFTERBAY_SIMULATED_SEEDS").unwrap_or(form(300, 100_000))
}

/// Random cases of a router that is a map (`blob-router`).
pub fn router_cases() -> u32 {
    form(100, 4000)
}

/// Losses of power of the names' disk (`blob-meta`).
pub fn names_crashes() -> u64 {
    form(50, 1500)
}

/// Random cases of names that are what a model says (`blob-meta`).
pub fn names_cases() -> u32 {
    form(24, 640)
}

/// Random cases of a ring that is a queue, and of a stream that moves between TCP and a ring (`net-ring`).
pub fn ring_cases() -> u32 {
    form(500, 50_000)
}

/// Bytes through a ring, between two threads and between two processes (`net-ring`, `net-shm`).
pub fn ring_stream_bytes() -> u64 {
    form(4 << 20, 1 << 30)
}

/// How often the models of the ring let one thread interrupt another one, beyond what finds every fault that is known
/// (`net-ring`).
pub fn more_preemptions() -> usize {
    form(0, 1)
}

/// Random networks of containers whose connections are matched (`net-agent`).
pub fn network_cases() -> u64 {
    form(100, 20_000)
}

/// Random plans, expressions and windows of a site (`edge-plan`, `edge-exec`).
pub fn edge_cases() -> u32 {
    form(300, 30_000)
}

/// How often an agent or a gateway is killed with -9 (`edge`). `AFTERBAY_EDGE_KILLS`.
pub fn edge_kills() -> u64 {
    wanted("AFTERBAY_EDGE_KILLS").unwrap_or(form(5, 500))
}

/// Losses of power of a gateway's disk, for each sync that is left out and for none (`edge-gateway`).
pub fn edge_powers() -> u64 {
    form(20, 500)
}

/// Random scripts of operations on connections, by TCP and in memory (`net`). `AFTERBAY_NET_SCRIPTS`.
pub fn net_scripts() -> u64 {
    wanted("AFTERBAY_NET_SCRIPTS").unwrap_or(form(50, 100_000))
}

/// Random histories of a cluster of three nodes (`blob-cluster`). `AFTERBAY_CLUSTER_CASES`.
pub fn cluster_cases() -> u64 {
    wanted("AFTERBAY_CLUSTER_CASES").unwrap_or(form(40, 10_000))
}

/// How often a node of a cluster of three processes is killed with -9 in mid-load (`blob-server`). `AFTERBAY_CLUSTER_KILLS`.
pub fn cluster_kills() -> u64 {
    wanted("AFTERBAY_CLUSTER_KILLS").unwrap_or(form(10, 1000))
}

/// How often each end of a connection in memory is killed with -9, in the middle of a stream (`net-preload`).
/// `AFTERBAY_KILL_CYCLES`.
pub fn net_kill_cycles() -> u64 {
    wanted("AFTERBAY_KILL_CYCLES").unwrap_or(form(25, 1000))
}

/// Of five ways in which a writer goes, how many each reader that leaves its ring is tried with (`net`).
pub fn net_writers_that_go() -> usize {
    form(2, 5)
}

/// Peers that write random words into memory that they share with a program (`net-preload`).
pub fn net_hostile_peers() -> u64 {
    form(30, 3000)
}

/// Waits for something that has to come: for [`PATIENCE`], however busy the machine is.
#[derive(Debug)]
pub struct Wait {
    began: Instant,
    what: &'static str,
}

impl Wait {
    /// `what` is missing as long as it is waited for.
    pub fn until(what: &'static str) -> Self {
        Wait { began: Instant::now(), what }
    }

    /// Panics if it has been waited for too long, with what is found instead.
    #[track_caller]
    pub fn check(&self, found: impl std::fmt::Debug) {
        let waited = self.began.elapsed();
        assert!(waited < PATIENCE, "waited {waited:?} until {}; found: {found:?}", self.what);
    }

    /// Whether it may be waited on: for what can be left out of a test where it does not come.
    pub fn may_go_on(&self) -> bool {
        self.began.elapsed() < PATIENCE
    }

    /// Waits on a thread until `is` says so.
    #[track_caller]
    pub fn block(what: &'static str, mut is: impl FnMut() -> bool) {
        let wait = Wait::until(what);
        while !is() {
            wait.check("not yet");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
