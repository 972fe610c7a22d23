// SPDX-License-Identifier: MIT
//! libcosy for Miri, which calls no C: three entries of a directory, a file with bytes, a failure.
//! It frees what a handle has lent when the next call comes, so that Miri notices who uses it longer.
use crate::*;
use std::ffi::CString;
use std::os::raw::{c_char, c_int, c_void};

const NAMES: [&str; 3] = ["a", "b", "c"];
const ENOENT: c_int = 2;

/// What a handle points to: the entry or file that was lent last.
struct Handle {
    position: usize,
    lent: Option<Lent>,
}

/// Raw pointers throughout: a box that moves would end what was lent from it.
struct Lent {
    name: *mut c_char,
    bytes: *mut Vec<u8>,
    stat: *mut stat,
    entry: *mut cosy_dir_entry,
    file: *mut cosy_file,
}

impl Drop for Lent {
    fn drop(&mut self) {
        // SAFETY: each came from into_raw.
        unsafe {
            drop(CString::from_raw(self.name));
            drop(Box::from_raw(self.bytes));
            drop(Box::from_raw(self.stat));
            drop(Box::from_raw(self.entry));
            drop(Box::from_raw(self.file));
        }
    }
}

impl Handle {
    fn open() -> *mut Handle {
        Box::into_raw(Box::new(Handle {
            position: 0,
            lent: None,
        }))
    }

    /// Frees what was lent and lends the next.
    fn next(&mut self, event: u8) -> Option<&Lent> {
        self.lent = None;
        let text = NAMES.get(self.position)?;
        let name = CString::new(*text).unwrap().into_raw();
        // SAFETY: a structure of numbers.
        let mut attributes: Box<stat> = Box::new(unsafe { std::mem::zeroed() });
        attributes.st_size = 7;
        let attributes = Box::into_raw(attributes);
        let bytes = Box::into_raw(Box::new(vec![b'x'; self.position]));
        let error = if self.position == 2 { ENOENT } else { 0 };
        let entry = Box::into_raw(Box::new(cosy_dir_entry {
            name,
            path: name,
            name_length: 1,
            path_length: 1,
            stat: if error == 0 {
                attributes
            } else {
                std::ptr::null()
            },
            inode: 1,
            error,
            depth: 1,
            type_: 8,
            event,
        }));
        let file = Box::into_raw(Box::new(cosy_file {
            index: self.position as _,
            path: name,
            // SAFETY: `bytes` was made above.
            data: unsafe { (*bytes).as_ptr().cast() },
            size: self.position as _,
            error,
        }));
        self.position += 1;
        self.lent = Some(Lent {
            name,
            bytes,
            stat: attributes,
            entry,
            file,
        });
        self.lent.as_ref()
    }
}

unsafe fn next_entry(handle: *mut Handle, entry: *mut *const cosy_dir_entry) -> c_int {
    match (*handle).next(COSY_WALK_ENTRY as u8) {
        Some(lent) => {
            *entry = lent.entry;
            1
        }
        None => 0,
    }
}

#[no_mangle]
unsafe extern "C" fn cosy_scan_open(_: c_int, _: *const c_char, _: u32) -> *mut cosy_scan {
    Handle::open().cast()
}
#[no_mangle]
unsafe extern "C" fn cosy_scan_next(
    scan: *mut cosy_scan,
    entry: *mut *const cosy_dir_entry,
) -> c_int {
    next_entry(scan.cast(), entry)
}
#[no_mangle]
unsafe extern "C" fn cosy_scan_close(scan: *mut cosy_scan) {
    drop(Box::from_raw(scan.cast::<Handle>()));
}
#[no_mangle]
unsafe extern "C" fn cosy_walk_open(
    _: c_int,
    _: *const c_char,
    _: *const cosy_walk_options,
) -> *mut cosy_walk {
    Handle::open().cast()
}
#[no_mangle]
unsafe extern "C" fn cosy_walk_next(
    walk: *mut cosy_walk,
    entry: *mut *const cosy_dir_entry,
) -> c_int {
    next_entry(walk.cast(), entry)
}
#[no_mangle]
unsafe extern "C" fn cosy_walk_skip(_: *mut cosy_walk) -> c_int {
    0
}
#[no_mangle]
unsafe extern "C" fn cosy_walk_close(walk: *mut cosy_walk) {
    drop(Box::from_raw(walk.cast::<Handle>()));
}
#[no_mangle]
unsafe extern "C" fn cosy_stat_many(
    _: c_int,
    names: *const *const c_char,
    count: size_t,
    _: c_int,
    mask: u32,
    results: *mut cosy_stat_result,
) -> ssize_t {
    for i in 0..count as usize {
        let first = **names.add(i);
        let mut result: cosy_stat_result = std::mem::zeroed();
        result.error = if first == b'c' as c_char { ENOENT } else { 0 };
        result.statx.stx_mask = mask;
        result.statx.stx_size = 7;
        results.add(i).write(result);
    }
    0
}
#[no_mangle]
unsafe extern "C" fn cosy_read_files_open(
    _: c_int,
    paths: *const *const c_char,
    count: size_t,
    _: *const cosy_read_options,
) -> *mut cosy_read_files {
    for i in 0..count as usize {
        assert_ne!(**paths.add(i), 0);
    }
    Handle::open().cast()
}
#[no_mangle]
unsafe extern "C" fn cosy_read_files_next(
    files: *mut cosy_read_files,
    file: *mut *const cosy_file,
) -> c_int {
    match (*files.cast::<Handle>()).next(0) {
        Some(lent) => {
            *file = lent.file;
            1
        }
        None => 0,
    }
}
#[no_mangle]
unsafe extern "C" fn cosy_read_files_close(files: *mut cosy_read_files) {
    drop(Box::from_raw(files.cast::<Handle>()));
}

unsafe fn fail_twice(failed: cosy_failed_function, argument: *mut c_void) -> c_int {
    if let Some(failed) = failed {
        let path = CString::new("a").unwrap();
        let _ = failed(argument, path.as_ptr(), ENOENT) == 0
            && failed(argument, path.as_ptr(), ENOENT) == 0;
    }
    -1
}
#[no_mangle]
unsafe extern "C" fn cosy_copy_tree(
    _: c_int,
    _: *const c_char,
    _: c_int,
    _: *const c_char,
    options: *const cosy_copy_options,
) -> c_int {
    fail_twice((*options).failed, (*options).argument)
}
#[no_mangle]
unsafe extern "C" fn cosy_remove_tree(
    _: c_int,
    _: *const c_char,
    options: *const cosy_remove_options,
) -> c_int {
    fail_twice((*options).failed, (*options).argument)
}
