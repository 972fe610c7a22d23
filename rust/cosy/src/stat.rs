// SPDX-License-Identifier: MIT
//! Attributes of many files.
use crate::metadata::{mask, Statx};
use crate::path::{At, Paths};
use cosy_sys as sys;
use std::io;
use std::os::unix::io::BorrowedFd;
use std::path::Path;

const AT_SYMLINK_NOFOLLOW: i32 = 0x100;

/// Paths that one call examines.
const GROUP: usize = 128;

/// Asks for attributes of many files; [`StatMany::run`] returns them.
///
/// ```no_run
/// let names = ["a", "b", "c"];
/// for (name, stat) in names.iter().zip(cosy::StatMany::new().run(names)?) {
///     println!("{name}: {:?} bytes", stat?.len());
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "does nothing until it is run"]
pub struct StatMany<'fd> {
    at: At<'fd>,
    flags: i32,
    mask: u32,
}

impl Default for StatMany<'static> {
    fn default() -> Self {
        Self::new()
    }
}

impl StatMany<'static> {
    /// Asks for what stat(2) returns.
    pub fn new() -> Self {
        StatMany {
            at: At(None),
            flags: 0,
            mask: mask::BASIC,
        }
    }
}

impl<'fd> StatMany<'fd> {
    /// Relative paths begin at this open directory.
    pub fn at(self, directory: BorrowedFd<'_>) -> StatMany<'_> {
        StatMany {
            at: At(Some(directory)),
            flags: self.flags,
            mask: self.mask,
        }
    }

    /// Returns attributes of symbolic links themselves.
    pub fn no_follow(mut self) -> Self {
        self.flags |= AT_SYMLINK_NOFOLLOW;
        self
    }

    /// Asks for the time of creation as well.
    pub fn created(mut self) -> Self {
        self.mask |= mask::BTIME;
        self
    }

    /// Returns the attributes, or the error, of each path, in their order. The outer error: a path
    /// with a NUL.
    pub fn run<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> io::Result<Vec<io::Result<Statx>>> {
        let mut paths = paths.into_iter();
        let mut found = Vec::with_capacity(paths.size_hint().0);
        let mut group = Paths::default();
        let mut results: Vec<sys::cosy_stat_result> = Vec::with_capacity(GROUP);
        loop {
            group.clear();
            for path in paths.by_ref().take(GROUP) {
                group.add(path.as_ref())?;
            }
            let names = group.pointers();
            if names.is_empty() {
                return Ok(found);
            }
            // SAFETY: `names` points to strings; `results` has room for as many, and each is written.
            unsafe {
                results.set_len(0);
                let (raw, count) = (results.as_mut_ptr(), names.len() as _);
                let dirfd = self.at.raw();
                if sys::cosy_stat_many(dirfd, names.as_ptr(), count, self.flags, self.mask, raw) < 0
                {
                    return Err(io::Error::last_os_error());
                }
                results.set_len(names.len());
            }
            found.extend(results.iter().map(|result| match result.error {
                0 => Ok(Statx::new(&result.statx)),
                error => Err(io::Error::from_raw_os_error(error)),
            }));
        }
    }
}
