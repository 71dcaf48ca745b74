//! Who is refused for its certificate, and certificates that are replaced.

use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use afterbay_test_form::Wait;
use serde_json::Value;

use super::load::Model;
use super::nodes::Cluster;
use crate::common::{Process, program};

/// Makes a certificate; what the map is to name.
fn new_certificate(map: &Path, node: &str, into: &Path) -> String {
    let mut command = program();
    command.args(["cluster", "certificate", "--node", node, "--cluster"]).arg(map);
    let made = command.arg("--into").arg(into).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let text = String::from_utf8(made.stdout).unwrap();
    assert!(text.contains(&format!("node {node} is to have:")), "{text}");
    let name = text.lines().find_map(|line| line.strip_prefix("certificate = "));
    name.unwrap().trim_matches('"').to_owned()
}

/// The certificates that a map names, in the order of its nodes.
fn certificates(map: &Path) -> Vec<String> {
    let text = fs::read_to_string(map).unwrap();
    let names = text.lines().filter_map(|line| line.strip_prefix("certificate = "));
    names.map(|name| name.trim_matches('"').to_owned()).collect()
}

fn rewrite(map: &Path, change: impl FnOnce(String) -> String) {
    let text = fs::read_to_string(map).unwrap();
    let changed = change(text.clone());
    assert_ne!(changed, text);
    fs::write(map, changed).unwrap();
}

/// It serves by a map of its own.
async fn start_apart(cluster: &mut Cluster, map: &Path) {
    let data = cluster.of(3);
    let mut command = cluster.command(map, 3, &["--data", data.to_str().unwrap()]);
    cluster.nodes.insert(3, Process::wait(map.parent().unwrap(), &mut command));
}

/// Of a node, by a map.
fn reason(status: &Value, node: usize) -> String {
    status["nodes"][node - 1]["reason"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_with_another_certificate_is_refused_by_name() {
    let mut cluster = Cluster::running().await;
    let all = |status: &Value| (0..3).all(|node| status["nodes"][node]["tls"] == true);
    cluster.until_status("all speak TLS", |_, status| all(status)).await;
    cluster.terminate(3).await;
    let directory = cluster.directory();
    let other = cluster.folder.path().join("other");
    fs::create_dir(&other).unwrap();
    for name in ["map.toml", "root-key", "cluster-key"] {
        fs::copy(directory.join(name), other.join(name)).unwrap();
    }
    let map = other.join("map.toml");
    let refused = |cluster: &Cluster| {
        let data = cluster.of(3);
        cluster.refused(&map, 3, &["--data", data.to_str().unwrap()])
    };
    let says = refused(&cluster);
    assert!(says.contains("other/n3-cert.pem: not there; "), "{says}");
    let new = new_certificate(&map, "n3", &other);
    let old = certificates(&map)[2].clone();
    let says = refused(&cluster);
    assert!(says.contains(&format!("other/n3-cert.pem: has {new}, and ")), "{says}");
    assert!(says.contains(&format!("other/map.toml names {old} for n3; ")), "{says}");
    let key = other.join("n3-key.pem");
    fs::set_permissions(&key, Permissions::from_mode(0o640)).unwrap();
    let says = refused(&cluster);
    assert!(says.contains("n3-key.pem: others can read it (mode 640)"), "{says}");
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();

    // Its own map names it, and that of the others does not.
    rewrite(&map, |text| text.replace(&old, &new));
    start_apart(&mut cluster, &map).await;
    let shows = format!("n3 shows certificate {new}, and the map of n1 names {old}: ");
    let by_n1 = format!("a connection was refused: {shows}");
    Wait::block("n1 has refused it", || cluster.log(1).contains(&by_n1));
    Wait::block("it has been told so", || cluster.log(3).contains(&shows));
    let not_taken = "does not take the certificate that n3 shows";
    Wait::block("n1 has not connected to it either", || cluster.log(3).contains(not_taken));
    let says = format!("n3 shows certificate {new}, and the map here names {old}: ");
    let alone = serde_json::json!(["n3"]);
    let is = |well: bool, status: &Value| {
        !well && reason(status, 3).starts_with(&says) && status["unreachable"] == alone
    };
    cluster.until_status("it is said which certificate n3 shows", is).await;
    // Two of three are enough.
    let model = Model::default();
    let id = model.put(&cluster.client(1)).await;
    model.get(&cluster.client(2), id.unwrap()).await;
    assert_eq!(model.errors(), Vec::<String>::new());
    cluster.terminate(3).await;

    // It has no certificate at all.
    let lines = |text: &str, is: &dyn Fn(&str) -> bool| -> String {
        text.lines().filter(|line| is(line)).map(|line| format!("{line}\n")).collect()
    };
    rewrite(&map, |text| lines(&text, &|line| !line.starts_with("certificate")));
    start_apart(&mut cluster, &map).await;
    let says = "a connection was refused: n1 speaks TLS, and n3 plaintext: ";
    Wait::block("n1 has refused plaintext", || cluster.log(1).contains(says));
    let says = "n3 does not speak TLS, and ";
    let is = |well: bool, status: &Value| !well && reason(status, 3).starts_with(says);
    cluster.until_status("it is said that n3 does not speak TLS", is).await;
    let says = "n1 speaks TLS, and who asks plaintext: ";
    let is = |_, status: &Value| {
        reason(status, 1).starts_with(says) && status["nodes"][2]["tls"] == false
    };
    cluster.until_status_by(&map, "who asks in plaintext is told so", is).await;
    cluster.terminate(3).await;

    // Some have one, and some do not.
    let first = certificates(&directory.join("map.toml"))[0].clone();
    let all = fs::read_to_string(directory.join("map.toml")).unwrap();
    rewrite(&map, |_| lines(&all, &|line| !line.contains(&first)));
    let mixed = refused(&cluster);
    let says = "other/map.toml, line 3: node n1 has no certificate, and n2 has one: ";
    assert!(mixed.contains(says), "{mixed}");

    cluster.start(3);
    cluster.until_whole().await;
    assert_eq!(model.check(&cluster.client(3), true).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_replaced_while_the_cluster_runs() {
    let mut cluster = Cluster::running().await;
    let model = Model::default();
    model.put(&cluster.client(1)).await;
    let (directory, map) = (cluster.directory(), cluster.directory().join("map.toml"));
    let old = certificates(&map)[2].clone();
    let made = cluster.folder.path().join("new").join("of n3");
    let new = new_certificate(&map, "n3", &made);
    assert_ne!(old, new);
    // It has the one that all know until it is given the new one, also if it is killed meanwhile.
    cluster.kill(3);
    cluster.start(3);
    cluster.until_whole().await;
    rewrite(&map, |text| text.replace(&format!("\"{old}\""), &format!("[\"{old}\", \"{new}\"]")));
    // The node with the new one is the last.
    for node in [1, 2, 3] {
        if node == 3 {
            for name in ["n3-cert.pem", "n3-key.pem"] {
                fs::rename(made.join(name), directory.join(name)).unwrap();
            }
        }
        cluster.terminate(node).await;
        cluster.start(node);
        cluster.until_whole().await;
        model.put(&cluster.client(node)).await;
    }
    rewrite(&map, |text| text.replace(&format!("[\"{old}\", \"{new}\"]"), &format!("\"{new}\"")));
    cluster.terminate(1).await;
    cluster.start(1);
    cluster.until_whole().await;
    assert_eq!(model.errors(), Vec::<String>::new());
    for node in 1..=3 {
        assert_eq!(model.check(&cluster.client(node), true).await, Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_without_certificates_speaks_plaintext() {
    let mut cluster = Cluster::made(&["--plaintext"]);
    assert!(certificates(&cluster.directory().join("map.toml")).is_empty());
    assert!(!cluster.directory().join("n1-key.pem").exists());
    cluster.start_all().await;
    let is = |_, status: &Value| status["nodes"][0]["tls"] == false;
    cluster.until_status("n1 does not speak TLS", is).await;
    let model = Model::default();
    let first = model.put(&cluster.client(1)).await.unwrap();
    cluster.kill(3);
    model.put(&cluster.client(2)).await;
    model.get(&cluster.client(2), first).await;
    cluster.until_away(3).await;
    cluster.start(3);
    cluster.until_whole().await;
    assert_eq!(model.errors(), Vec::<String>::new());
    assert_eq!(model.check(&cluster.client(3), true).await, Vec::<String>::new());
}
