// SPDX-License-Identifier: MIT
//! Entries of directories, lent and owned.
use crate::metadata::{FileType, Metadata};
use crate::path::{from_c_of, EntryPath};
use cosy_sys as sys;
use std::ffi::{OsStr, OsString};
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::NoMetadata {}
    impl Sealed for super::WithMetadata {}
}

/// Whether entries have attributes: [`NoMetadata`] or [`WithMetadata`].
pub trait Attributes: sealed::Sealed {}

/// Entries have names and types only.
#[derive(Clone, Copy, Debug)]
pub enum NoMetadata {}

/// Entries have attributes.
#[derive(Clone, Copy, Debug)]
pub enum WithMetadata {}

impl Attributes for NoMetadata {}
impl Attributes for WithMetadata {}

/// An entry that is lent until the next call.
#[derive(Debug)]
pub struct Entry<'a, A: Attributes> {
    raw: &'a sys::cosy_dir_entry,
    attributes: PhantomData<A>,
}

impl<A: Attributes> Clone for Entry<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Attributes> Copy for Entry<'_, A> {}

impl<'a, A: Attributes> Entry<'a, A> {
    /// # Safety
    /// `raw` and what it points to live for `'a`.
    pub(crate) unsafe fn new(raw: *const sys::cosy_dir_entry) -> Self {
        Entry {
            raw: &*raw,
            attributes: PhantomData,
        }
    }

    pub(crate) fn error(&self) -> io::Error {
        io::Error::from_raw_os_error(self.raw.error)
    }

    /// Returns its name in its directory.
    pub fn file_name(&self) -> &'a OsStr {
        // SAFETY: libcosy's string lives as long as the entry.
        unsafe { from_c_of(self.raw.name, self.raw.name_length as usize) }
    }

    /// Returns the path that was opened, and the way from there to this entry; of a scan, the name.
    pub fn path(&self) -> &'a Path {
        // SAFETY: as above.
        Path::new(unsafe { from_c_of(self.raw.path, self.raw.path_length as usize) })
    }

    /// Returns how deep it lies: 0 is what was opened, 1 an entry of it.
    pub fn depth(&self) -> usize {
        self.raw.depth as usize
    }

    /// Returns the inode's number as the directory has it; of a mount point, the one below.
    pub fn ino(&self) -> u64 {
        self.raw.inode
    }

    /// Returns the type that the directory has for it, without a system call. `None`: it has none.
    pub fn file_type(&self) -> Option<FileType> {
        FileType::of_type(u32::from(self.raw.type_))
    }

    /// Returns a copy that lives on.
    #[inline]
    pub fn to_owned(&self) -> DirEntry<A> {
        // SAFETY: attributes, where there are any, live as long as the entry.
        let metadata = unsafe { self.raw.stat.as_ref() }.map(|stat| Metadata(*stat));
        DirEntry {
            name: (self.raw.path_length - self.raw.name_length) as usize,
            path: EntryPath::new(self.path()),
            metadata,
            error: self.raw.error,
            depth: self.depth(),
            inode: self.ino(),
            kind: self.raw.type_,
            attributes: PhantomData,
        }
    }
}

impl<'a> Entry<'a, WithMetadata> {
    /// Returns its attributes, or why they could not be read: `NotFound` if it vanished since it was
    /// listed.
    pub fn metadata(&self) -> io::Result<&'a Metadata> {
        // SAFETY: they live as long as the entry; Metadata has their layout.
        match unsafe { (self.raw.stat as *const Metadata).as_ref() } {
            Some(metadata) => Ok(metadata),
            None => Err(self.error()),
        }
    }
}

/// An entry of its own, from an iterator.
#[derive(Clone, Debug)]
pub struct DirEntry<A: Attributes> {
    path: EntryPath,
    name: usize, // where its last component begins
    metadata: Option<Metadata>,
    error: i32,
    depth: usize,
    inode: u64,
    kind: u8,
    attributes: PhantomData<A>,
}

impl<A: Attributes> DirEntry<A> {
    /// Returns its name in its directory.
    pub fn file_name(&self) -> OsString {
        use std::os::unix::ffi::OsStrExt;
        OsStr::from_bytes(&self.path().as_os_str().as_bytes()[self.name..]).to_os_string()
    }

    /// Returns the path that was opened, and the way from there to this entry; of a scan, the name.
    pub fn path(&self) -> &Path {
        self.path.get()
    }

    /// Returns the path, and gives the entry up.
    pub fn into_path(self) -> PathBuf {
        self.path.into_buf()
    }

    /// Returns how deep it lies: 1 is an entry of what was opened.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the inode's number as the directory has it; of a mount point, the one below.
    pub fn ino(&self) -> u64 {
        self.inode
    }

    /// Returns the type that the directory has for it. `None`: it has none.
    pub fn file_type(&self) -> Option<FileType> {
        FileType::of_type(u32::from(self.kind))
    }
}

impl DirEntry<WithMetadata> {
    /// Returns its attributes, or why they could not be read.
    pub fn metadata(&self) -> io::Result<&Metadata> {
        self.metadata
            .as_ref()
            .ok_or_else(|| io::Error::from_raw_os_error(self.error))
    }
}
