// SPDX-License-Identifier: MIT
//! Copying and removing trees.
use crate::path::{from_c, to_c, At};
use cosy_sys as sys;
use std::any::Any;
use std::io;
use std::mem;
use std::ops::ControlFlow;
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::io::BorrowedFd;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

type Failed<'f> = dyn FnMut(&Path, io::Error) -> ControlFlow<()> + 'f;

/// A caller's function on its way through C, and a panic of it on the way back.
struct Report<'r, 'f> {
    failed: &'r mut Failed<'f>,
    panic: Option<Box<dyn Any + Send>>,
}

unsafe extern "C" fn report(argument: *mut c_void, path: *const c_char, error: c_int) -> c_int {
    // SAFETY: `argument` is the Report of `with_report`, which waits for the call's end.
    let report = &mut *argument.cast::<Report<'_, '_>>();
    let path = Path::new(from_c(path));
    let failed = AssertUnwindSafe(|| (report.failed)(path, io::Error::from_raw_os_error(error)));
    match panic::catch_unwind(failed) {
        Ok(ControlFlow::Continue(())) => 0,
        Ok(ControlFlow::Break(())) => 1,
        Err(panic) => {
            report.panic = Some(panic);
            1
        }
    }
}

/// Makes a call that takes a function and its argument. A panic of the function goes on here.
fn with_report(
    failed: Option<&mut Failed<'_>>,
    call: impl FnOnce(sys::cosy_failed_function, *mut c_void) -> c_int,
) -> io::Result<()> {
    let failed = match failed {
        Some(failed) => failed,
        None => return returned(call(None, std::ptr::null_mut())),
    };
    let mut state = Report {
        failed,
        panic: None,
    };
    let argument: *mut Report<'_, '_> = &mut state;
    let result = returned(call(Some(report), argument.cast()));
    match state.panic {
        Some(panic) => panic::resume_unwind(panic),
        None => result,
    }
}

fn returned(result: c_int) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// How to copy a directory and all below it; [`CopyTree::run`] copies.
#[derive(Clone, Debug)]
#[must_use = "does nothing until it is run"]
pub struct CopyTree<'fd> {
    from_at: At<'fd>,
    from: PathBuf,
    to_at: At<'fd>,
    to: PathBuf,
    flags: u32,
}

impl CopyTree<'static> {
    /// Copies the directory `from` to `to`, which must not exist.
    pub fn new(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Self {
        let (from, to) = (from.as_ref().to_path_buf(), to.as_ref().to_path_buf());
        CopyTree {
            from_at: At(None),
            from,
            to_at: At(None),
            to,
            flags: 0,
        }
    }
}

impl<'fd> CopyTree<'fd> {
    /// Relative paths begin at these open directories.
    pub fn at<'d>(self, from: BorrowedFd<'d>, to: BorrowedFd<'d>) -> CopyTree<'d> {
        CopyTree {
            from_at: At(Some(from)),
            from: self.from,
            to_at: At(Some(to)),
            to: self.to,
            flags: self.flags,
        }
    }

    /// `to` may exist: files in it are replaced, directories are merged.
    pub fn into_existing(mut self) -> Self {
        self.flags |= sys::COSY_COPY_INTO;
        self
    }

    /// Permissions are the source's, whatever the umask is.
    pub fn mode(mut self) -> Self {
        self.flags |= sys::COSY_COPY_MODE;
        self
    }

    /// Access and modification times are the source's.
    pub fn times(mut self) -> Self {
        self.flags |= sys::COSY_COPY_TIMES;
        self
    }

    /// Owner and group are the source's. Needs privilege.
    pub fn owner(mut self) -> Self {
        self.flags |= sys::COSY_COPY_OWNER;
        self
    }

    /// Directories that other file systems are mounted on are copied empty.
    pub fn one_file_system(mut self) -> Self {
        self.flags |= sys::COSY_COPY_ONE_FS;
        self
    }

    /// Copies, and stops at the first failure. What was copied stays.
    pub fn run(&self) -> io::Result<()> {
        self.copy(None)
    }

    /// Copies. Calls `failed` for each file that could not be copied, and stops if it returns `Break`.
    /// Returns the first failure.
    pub fn run_with(
        &self,
        mut failed: impl FnMut(&Path, io::Error) -> ControlFlow<()>,
    ) -> io::Result<()> {
        self.copy(Some(&mut failed))
    }

    fn copy(&self, failed: Option<&mut Failed<'_>>) -> io::Result<()> {
        let (from, to) = (to_c(&self.from)?, to_c(&self.to)?);
        with_report(failed, |failed, argument| {
            let size = mem::size_of::<sys::cosy_copy_options>() as u32;
            let options = sys::cosy_copy_options {
                size,
                flags: self.flags,
                failed,
                argument,
            };
            // SAFETY: paths and options are read during the call only.
            unsafe {
                sys::cosy_copy_tree(
                    self.from_at.raw(),
                    from.as_ptr(),
                    self.to_at.raw(),
                    to.as_ptr(),
                    &options,
                )
            }
        })
    }
}

/// How to remove a directory and all below it; [`RemoveTree::run`] removes.
#[derive(Clone, Debug)]
#[must_use = "does nothing until it is run"]
pub struct RemoveTree<'fd> {
    at: At<'fd>,
    path: PathBuf,
    flags: u32,
}

impl RemoveTree<'static> {
    /// Removes a directory and all below it, or the file of that name. No link is followed.
    pub fn new(path: impl AsRef<Path>) -> Self {
        RemoveTree {
            at: At(None),
            path: path.as_ref().to_path_buf(),
            flags: 0,
        }
    }
}

impl<'fd> RemoveTree<'fd> {
    /// A relative path begins at this open directory.
    pub fn at(self, directory: BorrowedFd<'_>) -> RemoveTree<'_> {
        RemoveTree {
            at: At(Some(directory)),
            path: self.path,
            flags: self.flags,
        }
    }

    /// Empties the first directory, but keeps it.
    pub fn keep_first(mut self) -> Self {
        self.flags |= sys::COSY_REMOVE_KEEP_FIRST;
        self
    }

    /// Fails for what other file systems are mounted on.
    pub fn one_file_system(mut self) -> Self {
        self.flags |= sys::COSY_REMOVE_ONE_FS;
        self
    }

    /// Removes, and stops at the first failure.
    pub fn run(&self) -> io::Result<()> {
        self.remove(None)
    }

    /// Removes. Calls `failed` for each file that could not be removed, and stops if it returns
    /// `Break`. Returns the first failure.
    pub fn run_with(
        &self,
        mut failed: impl FnMut(&Path, io::Error) -> ControlFlow<()>,
    ) -> io::Result<()> {
        self.remove(Some(&mut failed))
    }

    fn remove(&self, failed: Option<&mut Failed<'_>>) -> io::Result<()> {
        let path = to_c(&self.path)?;
        with_report(failed, |failed, argument| {
            let size = mem::size_of::<sys::cosy_remove_options>() as u32;
            let options = sys::cosy_remove_options {
                size,
                flags: self.flags,
                failed,
                argument,
            };
            // SAFETY: path and options are read during the call only.
            unsafe { sys::cosy_remove_tree(self.at.raw(), path.as_ptr(), &options) }
        })
    }
}
