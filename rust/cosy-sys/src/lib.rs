// SPDX-License-Identifier: MIT
//! Declarations of `<cosy/files.h>`, as bindgen makes them from the header. The crate `cosy` has a
//! safe interface above them.
//!
//! `bindings.rs` is written by `make rust-bindings`, and a test compares it with the header. Under
//! Miri, which calls no C, `fake.rs` stands for the library.
#![allow(non_camel_case_types, non_upper_case_globals)]

mod bindings;
pub use bindings::*;

#[cfg(miri)]
mod fake;
