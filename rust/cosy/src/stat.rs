// SPDX-License-Identifier: MIT
//! Attributes of many files.
use crate::metadata::{mask, Statx};
use crate::path::{to_c, At};
use cosy_sys as sys;
use std::io;
use std::os::unix::io::BorrowedFd;
use std::path::Path;

const AT_SYMLINK_NOFOLLOW: i32 = 0x100;

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
    /// with a NUL, and nothing was done.
    pub fn run<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> io::Result<Vec<io::Result<Statx>>> {
        let strings = paths
            .into_iter()
            .map(|path| to_c(path.as_ref()))
            .collect::<io::Result<Vec<_>>>()?;
        let names: Vec<_> = strings.iter().map(|string| string.as_ptr()).collect();
        let mut results: Vec<sys::cosy_stat_result> = Vec::with_capacity(names.len());
        // SAFETY: `names` points to strings; `results` has room for as many, and each is written.
        unsafe {
            let raw = results.as_mut_ptr();
            if sys::cosy_stat_many(
                self.at.raw(),
                names.as_ptr(),
                names.len() as _,
                self.flags,
                self.mask,
                raw,
            ) < 0
            {
                return Err(io::Error::last_os_error());
            }
            results.set_len(names.len());
        }
        Ok(results
            .into_iter()
            .map(|result| match result.error {
                0 => Ok(Statx(result.statx)),
                error => Err(io::Error::from_raw_os_error(error)),
            })
            .collect())
    }
}
