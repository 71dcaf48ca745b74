//! What is in the folder of an output that somebody has changed, or that two want.

use afterbay_edge_gateway::output::{FileOutput, Output};
use afterbay_edge_gateway::{Refused, Row};

/// A line that is not right is a torn end, or damage in front of what was acknowledged.
#[test]
fn a_damaged_record_is_no_torn_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut output = FileOutput::open(folder.path(), "").unwrap();
    output.recover().unwrap();
    for number in 0..4 {
        let json = format!("{{\"x\":{number}}}");
        let row = Row { stream: "rows".into(), late: false, partition: 0, json };
        output.commit(&[row], &[("next".into(), number.to_string())]).unwrap();
    }
    let (rows, progress) =
        (folder.path().join("rows/00000.ndjson"), folder.path().join("progress"));
    let (whole, log) = (std::fs::read(&rows).unwrap(), std::fs::read(&progress).unwrap());
    for at in [0, log.len() / 2, log.iter().position(|byte| *byte == b'\n').unwrap()] {
        let mut changed = log.clone();
        changed[at] ^= 1;
        std::fs::write(&progress, &changed).unwrap();
        let error = output.recover().unwrap_err().to_string();
        assert!(error.contains("progress: damaged at line "), "{error}");
        assert_eq!(std::fs::read(&rows).unwrap(), whole, "nothing is cut");
        assert_eq!(std::fs::read(&progress).unwrap(), changed);
    }
    // In the last line, it is what was never synced; so is a part of it.
    let last = log[..log.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for length in [log.len() - 1, last + 1, last + 20] {
        std::fs::write(&progress, &log[..length]).unwrap();
        std::fs::write(&rows, &whole).unwrap();
        assert_eq!(output.recover().unwrap()["next"], "2");
        let text = std::fs::read_to_string(&progress).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(std::fs::read(&rows).unwrap().len() < whole.len());
    }
}

#[test]
fn two_gateways_do_not_share_an_output_and_damage_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut output = FileOutput::open(folder.path(), "").unwrap();
    let error = FileOutput::open(folder.path(), "").unwrap_err().to_string();
    assert!(error.contains("another gateway writes here"), "{error}");
    output.recover().unwrap();
    let row = Row { stream: "rows".into(), late: true, partition: 7, json: "{}".into() };
    output.commit(&[row], &[]).unwrap();
    drop(output);
    let path = folder.path().join("rows.late/00007.ndjson");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
    assert_eq!(std::fs::read_to_string(path.with_extension("committed")).unwrap(), "3\n");
    // What no commit has is cut off, whether its file is known or not.
    std::fs::write(&path, "{}\n{\"half").unwrap();
    std::fs::write(folder.path().join("rows.late/00008.ndjson"), "{}\n").unwrap();
    let mut output = FileOutput::open(folder.path(), "").unwrap();
    output.recover().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
    assert_eq!(std::fs::read_to_string(folder.path().join("rows.late/00008.ndjson")).unwrap(), "");
    std::fs::write(&path, "").unwrap();
    let error = output.recover().unwrap_err().to_string();
    assert!(error.contains("00007.ndjson: 3 bytes of it were committed, and it has 0"), "{error}");
}

/// A site alone is told so: a commit that fails is of all of them.
#[test]
fn streams_that_are_called_as_files_of_the_gateway_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (prefix, stream) in [("", "progress"), ("", "lock"), ("progress.", "new")] {
        let mut output = FileOutput::open(folder.path(), prefix).unwrap();
        output.recover().unwrap();
        let refused = output.refuses(stream);
        let is_named =
            |why: &str| why.contains(&format!("stream {stream} ")) && why.contains("--stream");
        assert!(matches!(&refused, Some(Refused::Wrong(why)) if is_named(why)), "{refused:?}");
        assert_eq!(output.refuses("rows"), None);
    }
    let mut output = FileOutput::open(folder.path(), "").unwrap();
    let path = folder.path().join("rows");
    std::fs::write(&path, "").unwrap();
    let refused = output.refuses("rows");
    assert!(matches!(&refused, Some(Refused::NotNow(why)) if why.contains("move it away")));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(output.refuses("rows"), None);
}
