// SPDX-License-Identifier: MIT
//! Attributes of files.
use cosy_sys as sys;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const S_IFMT: u32 = 0o170000;

/// What kind of file it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FileType {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A Unix domain socket.
    Socket,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
}

impl FileType {
    /// Returns the type that a mode (`st_mode`) holds.
    pub(crate) fn of_mode(mode: u32) -> Option<FileType> {
        Self::of_type((mode & S_IFMT) >> 12)
    }

    /// Returns the type that `d_type` of a directory entry says; `None` for DT_UNKNOWN.
    pub(crate) fn of_type(kind: u32) -> Option<FileType> {
        match kind {
            1 => Some(FileType::Fifo),
            2 => Some(FileType::CharDevice),
            4 => Some(FileType::Dir),
            6 => Some(FileType::BlockDevice),
            8 => Some(FileType::File),
            10 => Some(FileType::Symlink),
            12 => Some(FileType::Socket),
            _ => None,
        }
    }

    /// Whether it is a directory.
    pub fn is_dir(self) -> bool {
        self == FileType::Dir
    }

    /// Whether it is a regular file.
    pub fn is_file(self) -> bool {
        self == FileType::File
    }

    /// Whether it is a symbolic link.
    pub fn is_symlink(self) -> bool {
        self == FileType::Symlink
    }
}

/// Returns the time that lies this many seconds and nanoseconds after 1970.
fn time(seconds: i64, nanoseconds: u32) -> SystemTime {
    let rest = Duration::from_nanos(u64::from(nanoseconds));
    let whole = Duration::from_secs(seconds.unsigned_abs());
    if seconds < 0 {
        UNIX_EPOCH - whole + rest
    } else {
        UNIX_EPOCH + whole + rest
    }
}

/// Attributes as lstat(2) or stat(2) returns them.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Metadata(pub(crate) sys::stat);

impl Metadata {
    /// Returns the size in bytes.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u64 {
        self.0.st_size as u64
    }
    /// Returns the file's type.
    pub fn file_type(&self) -> FileType {
        FileType::of_mode(self.0.st_mode).unwrap_or(FileType::File)
    }
    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.file_type().is_dir()
    }
    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.file_type().is_file()
    }
    /// Whether it is a symbolic link.
    pub fn is_symlink(&self) -> bool {
        self.file_type().is_symlink()
    }
    /// Returns the device that the file is on.
    pub fn dev(&self) -> u64 {
        self.0.st_dev
    }
    /// Returns the inode's number.
    pub fn ino(&self) -> u64 {
        self.0.st_ino
    }
    /// Returns type and permissions, as `st_mode` has them.
    pub fn mode(&self) -> u32 {
        self.0.st_mode
    }
    /// Returns how many hard links the file has.
    pub fn nlink(&self) -> u64 {
        self.0.st_nlink
    }
    /// Returns the owner's id.
    pub fn uid(&self) -> u32 {
        self.0.st_uid
    }
    /// Returns the group's id.
    pub fn gid(&self) -> u32 {
        self.0.st_gid
    }
    /// Returns which device a device file stands for.
    pub fn rdev(&self) -> u64 {
        self.0.st_rdev
    }
    /// Returns the number of blocks of 512 bytes.
    pub fn blocks(&self) -> u64 {
        self.0.st_blocks as u64
    }
    /// Returns the size of blocks, in bytes, for reads and writes.
    pub fn blksize(&self) -> u64 {
        self.0.st_blksize as u64
    }
    /// Returns when it was read last.
    pub fn accessed(&self) -> SystemTime {
        time(self.0.st_atim.tv_sec, self.0.st_atim.tv_nsec as u32)
    }
    /// Returns when its contents changed last.
    pub fn modified(&self) -> SystemTime {
        time(self.0.st_mtim.tv_sec, self.0.st_mtim.tv_nsec as u32)
    }
    /// Returns when its attributes changed last.
    pub fn changed(&self) -> SystemTime {
        time(self.0.st_ctim.tv_sec, self.0.st_ctim.tv_nsec as u32)
    }
}

impl fmt::Debug for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metadata")
            .field("ino", &self.ino())
            .field("mode", &format_args!("{:o}", self.mode()))
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// Attributes as statx(2) returns them. A method returns `None` if the field was not asked for, or the
/// file system does not have it.
#[derive(Clone, Copy)]
pub struct Statx {
    mask: u32,
    mode: u32,
    nlink: u32,
    uid: u32,
    gid: u32,
    dev: (u32, u32),
    ino: u64,
    size: u64,
    blocks: u64,
    modified: Timestamp,
    changed: Timestamp,
    created: Timestamp,
}

/// Seconds and nanoseconds after 1970.
type Timestamp = (i64, u32);

fn timestamp(from: &sys::statx_timestamp) -> Timestamp {
    (from.tv_sec, from.tv_nsec)
}

/// Bits of `stx_mask`, from `<linux/stat.h>`.
pub(crate) mod mask {
    pub(crate) const TYPE: u32 = 0x1;
    pub(crate) const MODE: u32 = 0x2;
    pub(crate) const NLINK: u32 = 0x4;
    pub(crate) const UID: u32 = 0x8;
    pub(crate) const GID: u32 = 0x10;
    pub(crate) const MTIME: u32 = 0x40;
    pub(crate) const CTIME: u32 = 0x80;
    pub(crate) const INO: u32 = 0x100;
    pub(crate) const SIZE: u32 = 0x200;
    pub(crate) const BLOCKS: u32 = 0x400;
    pub(crate) const BASIC: u32 = 0x7ff;
    pub(crate) const BTIME: u32 = 0x800;
}

impl Statx {
    #[inline]
    pub(crate) fn new(from: &sys::statx) -> Self {
        Statx {
            mask: from.stx_mask,
            mode: u32::from(from.stx_mode),
            nlink: from.stx_nlink,
            uid: from.stx_uid,
            gid: from.stx_gid,
            dev: (from.stx_dev_major, from.stx_dev_minor),
            ino: from.stx_ino,
            size: from.stx_size,
            blocks: from.stx_blocks,
            modified: timestamp(&from.stx_mtime),
            changed: timestamp(&from.stx_ctime),
            created: timestamp(&from.stx_btime),
        }
    }

    fn had<T>(&self, bit: u32, value: T) -> Option<T> {
        (self.mask & bit == bit).then_some(value)
    }

    fn time(&self, bit: u32, (seconds, nanoseconds): Timestamp) -> Option<SystemTime> {
        self.had(bit, time(seconds, nanoseconds))
    }

    /// Returns the size in bytes.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> Option<u64> {
        self.had(mask::SIZE, self.size)
    }
    /// Returns the file's type.
    pub fn file_type(&self) -> Option<FileType> {
        self.had(mask::TYPE, ())
            .and_then(|()| FileType::of_mode(self.mode))
    }
    /// Returns the permissions, without the type.
    pub fn permissions(&self) -> Option<u32> {
        self.had(mask::MODE, self.mode & !S_IFMT)
    }
    /// Returns how many hard links the file has.
    pub fn nlink(&self) -> Option<u32> {
        self.had(mask::NLINK, self.nlink)
    }
    /// Returns the owner's id.
    pub fn uid(&self) -> Option<u32> {
        self.had(mask::UID, self.uid)
    }
    /// Returns the group's id.
    pub fn gid(&self) -> Option<u32> {
        self.had(mask::GID, self.gid)
    }
    /// Returns the inode's number.
    pub fn ino(&self) -> Option<u64> {
        self.had(mask::INO, self.ino)
    }
    /// Returns the number of blocks of 512 bytes.
    pub fn blocks(&self) -> Option<u64> {
        self.had(mask::BLOCKS, self.blocks)
    }
    /// Returns the device that the file is on: major and minor number.
    pub fn dev(&self) -> (u32, u32) {
        self.dev
    }
    /// Returns when its contents changed last.
    pub fn modified(&self) -> Option<SystemTime> {
        self.time(mask::MTIME, self.modified)
    }
    /// Returns when its attributes changed last.
    pub fn changed(&self) -> Option<SystemTime> {
        self.time(mask::CTIME, self.changed)
    }
    /// Returns when it was created.
    pub fn created(&self) -> Option<SystemTime> {
        self.time(mask::BTIME, self.created)
    }
}

impl fmt::Debug for Statx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statx")
            .field("ino", &self.ino())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
