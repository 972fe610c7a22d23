// SPDX-License-Identifier: MIT
//! What is lent, owned and passed through C. These tests run under Miri, above cosy-sys's fake library,
//! whose directory holds a, b and c, of which c fails.
#![cfg(miri)]
use cosy::{CopyTree, Event, ReadFiles, RemoveTree, Scan, StatMany, Walk};
use std::ops::ControlFlow;
use std::path::Path;

#[test]
fn entries_outlive_the_scan() {
    let mut scan = Scan::new("d").metadata().open().unwrap();
    assert_eq!(scan.next_entry().unwrap().unwrap().file_name(), "a");
    let rest: Vec<_> = scan.map(Result::unwrap).collect();
    assert_eq!(rest[0].file_name(), "b");
    assert_eq!(rest[0].metadata().unwrap().len(), 7);
    assert_eq!(rest[1].metadata().unwrap_err().raw_os_error(), Some(2));
}

#[test]
fn events_are_lent() {
    let mut walk = Walk::new("d").metadata().open().unwrap();
    let mut names = String::new();
    while let Some(event) = walk.next_event() {
        if let Event::Entry(entry) = event.unwrap() {
            names.push_str(entry.path().to_str().unwrap());
        }
        walk.skip_directory();
    }
    assert_eq!(names, "abc");
    drop(Walk::new("d").open().unwrap());
}

#[test]
fn paths_live_as_long_as_the_files() {
    let files = ReadFiles::new(["a", "b", "c"]).open().unwrap();
    let mut moved = vec![files];
    let mut files = moved.pop().unwrap();
    assert_eq!(files.next_file().unwrap().unwrap().data(), b"");
    assert_eq!(files.next_file().unwrap().unwrap().data(), b"x");
    assert!(files.next().unwrap().is_err());
    assert!(files.next().is_none());
}

#[test]
fn results_are_written() {
    let results = StatMany::new().run(["a", "c"]).unwrap();
    assert_eq!(results[0].as_ref().unwrap().len(), Some(7));
    assert!(results[1].is_err());
}

#[test]
fn functions_and_panics_pass_through_c() {
    let mut count = 0;
    let counted = |_: &Path, _| {
        count += 1;
        ControlFlow::Continue(())
    };
    assert!(CopyTree::new("a", "b").run_with(counted).is_err());
    assert_eq!(count, 2);
    let stopped = std::panic::catch_unwind(|| RemoveTree::new("a").run_with(|_, _| panic!("stop")));
    assert!(stopped.is_err());
    assert!(RemoveTree::new("a").run().is_err());
}
