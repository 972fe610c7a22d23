// SPDX-License-Identifier: MIT
// By bindgen 0.60.1 from <cosy/files.h>: see bindings.sh.
pub const COSY_SCAN_STAT: u32 = 1;
pub const COSY_SCAN_FOLLOW: u32 = 2;
pub const COSY_SCAN_DOTS: u32 = 4;
pub const COSY_WALK_STAT: u32 = 1;
pub const COSY_WALK_FOLLOW: u32 = 2;
pub const COSY_WALK_POST: u32 = 4;
pub const COSY_WALK_ONE_FS: u32 = 8;
pub const COSY_WALK_NOFOLLOW_FIRST: u32 = 16;
pub const COSY_READ_NOFOLLOW: u32 = 1;
pub const COSY_COPY_INTO: u32 = 1;
pub const COSY_COPY_MODE: u32 = 2;
pub const COSY_COPY_TIMES: u32 = 4;
pub const COSY_COPY_OWNER: u32 = 8;
pub const COSY_COPY_ONE_FS: u32 = 16;
pub const COSY_REMOVE_KEEP_FIRST: u32 = 1;
pub const COSY_REMOVE_ONE_FS: u32 = 2;
pub type size_t = std::os::raw::c_ulong;
pub type __uint8_t = std::os::raw::c_uchar;
pub type __uint32_t = std::os::raw::c_uint;
pub type __uint64_t = std::os::raw::c_ulong;
pub type __dev_t = std::os::raw::c_ulong;
pub type __uid_t = std::os::raw::c_uint;
pub type __gid_t = std::os::raw::c_uint;
pub type __ino_t = std::os::raw::c_ulong;
pub type __mode_t = std::os::raw::c_uint;
pub type __nlink_t = std::os::raw::c_ulong;
pub type __off_t = std::os::raw::c_long;
pub type __time_t = std::os::raw::c_long;
pub type __blksize_t = std::os::raw::c_long;
pub type __blkcnt_t = std::os::raw::c_long;
pub type __ssize_t = std::os::raw::c_long;
pub type __syscall_slong_t = std::os::raw::c_long;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timespec {
    pub tv_sec: __time_t,
    pub tv_nsec: __syscall_slong_t,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct stat {
    pub st_dev: __dev_t,
    pub st_ino: __ino_t,
    pub st_nlink: __nlink_t,
    pub st_mode: __mode_t,
    pub st_uid: __uid_t,
    pub st_gid: __gid_t,
    pub __pad0: std::os::raw::c_int,
    pub st_rdev: __dev_t,
    pub st_size: __off_t,
    pub st_blksize: __blksize_t,
    pub st_blocks: __blkcnt_t,
    pub st_atim: timespec,
    pub st_mtim: timespec,
    pub st_ctim: timespec,
    pub __glibc_reserved: [__syscall_slong_t; 3usize],
}
pub type ssize_t = __ssize_t;
pub type __u16 = std::os::raw::c_ushort;
pub type __s32 = std::os::raw::c_int;
pub type __u32 = std::os::raw::c_uint;
pub type __s64 = std::os::raw::c_longlong;
pub type __u64 = std::os::raw::c_ulonglong;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct statx_timestamp {
    pub tv_sec: __s64,
    pub tv_nsec: __u32,
    pub __reserved: __s32,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct statx {
    pub stx_mask: __u32,
    pub stx_blksize: __u32,
    pub stx_attributes: __u64,
    pub stx_nlink: __u32,
    pub stx_uid: __u32,
    pub stx_gid: __u32,
    pub stx_mode: __u16,
    pub __spare0: [__u16; 1usize],
    pub stx_ino: __u64,
    pub stx_size: __u64,
    pub stx_blocks: __u64,
    pub stx_attributes_mask: __u64,
    pub stx_atime: statx_timestamp,
    pub stx_btime: statx_timestamp,
    pub stx_ctime: statx_timestamp,
    pub stx_mtime: statx_timestamp,
    pub stx_rdev_major: __u32,
    pub stx_rdev_minor: __u32,
    pub stx_dev_major: __u32,
    pub stx_dev_minor: __u32,
    pub stx_mnt_id: __u64,
    pub stx_dio_mem_align: __u32,
    pub stx_dio_offset_align: __u32,
    pub __spare3: [__u64; 12usize],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct cosy_dir_entry {
    pub name: *const std::os::raw::c_char,
    pub path: *const std::os::raw::c_char,
    pub name_length: size_t,
    pub path_length: size_t,
    pub stat: *const stat,
    pub inode: u64,
    pub error: std::os::raw::c_int,
    pub depth: u32,
    pub type_: u8,
    pub event: u8,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct cosy_scan {
    _unused: [u8; 0],
}
extern "C" {
    pub fn cosy_scan_open(
        dirfd: std::os::raw::c_int,
        path: *const std::os::raw::c_char,
        flags: u32,
    ) -> *mut cosy_scan;
}
extern "C" {
    pub fn cosy_scan_next(
        scan: *mut cosy_scan,
        entry: *mut *const cosy_dir_entry,
    ) -> std::os::raw::c_int;
}
extern "C" {
    pub fn cosy_scan_fd(scan: *const cosy_scan) -> std::os::raw::c_int;
}
extern "C" {
    pub fn cosy_scan_close(scan: *mut cosy_scan);
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct cosy_walk {
    _unused: [u8; 0],
}
pub const COSY_WALK_ENTRY: cosy_walk_event = 0;
pub const COSY_WALK_ENTER: cosy_walk_event = 1;
pub const COSY_WALK_LEAVE: cosy_walk_event = 2;
pub const COSY_WALK_FAILED: cosy_walk_event = 3;
pub type cosy_walk_event = std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct cosy_walk_options {
    pub size: u32,
    pub flags: u32,
    pub max_depth: u32,
    pub reserved: u32,
}
extern "C" {
    pub fn cosy_walk_open(
        dirfd: std::os::raw::c_int,
        path: *const std::os::raw::c_char,
        options: *const cosy_walk_options,
    ) -> *mut cosy_walk;
}
extern "C" {
    pub fn cosy_walk_next(
        walk: *mut cosy_walk,
        entry: *mut *const cosy_dir_entry,
    ) -> std::os::raw::c_int;
}
extern "C" {
    pub fn cosy_walk_skip(walk: *mut cosy_walk) -> std::os::raw::c_int;
}
extern "C" {
    pub fn cosy_walk_fd(walk: *mut cosy_walk) -> std::os::raw::c_int;
}
extern "C" {
    pub fn cosy_walk_close(walk: *mut cosy_walk);
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct cosy_stat_result {
    pub error: std::os::raw::c_int,
    pub reserved: u32,
    pub statx: statx,
}
extern "C" {
    pub fn cosy_stat_many(
        dirfd: std::os::raw::c_int,
        names: *const *const std::os::raw::c_char,
        count: size_t,
        flags: std::os::raw::c_int,
        mask: u32,
        results: *mut cosy_stat_result,
    ) -> ssize_t;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct cosy_read_files {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct cosy_file {
    pub index: size_t,
    pub path: *const std::os::raw::c_char,
    pub data: *const std::os::raw::c_void,
    pub size: size_t,
    pub error: std::os::raw::c_int,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct cosy_read_options {
    pub size: u32,
    pub flags: u32,
    pub max_size: u64,
}
extern "C" {
    pub fn cosy_read_files_open(
        dirfd: std::os::raw::c_int,
        paths: *const *const std::os::raw::c_char,
        count: size_t,
        options: *const cosy_read_options,
    ) -> *mut cosy_read_files;
}
extern "C" {
    pub fn cosy_read_files_next(
        files: *mut cosy_read_files,
        file: *mut *const cosy_file,
    ) -> std::os::raw::c_int;
}
extern "C" {
    pub fn cosy_read_files_close(files: *mut cosy_read_files);
}
pub type cosy_failed_function = ::std::option::Option<
    unsafe extern "C" fn(
        argument: *mut std::os::raw::c_void,
        path: *const std::os::raw::c_char,
        error: std::os::raw::c_int,
    ) -> std::os::raw::c_int,
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct cosy_copy_options {
    pub size: u32,
    pub flags: u32,
    pub failed: cosy_failed_function,
    pub argument: *mut std::os::raw::c_void,
}
extern "C" {
    pub fn cosy_copy_tree(
        from_dirfd: std::os::raw::c_int,
        from: *const std::os::raw::c_char,
        to_dirfd: std::os::raw::c_int,
        to: *const std::os::raw::c_char,
        options: *const cosy_copy_options,
    ) -> std::os::raw::c_int;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct cosy_remove_options {
    pub size: u32,
    pub flags: u32,
    pub failed: cosy_failed_function,
    pub argument: *mut std::os::raw::c_void,
}
extern "C" {
    pub fn cosy_remove_tree(
        dirfd: std::os::raw::c_int,
        path: *const std::os::raw::c_char,
        options: *const cosy_remove_options,
    ) -> std::os::raw::c_int;
}
