//! `cargo lockred setup`: builds the back end for the toolchain in use, and says where it is.

use crate::backend;
use crate::cargo_config::Configuration;
use crate::cli::SetupOptions;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::printing::console::Console;
use crate::toolchain::Toolchain;

/// Runs the command.
///
/// # Errors
/// When the back end cannot be built.
pub fn run(options: &SetupOptions) -> Result<Exit> {
    let console = Console::new(options.color, options.quiet);
    let directory = std::env::current_dir()
        .map_err(|e| Error::usage(format!("there is no current directory: {e}")))?;
    let configuration = Configuration::read(&directory, &[]);
    let toolchain = Toolchain::find(&directory, &configuration)?;
    let backend = backend::ready(&toolchain, &console, options.verbose)?;
    let place = backend.directory.display();
    match backend.built_in {
        Some(seconds) => console.status(
            "Ready",
            &format!("the back end for rustc {}: {place} ({seconds:.1} s)", toolchain.release),
        ),
        None => console.status(
            "Ready",
            &format!("the back end for rustc {}: {place} (was there)", toolchain.release),
        ),
    }
    Ok(Exit::Success)
}
