// SPDX-License-Identifier: MIT
//! One directory.
use crate::entry::{Attributes, DirEntry, Entry, NoMetadata, WithMetadata};
use crate::path::{to_c, At};
use cosy_sys as sys;
use std::io;
use std::marker::PhantomData;
use std::os::unix::io::BorrowedFd;
use std::path::{Path, PathBuf};
use std::ptr;

/// How to list a directory; [`Scan::open`] opens it.
#[derive(Clone, Debug)]
#[must_use = "does nothing until it is opened"]
pub struct Scan<'fd, A: Attributes = NoMetadata> {
    at: At<'fd>,
    path: PathBuf,
    flags: u32,
    attributes: PhantomData<A>,
}

impl Scan<'static> {
    /// Lists the names and types in a directory.
    pub fn new(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref().to_path_buf();
        Scan {
            at: At(None),
            path,
            flags: 0,
            attributes: PhantomData,
        }
    }
}

impl<'fd, A: Attributes> Scan<'fd, A> {
    /// A relative path begins at this open directory.
    pub fn at(self, directory: BorrowedFd<'_>) -> Scan<'_, A> {
        Scan {
            at: At(Some(directory)),
            path: self.path,
            flags: self.flags,
            attributes: PhantomData,
        }
    }

    /// Returns attributes with each entry, of symbolic links their own.
    pub fn metadata(self) -> Scan<'fd, WithMetadata> {
        let flags = self.flags | sys::COSY_SCAN_STAT;
        Scan {
            at: self.at,
            path: self.path,
            flags,
            attributes: PhantomData,
        }
    }

    /// Opens the directory.
    pub fn open(&self) -> io::Result<Scanning<A>> {
        let path = to_c(&self.path)?;
        // SAFETY: the path is a string for the time of the call.
        let raw = unsafe { sys::cosy_scan_open(self.at.raw(), path.as_ptr(), self.flags) };
        let raw = ptr::NonNull::new(raw).ok_or_else(io::Error::last_os_error)?;
        Ok(Scanning {
            raw,
            attributes: PhantomData,
        })
    }
}

impl<'fd> Scan<'fd, WithMetadata> {
    /// Returns attributes of what symbolic links lead to; of a dangling one, its own.
    pub fn follow(mut self) -> Self {
        self.flags |= sys::COSY_SCAN_FOLLOW;
        self
    }
}

/// A directory that is being listed.
#[derive(Debug)]
pub struct Scanning<A: Attributes> {
    raw: ptr::NonNull<sys::cosy_scan>,
    attributes: PhantomData<A>,
}

// SAFETY: a handle may be used by any thread, by one at a time.
unsafe impl<A: Attributes> Send for Scanning<A> {}

impl<A: Attributes> Scanning<A> {
    /// Lends the next entry until the next call. `None` at the end.
    #[inline]
    pub fn next_entry(&mut self) -> Option<io::Result<Entry<'_, A>>> {
        let mut entry = ptr::null();
        // SAFETY: the handle is open; the entry is valid until the next call, which needs `self`.
        match unsafe { sys::cosy_scan_next(self.raw.as_ptr(), &mut entry) } {
            0 => None,
            1 => Some(Ok(unsafe { Entry::new(entry) })),
            _ => Some(Err(io::Error::last_os_error())),
        }
    }
}

impl<A: Attributes> Iterator for Scanning<A> {
    type Item = io::Result<DirEntry<A>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_entry()
            .map(|entry| entry.map(|entry| entry.to_owned()))
    }
}

impl<A: Attributes> Drop for Scanning<A> {
    fn drop(&mut self) {
        // SAFETY: nothing of the handle is lent any more.
        unsafe { sys::cosy_scan_close(self.raw.as_ptr()) }
    }
}
