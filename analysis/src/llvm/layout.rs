//! How values of first-class types are made of scalars: where each lies in memory, and which can
//! hold an address.

use super::{Module, Type, Value};
use llvm_sys::core::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMOffsetOfElement};
use llvm_sys::{LLVMTypeKind, LLVMValueKind};

/// A scalar (or vector) inside a value of some type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scalar {
    /// Bytes from the beginning of the value in memory.
    pub offset: u64,
    /// Its size in bytes; 0 if it is too small to hold an address.
    pub room: u64,
    /// It is an address by its type.
    pub is_address: bool,
}

/// Scalars that a type is taken apart into at most; of a longer one all are taken for one.
const LIMIT: usize = 32;

impl Type {
    /// The scalars of a value, in the order of its fields. A type with more than a few, or an
    /// opaque one, is one scalar.
    #[must_use]
    pub fn scalars(self, module: &Module) -> Vec<Scalar> {
        let mut scalars = Vec::new();
        if self.is_void() || !self.add_scalars(module, 0, &mut scalars) {
            let room = if self.is_void() { 0 } else { module.allocation_size(self) };
            scalars = vec![Scalar { offset: 0, room, is_address: false }];
        }
        scalars
    }

    fn add_scalars(self, module: &Module, base: u64, scalars: &mut Vec<Scalar>) -> bool {
        use LLVMTypeKind::*;
        // SAFETY: valid handles (directory contract), here and below; each question is asked of its
        // own kind of type only.
        match unsafe { LLVMGetTypeKind(self.0) } {
            LLVMStructTypeKind | LLVMArrayTypeKind => {
                let Some(fields) = self.fields(module) else { return false };
                fields.into_iter().all(|(offset, field)| {
                    field.add_scalars(module, base + offset, scalars) && scalars.len() <= LIMIT
                })
            }
            // Numbers with a fraction are no addresses.
            LLVMHalfTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind | LLVMFP128TypeKind
            | LLVMX86_FP80TypeKind => {
                scalars.push(Scalar { offset: base, room: 0, is_address: false });
                scalars.len() <= LIMIT
            }
            LLVMMetadataTypeKind | LLVMTokenTypeKind | LLVMLabelTypeKind => true,
            _ => {
                let size = module.store_size(self);
                let room = if size < 8 { 0 } else { size };
                let is_address = self.is_pointer();
                scalars.push(Scalar { offset: base, room, is_address });
                scalars.len() <= LIMIT
            }
        }
    }

    /// Offset and type of each field of a structure or array; `None` if there are too many.
    fn fields(self, module: &Module) -> Option<Vec<(u64, Type)>> {
        // SAFETY: as above; indices are in range.
        unsafe {
            let layout = LLVMGetModuleDataLayout(module.0);
            if LLVMGetTypeKind(self.0) == LLVMTypeKind::LLVMStructTypeKind {
                let field = |i| {
                    (
                        LLVMOffsetOfElement(layout, self.0, i),
                        Type(LLVMStructGetTypeAtIndex(self.0, i)),
                    )
                };
                return Some((0..LLVMCountStructElementTypes(self.0)).map(field).collect());
            }
            let element = Type(LLVMGetElementType(self.0));
            let count = LLVMGetArrayLength2(self.0);
            let size = LLVMABISizeOfType(layout, element.0);
            (count <= LIMIT as u64).then(|| (0..count).map(|i| (i * size, element)).collect())
        }
    }

    /// Of the scalars of a structure or array, the number of those before a field, and of those in
    /// it. `None` where the type is not taken apart.
    #[must_use]
    pub fn scalars_at(self, module: &Module, path: &[u32]) -> Option<(usize, usize)> {
        let mut scalars = Vec::new();
        if !self.add_scalars(module, 0, &mut scalars) {
            return None;
        }
        let mut before = 0;
        let mut at = self;
        for &index in path {
            let fields = at.fields(module)?;
            for &(_, field) in &fields[..index as usize] {
                before += field.count_scalars(module);
            }
            at = fields.get(index as usize)?.1;
        }
        Some((before, at.count_scalars(module)))
    }

    fn count_scalars(self, module: &Module) -> usize {
        let mut scalars = Vec::new();
        self.add_scalars(module, 0, &mut scalars);
        scalars.len()
    }

    /// How far an address computation over this type moves an address.
    pub(super) fn distance(self, module: &Module, indices: &[Value]) -> Distance {
        let mut at = self;
        let (mut sum, mut stride) = (0_i64, 0_u64);
        for (position, index) in indices.iter().enumerate() {
            // SAFETY: as above.
            unsafe {
                let of_struct = LLVMGetTypeKind(at.0) == LLVMTypeKind::LLVMStructTypeKind;
                if position > 0 && of_struct {
                    let number = LLVMConstIntGetZExtValue(index.0) as u32;
                    let layout = LLVMGetModuleDataLayout(module.0);
                    sum = sum.saturating_add(LLVMOffsetOfElement(layout, at.0, number) as i64);
                    at = Type(LLVMStructGetTypeAtIndex(at.0, number));
                    continue;
                }
                if position > 0 {
                    at = Type(LLVMGetElementType(at.0));
                }
                let size = module.allocation_size(at);
                if LLVMIsAConstantInt(index.0).is_null() {
                    stride = gcd(stride, size.saturating_mul(index.factor()));
                } else {
                    let number = LLVMConstIntGetSExtValue(index.0);
                    sum = sum.saturating_add(number.saturating_mul(size as i64));
                }
            }
        }
        match u32::try_from(stride) {
            Ok(0) => Distance::Exactly(sum),
            Ok(stride) => Distance::Multiples(sum, stride),
            Err(_) => Distance::Unknown,
        }
    }
}

/// How far one address is from another one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Distance {
    /// So many bytes.
    Exactly(i64),
    /// So many bytes, and in the same object, or right after it.
    Within(i64),
    /// So many bytes, and any number of times so many more.
    Multiples(i64, u32),
    /// So many bytes, and any number of times so many more, and in the same object, or right after
    /// it.
    Element(i64, u32),
    /// Unknown.
    Unknown,
    /// It is no address any more, but a number that is computed of one.
    Number,
    /// As far as it was; from a number, anywhere.
    Restored,
}

/// The greatest common divisor; 0 is a multiple of everything.
pub(crate) const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Value {
    /// A number that an index is a multiple of, as far as the instruction that computes it tells.
    fn factor(self) -> u64 {
        // SAFETY: as above.
        unsafe {
            if LLVMIsAInstruction(self.0).is_null() {
                return 1;
            }
            let right = || Value(LLVMGetOperand(self.0, 1)).as_integer();
            match LLVMGetInstructionOpcode(self.0) {
                llvm_sys::LLVMOpcode::LLVMShl => right().map_or(1, |bits| 1 << bits.min(31)),
                llvm_sys::LLVMOpcode::LLVMMul => right().map_or(1, |n| n.max(1)),
                _ => 1,
            }
        }
    }
}

/// What a constant is, as far as addresses go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Constant {
    /// Holds no address of an object.
    Number,
    /// The address of a global variable or function, and so many bytes after it.
    Address(Value, i64),
    /// Made, in some way, of other constants.
    Made(Vec<Value>),
    /// A structure, array or vector: its parts, each with its offset in bytes.
    Parts(Vec<(u64, Value)>),
}

impl Value {
    /// What a constant is. (Not asked of functions' own values: parameters and instructions.)
    #[must_use]
    pub fn constant(self, module: &Module) -> Constant {
        use LLVMValueKind::*;
        match self.kind() {
            LLVMFunctionValueKind | LLVMGlobalVariableValueKind => Constant::Address(self, 0),
            LLVMGlobalAliasValueKind => {
                // SAFETY: valid handle of an alias.
                let target = Value(unsafe { LLVMAliasGetAliasee(self.0) });
                Constant::Made(vec![target])
            }
            LLVMGlobalIFuncValueKind => Constant::Made(vec![]),
            LLVMConstantExprValueKind => self.constant_expression(module),
            LLVMConstantStructValueKind
            | LLVMConstantArrayValueKind
            | LLVMConstantVectorValueKind => {
                let operands = self.operands();
                match self.value_type().all_fields(module) {
                    Some(offset) => Constant::Parts(
                        operands.into_iter().enumerate().map(|(i, v)| (offset(i), v)).collect(),
                    ),
                    None => Constant::Made(operands),
                }
            }
            _ => Constant::Number,
        }
    }

    fn constant_expression(self, module: &Module) -> Constant {
        use llvm_sys::LLVMOpcode::*;
        let operands = self.operands();
        // SAFETY: valid handle of a constant expression; the source type is asked of address
        // computations only.
        let distance = match unsafe { LLVMGetConstOpcode(self.0) } {
            LLVMGetElementPtr => {
                // SAFETY: as above.
                let source = Type(unsafe { LLVMGetGEPSourceElementType(self.0) });
                match source.distance(module, &operands[1..]) {
                    Distance::Exactly(bytes) => Some(bytes),
                    _ => None,
                }
            }
            LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast | LLVMAddrSpaceCast => Some(0),
            _ => None,
        };
        if let (Some(distance), Some(&base)) = (distance, operands.first())
            && let Constant::Address(of, before) = base.constant(module)
        {
            return Constant::Address(of, before + distance);
        }
        Constant::Made(operands)
    }
}

impl Type {
    /// Where each element of a structure, array or vector lies.
    fn all_fields(self, module: &Module) -> Option<Box<dyn Fn(usize) -> u64 + '_>> {
        use LLVMTypeKind::*;
        // SAFETY: as above.
        unsafe {
            let layout = LLVMGetModuleDataLayout(module.0);
            match LLVMGetTypeKind(self.0) {
                LLVMStructTypeKind => {
                    Some(Box::new(move |i| LLVMOffsetOfElement(layout, self.0, i as u32)))
                }
                LLVMArrayTypeKind => {
                    let size = LLVMABISizeOfType(layout, LLVMGetElementType(self.0));
                    Some(Box::new(move |i| i as u64 * size))
                }
                _ => None,
            }
        }
    }
}
