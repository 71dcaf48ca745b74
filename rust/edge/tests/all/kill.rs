//! Agents and the gateway are killed with -9 at random moments, while rows come in.

use std::time::Duration;

use afterbay_test_form::{Wait, edge_kills};

use crate::site::{Process, TUMBLE, TUMBLE_FINAL, World, append, readings};

const SITES: [&str; 2] = ["dev1", "dev2"];
/// Readings of a site between two kills.
const READINGS: u64 = 1500;

/// Rows that are committed, of all sites.
fn rows(gateway: &Process) -> u64 {
    let status = gateway.status();
    let sites = status["streams"][0]["sites"].as_array().cloned().unwrap_or_default();
    sites.iter().map(|site| site["rows"].as_u64().unwrap()).sum()
}

/// Kills, so often; then everything is there, once and in order.
fn kill(world: &World, times: u64, seed: u64, topic: &str, columns: &[&str]) {
    let arguments = ["--follow", "--outbox-bytes", "64KiB"];
    SITES.iter().for_each(|site| world.write(site, ""));
    let mut gateway = world.gateway(&[]);
    let mut agents: Vec<Process> = SITES.iter().map(|site| world.agent(site, &arguments)).collect();
    let mut random = seed | 1;
    for round in 0..times {
        for (number, site) in (0..).zip(SITES) {
            // In two parts, so that a line is cut in the middle for a while.
            let text = readings(round * READINGS, READINGS, seed + 2 * round + number);
            let (first, second) = text.split_at(text.len() / 2);
            append(&world.input(site), first);
            append(&world.input(site), second);
        }
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // Somewhere between the reading of the input and the last acknowledgement: any moment is right.
        std::thread::sleep(Duration::from_micros(random % 120_000));
        match round % 3 {
            0 => {
                gateway.kill();
                gateway = world.gateway(&[]);
            }
            victim => {
                let victim = victim as usize - 1;
                agents.remove(victim).kill();
                agents.insert(victim, world.agent(SITES[victim], &arguments));
            }
        }
        // The next kill meets other work than this one.
        Wait::block("rows have come", || rows(&gateway) > 0);
    }
    for site in SITES {
        std::fs::write(world.path(&format!("{site}.ndjson.end")), "").unwrap();
    }
    for agent in agents {
        let (code, error) = agent.end();
        assert_eq!(code, 0, "{error}");
    }
    let found = world.rows(topic);
    for site in SITES {
        let expected = world.expected(site, columns);
        assert!(expected.len() as u64 > times * READINGS / 4, "{}", expected.len());
        assert_eq!(found[site].len(), expected.len(), "{site}");
        assert_eq!(found[site], expected, "{site}");
    }
    Wait::block("the status shows it", || {
        gateway.status()["streams"][0]["partitions"][0]["watermark"] == i64::MAX
    });
    let status = gateway.status();
    for site in status["streams"][0]["sites"].as_array().unwrap() {
        assert_eq!((&site["lateRows"], &site["gaps"]), (&0.into(), &0.into()), "{site}");
    }
}

#[test]
fn nothing_is_lost_and_nothing_doubled() {
    let world = World::new("tumble", &SITES);
    kill(&world, edge_kills(), 0x5EED_0032, "edge_partials", &TUMBLE);
}

/// Groups of windows that are open are of one site alone: they are in its state.
#[test]
fn nothing_is_lost_and_nothing_doubled_where_results_are_final() {
    let local = &["--local", "room"];
    let world = World { local, ..World::new("tumble", &SITES) };
    kill(&world, edge_kills(), 0x5EED_0086, "edge_finals", &TUMBLE_FINAL);
}
