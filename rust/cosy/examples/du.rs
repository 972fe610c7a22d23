// SPDX-License-Identifier: MIT
//! Prints how many KB files below each path take, as `du -s --count-links` does.
use cosy::{Event, Walk};
use std::os::unix::fs::MetadataExt;

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        let mut blocks = std::fs::symlink_metadata(&path)?.blocks();
        let mut walk = Walk::new(&path).metadata().open()?;
        while let Some(event) = walk.next_event() {
            match event? {
                Event::Entry(entry) => match entry.metadata() {
                    Ok(metadata) => blocks += metadata.blocks(),
                    Err(error) => eprintln!("du: {}: {error}", entry.path().display()),
                },
                Event::Failed(directory, error) => {
                    eprintln!("du: {}: {error}", directory.path().display())
                }
                _ => {}
            }
        }
        println!("{}\t{path}", blocks / 2);
    }
    Ok(())
}
