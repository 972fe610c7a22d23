// SPDX-License-Identifier: MIT
//! Directories with attributes, walks through trees, attributes and contents of many files.
//!
//! Where Cosy's kernel module is loaded, many system calls are made in one crossing into the kernel.
//! Elsewhere each is made as usual, with the same results and errors.
//!
//! ```no_run
//! // The bytes below /usr/share, as `du` counts them.
//! let mut blocks = 0;
//! for entry in cosy::Walk::new("/usr/share").metadata().open()? {
//!     blocks += entry?.metadata()?.blocks();
//! }
//! println!("{} KB", blocks / 2);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Each builder ends with `open` or `run`. Attributes exist only where a builder asked for them:
//!
//! ```compile_fail
//! for entry in cosy::Scan::new("/").open()? {
//!     entry?.metadata()?; // no `metadata` without `Scan::metadata`
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! An iterator returns entries of their own. [`Scanning::next_entry`] and [`Walking::next_event`]
//! lend them instead, without an allocation, until the next call:
//!
//! ```compile_fail
//! let mut scan = cosy::Scan::new("/").open()?;
//! let first = scan.next_entry().unwrap()?;
//! let second = scan.next_entry().unwrap()?;
//! println!("{:?}", first.file_name()); // `first` was lent until the second call
//! # Ok::<(), std::io::Error>(())
//! ```
#![warn(missing_docs)]

mod entry;
mod metadata;
mod path;
mod read;
mod scan;
mod stat;
mod tree;
mod walk;

pub use entry::{Attributes, DirEntry, Entry, NoMetadata, WithMetadata};
pub use metadata::{FileType, Metadata, Statx};
pub use read::{File, ReadFiles, Reading};
pub use scan::{Scan, Scanning};
pub use stat::StatMany;
pub use tree::{CopyTree, RemoveTree};
pub use walk::{Event, Walk, Walking};
