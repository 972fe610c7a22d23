// SPDX-License-Identifier: MIT
//! Paths and directories as libcosy takes them.
use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::raw::{c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{AsRawFd, BorrowedFd};
use std::path::Path;

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
