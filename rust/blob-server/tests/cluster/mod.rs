//! A cluster of three real processes on this machine: puts, gets, deletes and undeletes by id through two of them, while the third one
//! is killed with -9, stopped, or frozen. No client may see an error, and what was acknowledged is on each of them in the end. Nodes
//! speak TLS to each other where nothing else is said. As many kills as `afterbay_test_form::cluster_kills` says. The control must be
//! noticed.

mod certificates;
mod load;
mod nodes;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use afterbay_test_form::{Wait, cluster_kills, counted};
use serde_json::Value;

use self::load::{Load, Model};
pub(crate) use self::nodes::host;
use self::nodes::{ARGUMENTS, Cluster};
use crate::cli::http;
use crate::common::{Process, program};

#[tokio::test(flavor = "multi_thread")]
async fn a_node_is_killed_and_no_client_notices() {
    let mut cluster = Cluster::running().await;
    let model = Arc::new(Model::default());
    let load = Load::begin(&model, &[cluster.client(1), cluster.client(2)]);
    let kills = cluster_kills();
    for _ in 0..kills {
        model.until_done(60).await;
        cluster.kill(3);
        model.until_done(60).await;
        cluster.until_away(3).await;
        cluster.start(3);
    }
    model.until_done(60).await;
    // What it has taken it must have synced.
    cluster.terminate(3).await;
    model.until_done(60).await;
    cluster.until_away(3).await;
    cluster.start(3);
    model.until_done(60).await;
    // Its connections stay, and nothing comes from it.
    cluster.nodes[&3].freeze();
    model.until_done(60).await;
    cluster.until_away(3).await;
    cluster.nodes[&3].thaw();
    model.until_done(60).await;
    load.end().await;
    assert_eq!(model.errors(), Vec::<String>::new());
    cluster.until_whole().await;
    for node in 1..=3 {
        assert_eq!(model.check(&cluster.client(node), true).await, Vec::<String>::new(), "n{node}");
    }
    // Whether a node is there, n1 finds out by itself.
    for line in [
        "afterbay_blob_cluster_node_down{node=\"n3\"} 0",
        "afterbay_blob_cluster_node_connected{node=\"n3\"} 1",
        "afterbay_blob_cluster_missing_blobs{node=\"n3\"} 0",
        "afterbay_blob_cluster_lag_records{node=\"n2\"} 0",
        "afterbay_blob_cluster_replicas{state=\"filled\"} 3",
    ] {
        let wait = Wait::until(line);
        loop {
            let metrics = http(cluster.nodes[&1].admin.as_deref().unwrap());
            if metrics.contains(line) {
                break;
            }
            wait.check(metrics);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    // What it has, it has itself.
    cluster.kill(1);
    cluster.kill(2);
    assert_eq!(model.check(&cluster.client(3), false).await, Vec::<String>::new(), "n3 alone");
    let tally = model.tally.lock().unwrap();
    assert_eq!(tally.len(), 4, "{tally:?}");
    counted(&format!("blob cluster: {kills} kills of a node, no client saw an error: {tally:?}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_notices_what_was_on_one_disk_alone() {
    let mut cluster = Cluster::new();
    cluster.start_with(1, &["--policy", "one"]);
    let model = Model::default();
    for _ in 0..10 {
        model.put(&cluster.client(1)).await;
    }
    assert_eq!(model.errors(), Vec::<String>::new());
    assert_eq!(model.check(&cluster.client(1), true).await, Vec::<String>::new());
    cluster.kill(1);
    fs::remove_dir_all(cluster.of(1)).unwrap();
    (1..=3).for_each(|node| cluster.start(node));
    cluster.until_whole().await;
    let wrong = model.check(&cluster.client(2), true).await;
    assert_eq!(wrong.len(), 10, "{wrong:?}");
    assert!(wrong.iter().all(|wrong| wrong.contains("not found")), "{wrong:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_fast_is_synced_as_often_as_is_said() {
    // Nothing if n1 was too slow to answer.
    let unsynced_ms = |status: &Value| {
        let replicas = status["nodes"][0]["replicas"].as_array()?;
        replicas.iter().map(|replica| replica["unsynced_ms"].as_u64().unwrap()).max()
    };
    let mut cluster = Cluster::new();
    let fast = ["--policy", "one", "--durability", "fast", "--flush-interval"];
    let model = Model::default();
    cluster.start_with(1, &[&fast[..], &["1h"]].concat());
    model.put(&cluster.client(1)).await;
    // More than by default.
    cluster.until_status("it is not synced", |_, status| unsynced_ms(status) > Some(2_000)).await;
    cluster.kill(1);
    cluster.start_with(1, &[&fast[..], &["20ms"]].concat());
    model.put(&cluster.client(1)).await;
    cluster.until_status("all is synced", |_, status| unsynced_ms(status) == Some(0)).await;
    assert_eq!(model.errors(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_disk_fills_itself() {
    let mut cluster = Cluster::running().await;
    let model = Model::default();
    let clients = [1, 2, 3].map(|node| cluster.client(node));
    let mut ids = Vec::new();
    for number in 0..40 {
        ids.extend(model.put(&clients[number % 3]).await);
    }
    for id in &ids[..10] {
        model.delete(&clients[0], *id).await;
    }
    model.undelete(&clients[1], ids[0]).await;
    // One that has chunks, and a delete is no error again.
    model.undelete(&clients[2], ids[9]).await;
    model.delete(&clients[2], ids[1]).await;
    cluster.terminate(2).await;
    fs::remove_dir_all(cluster.of(2)).unwrap();
    let map = cluster.directory().join("map.toml");
    let refused = cluster.refused(&map, 2, &["--existing"]);
    assert!(refused.contains("is its disk mounted?"), "{refused}");
    cluster.start(2);
    assert_eq!(model.errors(), Vec::<String>::new());
    cluster.until_whole().await;
    assert_eq!(model.check(&cluster.client(2), true).await, Vec::<String>::new());
    cluster.kill(1);
    cluster.kill(3);
    assert_eq!(model.check(&cluster.client(2), false).await, Vec::<String>::new(), "n2 alone");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_know_the_key_is_refused_by_name() {
    let mut cluster = Cluster::running().await;
    cluster.terminate(3).await;
    let directory = cluster.directory();
    let other = cluster.folder.path().join("other");
    fs::create_dir(&other).unwrap();
    for name in ["map.toml", "root-key", "cluster-key", "n3-cert.pem", "n3-key.pem"] {
        fs::copy(directory.join(name), other.join(name)).unwrap();
    }
    let key = fs::read_to_string(directory.join("cluster-key")).unwrap();
    let secret = key.lines().find_map(|line| line.strip_prefix("secret-key = ")).unwrap();
    let wrong = key.replace(secret, &"A".repeat(secret.len()));
    fs::write(other.join("cluster-key"), wrong).unwrap();
    let map = other.join("map.toml");
    let data = cluster.of(3);
    let data = data.to_str().unwrap();
    let mut command = cluster.command(&map, 3, &["--data", data]);
    cluster.nodes.insert(3, Process::wait(&other, &mut command));
    let says = "n3 does not know the key of cluster AB";
    Wait::block("its neighbour has refused it", || cluster.log(1).contains(says));
    let is = |well: bool, status: &Value| {
        let reason = status["nodes"][2]["reason"].as_str().unwrap_or_default();
        !well && reason.contains("who asks does not know the key")
    };
    cluster.until_status("n3 refuses who asks", is).await;
    // Two of three are enough.
    let model = Model::default();
    let id = model.put(&cluster.client(1)).await;
    model.get(&cluster.client(2), id.unwrap()).await;
    assert_eq!(model.errors(), Vec::<String>::new());
    Wait::block("by its map, others refuse who asks", || {
        let text = String::from_utf8(cluster.ask_status(&map, &[]).stdout).unwrap();
        text.contains("n1  ") && text.contains("who asks does not know the key")
    });
    cluster.terminate(3).await;
    // A directory is of one node of one cluster.
    let map = directory.join("map.toml");
    let n2 = cluster.of(2);
    let refused = cluster.refused(&map, 3, &["--data", n2.to_str().unwrap()]);
    assert!(refused.contains("in use by another process"), "{refused}");
    cluster.kill(2);
    let refused = cluster.refused(&map, 3, &["--data", n2.to_str().unwrap()]);
    assert!(refused.contains("belongs to node n2 of cluster AB"), "{refused}");
    let again = Cluster::new();
    let refused = again.refused(&again.directory().join("map.toml"), 3, &["--data", data]);
    assert!(refused.contains("belongs to node n3 of cluster AB"), "{refused}");
    let refused = again.refused(&again.directory().join("map.toml"), 4, &[]);
    assert!(refused.contains("--node n4: the map has n1, n2, n3"), "{refused}");
}

#[test]
fn a_cluster_is_made_once_and_for_its_owner_alone() {
    let cluster = Cluster::new();
    let mode = |name: &str| {
        let path = cluster.directory().join(name);
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!([mode("cluster-key"), mode("root-key"), mode("n1")], [0o600, 0o600, 0o700]);
    assert_eq!([mode("n1-key.pem"), mode("n3-key.pem")], [0o600, 0o600]);
    let run = |arguments: &[&str]| {
        let output = program().args(arguments).current_dir(cluster.folder.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, error) = run(&["cluster", "init", "c"]);
    assert!(code == Some(1) && error.contains("c: not empty"), "{error}");
    let certificate = ["cluster", "certificate", "--cluster", "c/map.toml", "--node"];
    let (code, error) = run(&[&certificate[..], &["n1"]].concat());
    assert!(code == Some(1) && error.contains("c/n1-cert.pem: there is one"), "{error}");
    let (code, error) = run(&[&certificate[..], &["n9"]].concat());
    assert!(code == Some(2) && error.contains("c/map.toml has n1, n2, n3"), "{error}");
    for (arguments, says) in [
        (&["cluster", "init", "d", "--replicas", "4"][..], "--replicas: 4"),
        (&["cluster", "init", "d", "--port", "65535"], "--port: 65535"),
        (&["cluster", "init", "d", "--host", "a\"b"], "--host"),
        (
            &["serve", "--cluster", "c/map.toml", "--node", "n1", "--policy", "4"],
            "--policy 4: the partitions",
        ),
        (&["serve", "--cluster", "c/map.toml", "--node", "n1", "--policy", "none"], "`majority`"),
        (&["serve", "--cluster", "c/map.toml"], "--node"),
        (&["serve", "--data", "d", "--policy", "one"], "--cluster"),
        (&["serve", "--cluster", "c/map.toml", "--node", "n1", "--reserve", "1GiB"], "--reserve"),
        (&["serve", "--cluster", "c/map.toml", "--node", "n1", "--s3", "none"], "--s3"),
        (&["serve", "--lifecycle-day", "1s", "--cluster", "m", "--node", "n1"], "--lifecycle-day"),
    ] {
        let (code, error) = run(arguments);
        assert!(code == Some(2) && error.contains(says), "{arguments:?}: {error}");
    }
    assert!(!cluster.folder.path().join("d").exists());
    let (code, error) = run(&["cluster", "status", "--cluster", "nothing.toml"]);
    assert!(code == Some(1) && error.contains("'cluster init' makes one"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_node_starts_as_it_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let made = program()
        .args(["cluster", "init", "c", "--nodes", "1", "--host", &host(), "--port", "19999"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8(made.stdout).unwrap();
    let serve = text.lines().find_map(|line| line.trim().strip_prefix("./afterbay blob serve "));
    let mut command = program();
    command.arg("serve").args(serve.unwrap().split(' ')).args(ARGUMENTS).current_dir(folder.path());
    let node = Process::wait(&folder.path().join("c"), &mut command);
    let model = Model::default();
    let id = model.put(&node.client()).await.unwrap();
    model.get(&node.client(), id).await;
    assert_eq!(model.errors(), Vec::<String>::new());
}
