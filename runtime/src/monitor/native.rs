//! Calls of native code that the program makes ([`crate::record::native_calls`]).

use crate::machine::hook;
use crate::machine::state::State;
use crate::record::native_calls::Call;
use lockred_protocol::sites::SiteId;

/// The running thread is about to call a function.
pub fn called(state: &mut State, external: u32, site: SiteId) {
    state.monitors.native.called(Call::new(external, site));
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_native_result(result: u64) {
    hook::with(|state| state.monitors.native.returned(result));
}
