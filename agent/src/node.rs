//! Who this node is: its name and the id of its boot.

use std::{fs, path::Path};

/// The node's name: `given` if there is one, else the host name, else `localhost`.
pub(crate) fn name(given: Option<String>, root: &Path) -> String {
    given.or_else(|| line(&root.join("proc/sys/kernel/hostname"))).unwrap_or_else(|| "localhost".to_owned())
}

/// Id of the kernel's boot; empty where the kernel does not tell.
pub(crate) fn boot_id(root: &Path) -> String {
    line(&root.join("proc/sys/kernel/random/boot_id")).unwrap_or_default()
}

fn line(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_wins_over_the_host_name() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(name(None, root.path()), "localhost");
        fs::create_dir_all(root.path().join("proc/sys/kernel")).unwrap();
        fs::write(root.path().join("proc/sys/kernel/hostname"), "worker-3\n").unwrap();
        assert_eq!(name(None, root.path()), "worker-3");
        assert_eq!(name(Some("flag".to_owned()), root.path()), "flag");
        assert_eq!(boot_id(root.path()), "");
    }
}
