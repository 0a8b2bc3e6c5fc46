//! The content of the published package.

use std::path::Path;
use std::process::Command;

/// The largest file but for `Cargo.lock` is the demo's schemas.
const MAX_FILE: u64 = 150 * 1024;

#[test]
fn package_contains_no_tests_and_no_large_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--offline", "--locked"])
        .current_dir(root)
        .output()
        .expect("cargo runs");
    assert!(list.status.success(), "{}", String::from_utf8_lossy(&list.stderr));
    let list = String::from_utf8(list.stdout).expect("text");
    assert!(
        ["src/lib.rs", "src/bin/kdelta/main.rs", "LICENSE"]
            .iter()
            .all(|file| list.lines().any(|line| line == *file))
    );
    for file in list.lines() {
        let is_test = ["tests/", "benches/", "fuzz/", ".ci/"].iter().any(|folder| file.starts_with(folder));
        assert!(
            !is_test && Path::new(file).extension().is_none_or(|end| end != "go"),
            "{file} is not for users"
        );
        // Cargo generates some of the files.
        let bytes = root.join(file).metadata().map_or(0, |file| file.len());
        assert!(bytes <= MAX_FILE, "{file} has {bytes} bytes");
    }
}
