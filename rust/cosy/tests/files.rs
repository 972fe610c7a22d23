// SPDX-License-Identifier: MIT
//! Compares with what std returns for the same trees.
use cosy::{CopyTree, Event, ReadFiles, RemoveTree, Scan, StatMany, Walk};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{symlink, DirEntryExt, MetadataExt};
use std::os::unix::io::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of its own, which ends with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "cosy-rust-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    /// Two levels of folders, files of several sizes, links, and a name that is not UTF-8.
    fn filled() -> Folder {
        let folder = Folder::new();
        for outer in 0..3 {
            for inner in 0..4 {
                let path = folder.0.join(format!("outer{outer}/inner{inner}"));
                fs::create_dir_all(&path).unwrap();
                for file in 0..20 {
                    fs::write(path.join(format!("file{file}")), vec![b'x'; 100 * file]).unwrap();
                }
            }
        }
        symlink("outer0", folder.0.join("link")).unwrap();
        symlink("missing", folder.0.join("dangling")).unwrap();
        fs::write(
            folder.0.join(OsString::from_vec(vec![b'a', 0xff])),
            b"bytes",
        )
        .unwrap();
        folder
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Walks by std: paths with size, mode and inode.
fn walked_by_std(folder: &Path, found: &mut BTreeMap<PathBuf, (u64, u32, u64)>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let metadata = entry.metadata().unwrap();
        found.insert(
            entry.path(),
            (metadata.size(), metadata.mode(), metadata.ino()),
        );
        if metadata.is_dir() {
            walked_by_std(&entry.path(), found);
        }
    }
}

#[test]
fn scan_returns_the_entries_of_std() {
    let folder = Folder::filled();
    let mut expected: Vec<_> = fs::read_dir(&folder.0)
        .unwrap()
        .map(Result::unwrap)
        .map(|entry| {
            (
                entry.file_name(),
                entry.metadata().unwrap().size(),
                entry.ino(),
            )
        })
        .collect();
    let mut found: Vec<_> = Scan::new(&folder.0)
        .metadata()
        .open()
        .unwrap()
        .map(Result::unwrap)
        .map(|entry| {
            (
                entry.file_name(),
                entry.metadata().unwrap().len(),
                entry.ino(),
            )
        })
        .collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn scan_follows_links_when_asked() {
    let folder = Folder::filled();
    let type_of_link = |followed: bool| {
        let scan = Scan::new(&folder.0).metadata();
        let scan = if followed { scan.follow() } else { scan };
        let mut entries = scan.open().unwrap().map(Result::unwrap);
        entries
            .find(|entry| entry.file_name() == "link")
            .unwrap()
            .metadata()
            .unwrap()
            .is_dir()
    };
    assert!(type_of_link(true));
    assert!(!type_of_link(false));
}

#[test]
fn walk_returns_what_std_finds() {
    let folder = Folder::filled();
    let mut expected = BTreeMap::new();
    walked_by_std(&folder.0, &mut expected);
    let mut found = BTreeMap::new();
    for entry in Walk::new(&folder.0).metadata().open().unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        found.insert(
            entry.path().to_path_buf(),
            (metadata.len(), metadata.mode(), metadata.ino()),
        );
    }
    assert_eq!(found, expected);
}

#[test]
fn walk_begins_at_a_directory() {
    let folder = Folder::filled();
    let directory = fs::File::open(&folder.0).unwrap();
    let walk = Walk::new("outer1")
        .at(directory.as_fd())
        .max_depth(1)
        .open()
        .unwrap();
    let mut names: Vec<_> = walk.map(|entry| entry.unwrap().into_path()).collect();
    names.sort();
    assert_eq!(
        names,
        (0..4)
            .map(|i| PathBuf::from(format!("outer1/inner{i}")))
            .collect::<Vec<_>>()
    );
}

#[test]
fn walk_leaves_what_it_enters_and_skips() {
    let folder = Folder::filled();
    let mut walk = Walk::new(&folder.0).report_leave().open().unwrap();
    let (mut entered, mut left) = (0, 0);
    loop {
        let skip = match walk.next_event() {
            None => break,
            Some(Ok(Event::Enter(directory))) => {
                let skip = directory.depth() == 1 && directory.file_name() == "outer2";
                entered += 1;
                skip
            }
            Some(Ok(Event::Leave(_))) => {
                left += 1;
                false
            }
            Some(event) => {
                event.unwrap();
                false
            }
        };
        if skip {
            walk.skip_directory();
        }
    }
    assert_eq!(entered, 1 + 3 + 8); // what is in outer2 was not entered
    assert_eq!(left, entered);
}

#[test]
fn errors_are_std_s() {
    assert_eq!(
        Scan::new("/missing").open().unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(
        Walk::new("/dev/null").open().unwrap_err().raw_os_error(),
        Some(20)
    );
    assert_eq!(
        Scan::new("a\0b").open().unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        ReadFiles::new(["a\0b"]).open().unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn stat_many_returns_each_result() {
    let folder = Folder::filled();
    let directory = fs::File::open(&folder.0).unwrap();
    let names = ["outer0/inner0/file3", "missing", "link", "dangling"];
    let found = StatMany::new().at(directory.as_fd()).run(names).unwrap();
    assert_eq!(found[0].as_ref().unwrap().len(), Some(300));
    assert_eq!(found[1].as_ref().unwrap_err().kind(), ErrorKind::NotFound);
    assert!(found[2].as_ref().unwrap().file_type().unwrap().is_dir());
    assert_eq!(found[3].as_ref().unwrap_err().kind(), ErrorKind::NotFound);
    let own = StatMany::new()
        .at(directory.as_fd())
        .no_follow()
        .run(names)
        .unwrap();
    assert!(own[2].as_ref().unwrap().file_type().unwrap().is_symlink());
    assert!(own[3].as_ref().unwrap().modified().is_some());
    assert!(StatMany::new()
        .run(Vec::<PathBuf>::new())
        .unwrap()
        .is_empty());
}

#[test]
fn stat_many_takes_any_number_of_paths() {
    let folder = Folder::filled();
    let paths: Vec<_> = (0..300)
        .map(|i| {
            folder
                .0
                .join(format!("outer{}/inner0/file{}", i % 3, i % 20))
        })
        .collect();
    let found = StatMany::new().run(&paths).unwrap();
    let sizes: Vec<_> = found
        .iter()
        .map(|statx| statx.as_ref().unwrap().len().unwrap())
        .collect();
    assert_eq!(sizes, (0..300).map(|i| i % 20 * 100).collect::<Vec<_>>());
    let statx = found[7].as_ref().unwrap();
    let metadata = fs::metadata(&paths[7]).unwrap();
    assert_eq!(statx.ino(), Some(metadata.ino()));
    assert_eq!(statx.modified(), Some(metadata.modified().unwrap()));
    assert_eq!(statx.permissions(), Some(metadata.mode() & 0o7777));
    let wrong = paths
        .iter()
        .map(|path| path.as_path())
        .chain([Path::new("a\0b")]);
    let error = StatMany::new().run(wrong).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

#[test]
fn paths_of_entries_have_any_length() {
    let folder = Folder::new();
    let mut path = folder.0.clone();
    let mut expected = Vec::new();
    for length in [1, 20, 30, 40, 200] {
        path.push("d".repeat(length));
        fs::create_dir(&path).unwrap();
        expected.push(path.clone());
    }
    let entries = || Walk::new(&folder.0).open().unwrap().map(Result::unwrap);
    for (entry, path) in entries().zip(&expected) {
        assert_eq!(entry.path(), path);
        assert_eq!(entry.file_name(), path.file_name().unwrap());
        assert!(format!("{entry:?}").contains(path.to_str().unwrap()));
        assert_eq!(&entry.clone().into_path(), path);
    }
    assert_eq!(entries().count(), expected.len());
}

#[test]
fn files_are_read_in_their_order() {
    let folder = Folder::filled();
    let paths: Vec<_> = (0..20)
        .rev()
        .map(|i| folder.0.join(format!("outer0/inner0/file{i}")))
        .collect();
    let mut files = ReadFiles::new(&paths).open().unwrap();
    let mut index = 0;
    while let Some(file) = files.next_file() {
        let file = file.unwrap();
        assert_eq!(file.index(), index);
        assert_eq!(file.data(), fs::read(&paths[index]).unwrap());
        index += 1;
    }
    assert_eq!(index, paths.len());
    let mixed = [folder.0.join("missing"), folder.0.clone(), paths[0].clone()];
    let read: Vec<_> = ReadFiles::new(mixed)
        .max_size(1000)
        .open()
        .unwrap()
        .collect();
    assert_eq!(read[0].as_ref().unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(read[1].as_ref().unwrap_err().raw_os_error(), Some(21));
    assert_eq!(read[2].as_ref().unwrap_err().raw_os_error(), Some(27));
}

#[test]
fn a_tree_is_copied_and_removed() {
    let folder = Folder::filled();
    let copy = Folder::new();
    let to = copy.0.join("copy");
    CopyTree::new(&folder.0, &to).times().run().unwrap();
    let (mut from_tree, mut to_tree) = (BTreeMap::new(), BTreeMap::new());
    walked_by_std(&folder.0, &mut from_tree);
    walked_by_std(&to, &mut to_tree);
    let without = |tree: &BTreeMap<PathBuf, (u64, u32, u64)>, root: &Path| -> Vec<_> {
        let files = tree
            .iter()
            .filter(|(_, value)| value.1 & 0o170000 != 0o040000);
        files
            .map(|(path, value)| {
                (
                    path.strip_prefix(root).unwrap().to_path_buf(),
                    value.0,
                    value.1,
                )
            })
            .collect()
    };
    assert_eq!(without(&to_tree, &to), without(&from_tree, &folder.0));
    assert_eq!(
        CopyTree::new(&folder.0, &to).run().unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    RemoveTree::new(&to).keep_first().run().unwrap();
    assert_eq!(fs::read_dir(&to).unwrap().count(), 0);
    RemoveTree::new(&to).run().unwrap();
    assert!(!to.exists());
    assert_eq!(
        RemoveTree::new(&to).run().unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

#[test]
fn failures_are_reported_and_panics_go_on() {
    let folder = Folder::filled();
    let to = Folder::new();
    fs::create_dir(to.0.join("link")).unwrap(); // in the way of a symbolic link
    fs::create_dir(to.0.join("dangling")).unwrap();
    let mut failed = Vec::new();
    let copy = CopyTree::new(&folder.0, &to.0).into_existing();
    let result = copy.run_with(|path, error| {
        failed.push((path.to_path_buf(), error.raw_os_error()));
        ControlFlow::Continue(())
    });
    assert!(result.is_err());
    failed.sort();
    let paths: Vec<_> = failed
        .iter()
        .map(|(path, _)| path.file_name().unwrap().to_owned())
        .collect();
    assert_eq!(paths, ["dangling", "link"]);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        copy.run_with(|_, _| panic!("stop"))
    }));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"stop"));
}

#[test]
fn handles_move_between_threads() {
    let folder = Folder::filled();
    let mut walk = Walk::new(&folder.0).open().unwrap();
    walk.next().unwrap().unwrap();
    let rest = std::thread::spawn(move || walk.filter(Result::is_ok).count())
        .join()
        .unwrap();
    assert_eq!(rest + 1, Walk::new(&folder.0).open().unwrap().count());
}
