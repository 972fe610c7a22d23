// SPDX-License-Identifier: MIT
//! Finds libcosy: in COSY_LIB_DIR, or else by pkg-config, or else in the folders that the linker searches.
use std::env;
use std::process::Command;

fn main() {
    if env::var_os("CARGO_CFG_MIRI").is_some() {
        return; // fake.rs
    }
    println!("cargo:rerun-if-env-changed=COSY_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rustc-link-lib=cosy");
    if let Ok(folder) = env::var("COSY_LIB_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:folder={folder}");
        return;
    }
    let asked = Command::new("pkg-config")
        .args(["--variable=libdir", "cosy"])
        .output();
    match asked {
        Ok(output) if output.status.success() => {
            let folder = String::from_utf8_lossy(&output.stdout).trim().to_string();
            println!("cargo:rustc-link-search=native={folder}");
            println!("cargo:folder={folder}");
        }
        Err(_) => println!(
            "cargo:warning=pkg-config is not installed: the linker searches for libcosy.so in the system's folders"
        ),
        Ok(_) => {
            eprintln!("cosy-sys: pkg-config finds no cosy.pc: install libcosy-dev, or set COSY_LIB_DIR to the folder of libcosy.so");
            std::process::exit(1);
        }
    }
}
