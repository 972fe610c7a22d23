// SPDX-License-Identifier: MIT
//! cosy-bench FOLDER [REPETITIONS]: walks through a tree with the attributes of each entry by std,
//! walkdir and cosy, lists its first directory, and reads its files. Prints nanoseconds per entry of
//! each, which are instructions under a virtual machine's counting clock, and compares the results.
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Count and sum of sizes: what each contender has to agree on.
type Found = (u64, u64);

fn std_walk(folder: &Path) -> Found {
    let mut found = (0, 0);
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let metadata = entry.metadata().unwrap();
        found = (found.0 + 1, found.1 + metadata.size());
        if metadata.is_dir() {
            let below = std_walk(&entry.path());
            found = (found.0 + below.0, found.1 + below.1);
        }
    }
    found
}

fn walkdir_walk(folder: &Path) -> Found {
    let entries = walkdir::WalkDir::new(folder)
        .min_depth(1)
        .into_iter()
        .map(Result::unwrap);
    entries.fold((0, 0), |found, entry| {
        (found.0 + 1, found.1 + entry.metadata().unwrap().size())
    })
}

fn cosy_walk(folder: &Path) -> Found {
    let entries = cosy::Walk::new(folder)
        .metadata()
        .open()
        .unwrap()
        .map(Result::unwrap);
    entries.fold((0, 0), |found, entry| {
        (found.0 + 1, found.1 + entry.metadata().unwrap().len())
    })
}

fn cosy_walk_lent(folder: &Path) -> Found {
    let mut found = (0, 0);
    let mut walk = cosy::Walk::new(folder).metadata().open().unwrap();
    while let Some(event) = walk.next_event() {
        if let cosy::Event::Entry(entry) = event.unwrap() {
            found = (found.0 + 1, found.1 + entry.metadata().unwrap().len());
        }
    }
    found
}

fn std_names(folder: &Path) -> Found {
    let entries = walkdir::WalkDir::new(folder)
        .min_depth(1)
        .into_iter()
        .map(Result::unwrap);
    entries.fold((0, 0), |found, entry| {
        (found.0 + 1, found.1 + entry.path().as_os_str().len() as u64)
    })
}

fn cosy_names(folder: &Path) -> Found {
    let entries = cosy::Walk::new(folder).open().unwrap().map(Result::unwrap);
    entries.fold((0, 0), |found, entry| {
        (found.0 + 1, found.1 + entry.path().as_os_str().len() as u64)
    })
}

fn std_read(files: &[PathBuf]) -> Found {
    files.iter().fold((0, 0), |found, file| {
        (found.0 + 1, found.1 + fs::read(file).unwrap().len() as u64)
    })
}

fn cosy_read(files: &[PathBuf]) -> Found {
    let read = cosy::ReadFiles::new(files).open().unwrap();
    read.fold((0, 0), |found, bytes| {
        (found.0 + 1, found.1 + bytes.unwrap().len() as u64)
    })
}

fn measure(
    name: &str,
    repetitions: u32,
    expected: &mut Option<Found>,
    mut work: impl FnMut() -> Found,
) {
    for repetition in 0..repetitions {
        let begin = Instant::now();
        let found = work();
        let each = begin.elapsed().as_nanos() as u64 / found.0.max(1);
        assert_eq!(
            *expected.get_or_insert(found),
            found,
            "{name} found something else"
        );
        println!("{name}: run {repetition}: {each} per entry");
    }
}

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().expect("cosy-bench FOLDER [REPETITIONS]"));
    let repetitions = arguments
        .next()
        .map_or(3, |text| text.to_str().unwrap().parse().unwrap());
    let (mut walked, mut named, mut read) = (None, None, None);
    measure("walk std", repetitions, &mut walked, || std_walk(&folder));
    measure("walk walkdir", repetitions, &mut walked, || {
        walkdir_walk(&folder)
    });
    measure("walk cosy", repetitions, &mut walked, || cosy_walk(&folder));
    measure("walk cosy, lent", repetitions, &mut walked, || {
        cosy_walk_lent(&folder)
    });
    measure("names walkdir", repetitions, &mut named, || {
        std_names(&folder)
    });
    measure("names cosy", repetitions, &mut named, || {
        cosy_names(&folder)
    });
    let files = walkdir::WalkDir::new(&folder)
        .into_iter()
        .map(Result::unwrap);
    let files: Vec<_> = files
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| entry.into_path())
        .collect();
    measure("read std", repetitions, &mut read, || std_read(&files));
    measure("read cosy", repetitions, &mut read, || cosy_read(&files));
}
