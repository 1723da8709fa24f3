// SPDX-License-Identifier: BSD-2-Clause
//! Every input that the fuzzers have kept, once more: those that were once a fault among them.

#[path = "../fuzz/bodies/acf.rs"]
mod acf;
#[path = "../fuzz/bodies/circuit.rs"]
mod circuit;
#[path = "../fuzz/bodies/database.rs"]
mod database;
#[path = "../fuzz/bodies/datagram.rs"]
mod datagram;
#[path = "../fuzz/bodies/served.rs"]
mod served;

use std::path::Path;

/// Runs each file of a corpus through its body; a panic names the file.
fn all(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rtems-tests/fuzz/corpus").join(target);
    let mut inputs = 0;
    for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("a readable folder").path();
        println!("{}", path.display());
        run(&std::fs::read(&path).expect("a readable file"));
        inputs += 1;
    }
    assert!(inputs > 0, "{} is empty", folder.display());
}

#[test]
fn datagrams() {
    all("datagram", datagram::run);
}

#[test]
fn circuits() {
    all("circuit", circuit::run);
}

#[test]
fn databases() {
    all("database", database::run);
}

#[test]
fn access_security_files() {
    all("acf", acf::run);
}
