//! Every text scenario under `scenarios/` gives what is written below its lines.
//!
//! `UPDATE_EXPECT=1 cargo test -p pleg-tests --test scenarios` rewrites them; read the difference.

use std::{env, fs, path::Path};

#[test]
fn scenarios_give_what_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut ran = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let expected = fs::read_to_string(&path).unwrap();
        let actual = pleg_tests::scenario::run(&expected).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        if env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, &actual).unwrap();
        } else {
            assert_eq!(actual, expected, "{path:?}");
        }
        ran += 1;
    }
    assert!(ran > 5, "only {ran} scenarios found");
}
