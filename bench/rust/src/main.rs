// SPDX-License-Identifier: MIT
//! cosy-bench WAY [ROW]: lists, walks, examines and reads a tree of files by std, walkdir and cosy.
//!
//! Prints a line of JSON for each row and contender: nanoseconds per entry, which are instructions
//! where the clock counts those. Ends with an error if the contenders find different things.
//! bench/rust.py runs it in a virtual machine.
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

const FOLDERS: usize = 100;
const FILES: usize = 20; // in each
/// Turns before the two that count: libcosy enters the kernel when that has paid.
const WARM: u32 = 12;

/// Count and sum of sizes: what each contender has to agree on.
type Found = (u64, u64);

fn total(sizes: impl Iterator<Item = u64>) -> Found {
    sizes.fold((0, 0), |found, size| (found.0 + 1, found.1 + size))
}

/// The bytes of a path, for rows that use names.
fn length(path: &Path) -> u64 {
    path.as_os_str().len() as u64
}

fn make(top: &Path) {
    for folder in 0..FOLDERS {
        let folder = top.join(format!("dir{}/sub{}", folder / 10, folder % 10));
        fs::create_dir_all(&folder).unwrap();
        for file in 0..FILES {
            fs::write(
                folder.join(format!("file{file}.txt")),
                vec![b'x'; 100 * file],
            )
            .unwrap();
        }
    }
}

/// Walks as std has it: a directory after the other, each by its path.
fn std_walk(folder: &Path, size: &dyn Fn(&fs::DirEntry) -> u64) -> Found {
    let mut found = (0, 0);
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        found = (found.0 + 1, found.1 + size(&entry));
        if entry.file_type().unwrap().is_dir() {
            let below = std_walk(&entry.path(), size);
            found = (found.0 + below.0, found.1 + below.1);
        }
    }
    found
}

fn walkdir(top: &Path) -> impl Iterator<Item = walkdir::DirEntry> {
    let entries = walkdir::WalkDir::new(top).min_depth(1).into_iter();
    entries.map(Result::unwrap)
}

/// Adds up what `size` returns for the entries of a walk that lends them.
fn lent<A: cosy::Attributes>(
    mut walk: cosy::Walking<'_, A>,
    size: impl Fn(cosy::Entry<'_, A>) -> u64,
) -> Found {
    let mut found = (0, 0);
    while let Some(event) = walk.next_event() {
        if let cosy::Event::Entry(entry) = event.unwrap() {
            found = (found.0 + 1, found.1 + size(entry));
        }
    }
    found
}

fn cosy_read_lent(files: &[PathBuf]) -> Found {
    let mut read = cosy::ReadFiles::new(files).open().unwrap();
    let mut found = (0, 0);
    while let Some(file) = read.next_file() {
        found = (found.0 + 1, found.1 + file.unwrap().data().len() as u64);
    }
    found
}

/// Measures the contenders of one row, if its name has what the second argument asks for.
fn measure(way: &str, row: &str, contenders: &[(&str, &dyn Fn() -> Found)]) {
    if std::env::args()
        .nth(2)
        .is_some_and(|wanted| !row.contains(&wanted))
    {
        return;
    }
    let mut expected = None;
    for (contender, work) in contenders {
        let mut best = u64::MAX;
        for turn in 0..WARM + 2 {
            let begun = Instant::now();
            let found = work();
            let took = begun.elapsed().as_nanos() as u64 / found.0.max(1);
            assert_eq!(*expected.get_or_insert(found), found, "{row}, {contender}");
            if turn >= WARM {
                best = best.min(took);
            }
        }
        println!(
            r#"{{"way": "{way}", "row": "{row}", "contender": "{contender}", "each": {best}}}"#
        );
    }
}

fn main() {
    let way = std::env::args().nth(1).expect("cosy-bench WAY");
    let top = std::env::temp_dir().join("tree");
    if !top.exists() {
        make(&top);
    }
    let folder = top.join("dir0/sub0");
    let paths: Vec<_> = walkdir(&top)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| entry.into_path())
        .collect();

    measure(
        &way,
        "a directory, metadata",
        &[
            ("std", &|| {
                let entries = fs::read_dir(&folder).unwrap().map(Result::unwrap);
                total(entries.map(|entry| entry.metadata().unwrap().size()))
            }),
            ("cosy", &|| {
                let entries = cosy::Scan::new(&folder).metadata().open().unwrap();
                total(entries.map(|entry| entry.unwrap().metadata().unwrap().len()))
            }),
        ],
    );
    measure(
        &way,
        "a tree, metadata",
        &[
            ("std", &|| {
                std_walk(&top, &|entry| entry.metadata().unwrap().size())
            }),
            ("walkdir", &|| {
                total(walkdir(&top).map(|entry| entry.metadata().unwrap().size()))
            }),
            ("cosy", &|| {
                let entries = cosy::Walk::new(&top).metadata().open().unwrap();
                total(entries.map(|entry| entry.unwrap().metadata().unwrap().len()))
            }),
            ("lent", &|| {
                let walk = cosy::Walk::new(&top).metadata().open().unwrap();
                lent(walk, |entry| entry.metadata().unwrap().len())
            }),
        ],
    );
    measure(
        &way,
        "a tree, paths",
        &[
            ("std", &|| std_walk(&top, &|entry| length(&entry.path()))),
            ("walkdir", &|| {
                total(walkdir(&top).map(|entry| length(entry.path())))
            }),
            ("cosy", &|| {
                let entries = cosy::Walk::new(&top).open().unwrap();
                total(entries.map(|entry| length(entry.unwrap().path())))
            }),
            ("lent", &|| {
                lent(cosy::Walk::new(&top).open().unwrap(), |entry| {
                    length(entry.path())
                })
            }),
        ],
    );
    measure(
        &way,
        "metadata of paths",
        &[
            ("std", &|| {
                total(paths.iter().map(|path| fs::metadata(path).unwrap().size()))
            }),
            ("cosy", &|| {
                let found = cosy::StatMany::new().run(&paths).unwrap();
                total(
                    found
                        .iter()
                        .map(|statx| statx.as_ref().unwrap().len().unwrap()),
                )
            }),
        ],
    );
    measure(
        &way,
        "contents of files",
        &[
            ("std", &|| {
                total(
                    paths
                        .iter()
                        .map(|path| fs::read(path).unwrap().len() as u64),
                )
            }),
            ("cosy", &|| {
                let read = cosy::ReadFiles::new(&paths).open().unwrap();
                total(read.map(|bytes| bytes.unwrap().len() as u64))
            }),
            ("lent", &|| cosy_read_lent(&paths)),
        ],
    );
}
