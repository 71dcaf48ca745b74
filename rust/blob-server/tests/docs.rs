//! The table of options in `docs/blob.md` is that of the program. `AFTERBAY_DOCS_WRITE=true` writes it anew. The commands of the README and
//! of the guide are run by `clients/test_docs.py`.

use std::fmt::Write;
use std::path::PathBuf;

use afterbay_blob_server::cli::Cli;
use clap::CommandFactory;

const BEGIN: &str = "<!-- begin: serve options -->\n";
const END: &str = "<!-- end: serve options -->";

fn table() -> String {
    let mut command = Cli::command();
    command.build();
    let serve = command.find_subcommand("serve").unwrap();
    let mut table = "| option | default | |\n|---|---|---|\n".to_owned();
    for argument in serve.get_arguments() {
        let Some(name) = argument.get_long().filter(|name| !["help", "version"].contains(name))
        else {
            continue;
        };
        let takes_value = argument.get_action().takes_values();
        let value = argument.get_value_names().and_then(|names| names.first());
        let value = value.filter(|_| takes_value).map(|value| format!(" {value}"));
        let value = value.unwrap_or_default();
        let defaults: Vec<_> =
            argument.get_default_values().iter().map(|value| value.to_str().unwrap()).collect();
        let default = defaults.join(", ");
        let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
        let help = argument.get_help().unwrap().to_string();
        writeln!(table, "| `--{name}{value}` | {default} | {help} |").unwrap();
    }
    table
}

#[test]
fn the_table_of_options_is_that_of_the_program() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/blob.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let begin = page.find(BEGIN).unwrap() + BEGIN.len();
    let end = page.find(END).unwrap();
    let expected = format!("{}{}{}", &page[..begin], table(), &page[end..]);
    if std::env::var_os("AFTERBAY_DOCS_WRITE").is_some() {
        return std::fs::write(&path, &expected).unwrap();
    }
    assert!(page == expected, "docs/blob.md: run this test with AFTERBAY_DOCS_WRITE=true");
}

/// What the page says about Ceph's s3-tests is the list's: each case that does not pass is there, and no other one. The table is that of the
/// report which `./afterbay bench blob --s3-tests DIR --report FILE` writes.
#[test]
fn the_cases_that_fail_are_those_of_the_list() {
    let read = |path: &str| {
        std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
    };
    let cases = |list: &str| -> Vec<String> {
        let names = list.lines().map(|line| line.split('#').next().unwrap().trim().to_owned());
        names.filter(|name| !name.is_empty()).collect()
    };
    let page = read("../../docs/blob-s3.md");
    let (_, chapter) = page.split_once("## Ceph's s3-tests").unwrap();
    let mut shown: Vec<_> =
        chapter.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    shown.sort_unstable();
    let mut known = cases(&read("../blob-s3/s3-tests/known-failures.txt"));
    known.sort_unstable();
    assert_eq!(shown, known);
    let commit = read("../blob-s3/s3-tests/commit.txt");
    let core = cases(&read("../blob-s3/s3-tests/core.txt"));
    let passed = core.len() - known.len();
    let counted = format!("s3-tests at {}: {passed} passed", &commit[..7]);
    assert!(chapter.contains(&counted), "{counted}");
}
