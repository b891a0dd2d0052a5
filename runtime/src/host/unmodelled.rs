//! The hooks of calls and instructions that nobody models.

use super::numbers;
use crate::machine::config::Mode;
use crate::machine::hook;
use crate::machine::limits;
use crate::session::files as session;
use lockred_protocol::codes::AssumptionKind;
use lockred_protocol::sites::SiteId;

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_native_call(index: u32, site: u32) {
    numbers::called_native(index);
    let state = &mut *hook::enter();
    if !state.is_put_back() {
        return;
    }
    crate::monitor::native::called(state, index, SiteId(site));
    if !session::was_reported(index) {
        let detail = format!("calls {}", session::external(index));
        limits::assume_at(state, AssumptionKind::NativeCode, &detail, SiteId(site));
    }
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_unsupported_call(index: u32, site: u32) {
    let state = &mut *hook::enter();
    if state.config.mode != Mode::Free {
        limits::unsupported_at(state, &session::external(index), SiteId(site));
    }
}

/// See [`lockred_protocol::hooks`].
#[unsafe(no_mangle)]
pub extern "C" fn __lr_unsupported_instruction(site: u32) {
    let state = &mut *hook::enter();
    if state.config.mode != Mode::Free {
        let what = "an atomic instruction that is not modelled";
        limits::unsupported_at(state, what, SiteId(site));
    }
}
