// SPDX-License-Identifier: MIT
//! Contents of many files.
use crate::path::{to_c, At};
use cosy_sys as sys;
use std::ffi::CString;
use std::io;
use std::marker::PhantomData;
use std::mem;
use std::os::raw::c_char;
use std::os::unix::io::BorrowedFd;
use std::path::Path;
use std::ptr;
use std::slice;

/// How to read many files to their ends; [`ReadFiles::open`] begins.
///
/// ```no_run
/// let mut lines = 0;
/// let mut files = cosy::ReadFiles::new(["/etc/hosts", "/etc/fstab"]).open()?;
/// while let Some(file) = files.next_file() {
///     lines += file?.data().iter().filter(|byte| **byte == b'\n').count();
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "does nothing until it is opened"]
pub struct ReadFiles<'fd> {
    at: At<'fd>,
    paths: Option<Vec<CString>>, // None: one of them holds a NUL
    flags: u32,
    max_size: u64,
}

impl ReadFiles<'static> {
    /// Reads these files, in their order.
    pub fn new<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        let paths = paths
            .into_iter()
            .map(|path| to_c(path.as_ref()).ok())
            .collect();
        ReadFiles {
            at: At(None),
            paths,
            flags: 0,
            max_size: 0,
        }
    }
}

impl<'fd> ReadFiles<'fd> {
    /// Relative paths begin at this open directory.
    pub fn at(self, directory: BorrowedFd<'_>) -> ReadFiles<'_> {
        ReadFiles {
            at: At(Some(directory)),
            paths: self.paths,
            flags: self.flags,
            max_size: self.max_size,
        }
    }

    /// Fails for symbolic links.
    pub fn no_follow(mut self) -> Self {
        self.flags |= sys::COSY_READ_NOFOLLOW;
        self
    }

    /// Fails for files of more bytes. 0: memory is the limit.
    pub fn max_size(mut self, bytes: u64) -> Self {
        self.max_size = bytes;
        self
    }

    /// Begins. EINVAL: a path holds a NUL.
    pub fn open(self) -> io::Result<Reading<'fd>> {
        let strings = self.paths.ok_or_else(|| io::Error::from_raw_os_error(22))?;
        let paths: Vec<_> = strings.iter().map(|path| path.as_ptr()).collect();
        let options = sys::cosy_read_options {
            size: mem::size_of::<sys::cosy_read_options>() as u32,
            flags: self.flags,
            max_size: self.max_size,
        };
        // SAFETY: `paths` and `strings` stay where they are until the handle is closed.
        let raw = unsafe {
            sys::cosy_read_files_open(self.at.raw(), paths.as_ptr(), paths.len() as _, &options)
        };
        let raw = ptr::NonNull::new(raw).ok_or_else(io::Error::last_os_error)?;
        Ok(Reading {
            raw,
            _paths: paths,
            _strings: strings,
            directory: PhantomData,
        })
    }
}

/// Files that are being read. As an iterator it returns each file's bytes.
#[derive(Debug)]
pub struct Reading<'fd> {
    raw: ptr::NonNull<sys::cosy_read_files>,
    _paths: Vec<*const c_char>,
    _strings: Vec<CString>,
    directory: PhantomData<BorrowedFd<'fd>>,
}

// SAFETY: a handle may be used by any thread, by one at a time; the pointers are to what moves with it.
unsafe impl Send for Reading<'_> {}

impl Reading<'_> {
    /// Lends the next file until the next call. `None` at the end.
    pub fn next_file(&mut self) -> Option<io::Result<File<'_>>> {
        let mut file = ptr::null();
        // SAFETY: the handle is open; what it returns is valid until the next call, which needs `self`.
        let file = match unsafe { sys::cosy_read_files_next(self.raw.as_ptr(), &mut file) } {
            0 => return None,
            1 => unsafe { &*file },
            _ => return Some(Err(io::Error::last_os_error())),
        };
        Some(match file.error {
            0 => Ok(File(file)),
            error => Err(io::Error::from_raw_os_error(error)),
        })
    }
}

impl Iterator for Reading<'_> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_file()
            .map(|file| file.map(|file| file.data().to_vec()))
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing of the handle is lent any more.
        unsafe { sys::cosy_read_files_close(self.raw.as_ptr()) }
    }
}

/// A file that was read, lent until the next call.
#[derive(Clone, Copy, Debug)]
pub struct File<'a>(&'a sys::cosy_file);

impl<'a> File<'a> {
    /// Returns which of the paths it is, from 0 on.
    pub fn index(&self) -> usize {
        self.0.index as usize
    }

    /// Returns its bytes.
    pub fn data(&self) -> &'a [u8] {
        if self.0.size == 0 {
            return &[];
        }
        // SAFETY: libcosy's bytes live as long as the file.
        unsafe { slice::from_raw_parts(self.0.data.cast(), self.0.size as usize) }
    }
}
