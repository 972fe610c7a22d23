// SPDX-License-Identifier: MIT
//! A tree of directories.
use crate::entry::{Attributes, DirEntry, Entry, NoMetadata, WithMetadata};
use crate::path::{to_c, At};
use cosy_sys as sys;
use std::io;
use std::marker::PhantomData;
use std::mem;
use std::os::unix::io::BorrowedFd;
use std::path::{Path, PathBuf};
use std::ptr;

/// How to walk through a tree; [`Walk::open`] begins.
#[derive(Clone, Debug)]
#[must_use = "does nothing until it is opened"]
pub struct Walk<'fd, A: Attributes = NoMetadata> {
    at: At<'fd>,
    path: PathBuf,
    flags: u32,
    max_depth: u32,
    attributes: PhantomData<A>,
}

impl Walk<'static> {
    /// Walks through a directory and all directories below it.
    pub fn new(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref().to_path_buf();
        Walk {
            at: At(None),
            path,
            flags: 0,
            max_depth: 0,
            attributes: PhantomData,
        }
    }
}

impl<'fd, A: Attributes> Walk<'fd, A> {
    /// A relative path begins at this open directory.
    pub fn at(self, directory: BorrowedFd<'_>) -> Walk<'_, A> {
        Walk {
            at: At(Some(directory)),
            path: self.path,
            flags: self.flags,
            max_depth: self.max_depth,
            attributes: PhantomData,
        }
    }

    /// Returns attributes with each entry.
    pub fn metadata(self) -> Walk<'fd, WithMetadata> {
        Walk {
            at: self.at,
            path: self.path,
            flags: self.flags | sys::COSY_WALK_STAT,
            max_depth: self.max_depth,
            attributes: PhantomData,
        }
    }

    /// Follows symbolic links to directories, and returns attributes of what links lead to.
    pub fn follow(mut self) -> Self {
        self.flags |= sys::COSY_WALK_FOLLOW;
        self
    }

    /// Stays on the file system that the walk begins on.
    pub fn one_file_system(mut self) -> Self {
        self.flags |= sys::COSY_WALK_ONE_FS;
        self
    }

    /// Fails if the first path is a symbolic link.
    pub fn no_follow_first(mut self) -> Self {
        self.flags |= sys::COSY_WALK_NOFOLLOW_FIRST;
        self
    }

    /// Reports entries down to this depth: 1 for those of the first directory alone. 0: all.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = depth;
        self
    }

    /// Reports [`Event::Leave`] after all entries of a directory and below it.
    pub fn report_leave(mut self) -> Self {
        self.flags |= sys::COSY_WALK_POST;
        self
    }

    /// Opens the first directory.
    pub fn open(&self) -> io::Result<Walking<'fd, A>> {
        let path = to_c(&self.path)?;
        let options = sys::cosy_walk_options {
            size: mem::size_of::<sys::cosy_walk_options>() as u32,
            flags: self.flags,
            max_depth: self.max_depth,
            reserved: 0,
        };
        // SAFETY: path and options are read during the call only.
        let raw = unsafe { sys::cosy_walk_open(self.at.raw(), path.as_ptr(), &options) };
        let raw = ptr::NonNull::new(raw).ok_or_else(io::Error::last_os_error)?;
        Ok(Walking {
            raw,
            directory: PhantomData,
            attributes: PhantomData,
        })
    }
}

/// What a walk has come to; lent until the next call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a, A: Attributes> {
    /// An entry of the directory entered last.
    Entry(Entry<'a, A>),
    /// This directory is about to be opened; its entries follow.
    Enter(Entry<'a, NoMetadata>),
    /// This directory, and all below it, is done. Only with [`Walk::report_leave`].
    Leave(Entry<'a, NoMetadata>),
    /// This directory could not be opened, or not be listed to its end.
    Failed(Entry<'a, NoMetadata>, io::Error),
}

/// A walk under way. As an iterator it returns entries, and the errors of directories. An error
/// ends neither the iterator nor the walk; [`Walking::next_event`] tells whose error it was.
#[derive(Debug)]
pub struct Walking<'fd, A: Attributes> {
    raw: ptr::NonNull<sys::cosy_walk>,
    directory: PhantomData<BorrowedFd<'fd>>,
    attributes: PhantomData<A>,
}

// SAFETY: a handle may be used by any thread, by one at a time.
unsafe impl<A: Attributes> Send for Walking<'_, A> {}

impl<A: Attributes> Walking<'_, A> {
    /// Lends the next event until the next call. `None` at the end.
    #[inline]
    pub fn next_event(&mut self) -> Option<io::Result<Event<'_, A>>> {
        let mut entry = ptr::null();
        // SAFETY: the handle is open.
        match unsafe { sys::cosy_walk_next(self.raw.as_ptr(), &mut entry) } {
            0 => return None,
            1 => {}
            _ => return Some(Err(io::Error::last_os_error())),
        }
        // SAFETY: the entry is valid until the next call, which needs `self`.
        let (event, bare) = unsafe { (u32::from((*entry).event), Entry::new(entry)) };
        Some(Ok(match event {
            sys::COSY_WALK_ENTRY => Event::Entry(unsafe { Entry::new(entry) }),
            sys::COSY_WALK_ENTER => Event::Enter(bare),
            sys::COSY_WALK_LEAVE => Event::Leave(bare),
            _ => Event::Failed(bare, bare.error()),
        }))
    }

    /// After [`Event::Enter`], or an entry that is a directory: the walk does not enter it. Otherwise
    /// the walk leaves the current directory.
    pub fn skip_directory(&mut self) {
        // SAFETY: the handle is open. It fails only where there is nothing to skip.
        unsafe { sys::cosy_walk_skip(self.raw.as_ptr()) };
    }
}

impl<A: Attributes> Iterator for Walking<'_, A> {
    type Item = io::Result<DirEntry<A>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_event()? {
                Ok(Event::Entry(entry)) => return Some(Ok(entry.to_owned())),
                Ok(Event::Failed(_, error)) | Err(error) => return Some(Err(error)),
                Ok(Event::Enter(_) | Event::Leave(_)) => {}
            }
        }
    }
}

impl<A: Attributes> Drop for Walking<'_, A> {
    fn drop(&mut self) {
        // SAFETY: nothing of the handle is lent any more.
        unsafe { sys::cosy_walk_close(self.raw.as_ptr()) }
    }
}
