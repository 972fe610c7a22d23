// SPDX-License-Identifier: MIT
//! Paths and directories as libcosy takes them.
use std::ffi::{CStr, CString, OsStr};
use std::fmt;
use std::io;
use std::os::raw::{c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::slice;

const AT_FDCWD: c_int = -100;

/// The directory that a relative path begins at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At<'fd>(pub(crate) Option<BorrowedFd<'fd>>);

impl At<'_> {
    pub(crate) fn raw(self) -> c_int {
        self.0.map_or(AT_FDCWD, |fd| fd.as_raw_fd())
    }
}

/// Returns the path for C; EINVAL if it holds a NUL.
pub(crate) fn to_c(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::Error::from_raw_os_error(22))
}

/// Returns the bytes of a string of C.
///
/// # Safety
/// `text` is a string that lives for `'a`.
pub(crate) unsafe fn from_c<'a>(text: *const c_char) -> &'a OsStr {
    OsStr::from_bytes(CStr::from_ptr(text).to_bytes())
}

/// Returns the first `length` bytes of a string of C, for strings whose length is known.
///
/// # Safety
/// As from_c; `text` has that many bytes.
pub(crate) unsafe fn from_c_of<'a>(text: *const c_char, length: usize) -> &'a OsStr {
    OsStr::from_bytes(slice::from_raw_parts(text.cast(), length))
}

/// Bytes of a path that needs no memory of its own.
const SHORT: usize = 94;

/// A path of an entry that lives on. Most are short and lie in place, so they need no allocation.
#[derive(Clone)]
pub(crate) enum EntryPath {
    Short { length: u8, bytes: [u8; SHORT] },
    Long(PathBuf),
}

impl EntryPath {
    #[inline]
    pub(crate) fn new(path: &Path) -> Self {
        let from = path.as_os_str().as_bytes();
        if from.len() > SHORT {
            return EntryPath::Long(path.to_path_buf());
        }
        let mut bytes = [0; SHORT];
        bytes[..from.len()].copy_from_slice(from);
        EntryPath::Short {
            length: from.len() as u8,
            bytes,
        }
    }

    #[inline]
    pub(crate) fn get(&self) -> &Path {
        match self {
            EntryPath::Short { length, bytes } => {
                Path::new(OsStr::from_bytes(&bytes[..usize::from(*length)]))
            }
            EntryPath::Long(path) => path,
        }
    }

    pub(crate) fn into_buf(self) -> PathBuf {
        match self {
            EntryPath::Long(path) => path,
            _ => self.get().to_path_buf(),
        }
    }
}

impl fmt::Debug for EntryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// Paths as C takes them, in memory that serves one list after the other.
#[derive(Default)]
pub(crate) struct Paths {
    bytes: Vec<u8>,
    starts: Vec<usize>,
    pointers: Vec<*const c_char>,
}

impl Paths {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.starts.clear();
    }

    /// Adds a path; EINVAL if it holds a NUL.
    #[inline]
    pub(crate) fn add(&mut self, path: &Path) -> io::Result<()> {
        let bytes = path.as_os_str().as_bytes();
        if bytes.contains(&0) {
            return Err(io::Error::from_raw_os_error(22));
        }
        self.starts.push(self.bytes.len());
        self.bytes.extend_from_slice(bytes);
        self.bytes.push(0);
        Ok(())
    }

    /// Returns the strings, which are valid until the next change.
    pub(crate) fn pointers(&mut self) -> &[*const c_char] {
        let bytes = &self.bytes;
        self.pointers.clear();
        self.pointers.extend(
            self.starts
                .iter()
                .map(|start| bytes[*start..].as_ptr().cast()),
        );
        &self.pointers
    }
}
