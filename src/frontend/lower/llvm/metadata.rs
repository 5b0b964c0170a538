//! Metadata: debug information as nodes with operands.
//!
//! LLVM moves operands of its nodes between versions, so they are found by what they are, not by where they stand.

use std::ffi::c_uint;

use llvm_sys::LLVMDbgRecordKind;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::{LLVMContextRef, LLVMDbgRecordRef, LLVMMetadataRef, LLVMValueRef};

use super::{ModuleHandle, Value, from_message, from_parts};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Metadata {
    raw: LLVMMetadataRef,
    context: LLVMContextRef,
}

impl Metadata {
    pub(super) fn new(context: LLVMContextRef, raw: LLVMMetadataRef) -> Option<Self> {
        (!raw.is_null()).then_some(Self { raw, context })
    }

    fn sibling(self, raw: LLVMMetadataRef) -> Option<Self> {
        Self::new(self.context, raw)
    }

    pub fn kind(self) -> LLVMMetadataKind {
        unsafe { LLVMGetMetadataKind(self.raw) }
    }

    fn as_value(self) -> LLVMValueRef {
        unsafe { LLVMMetadataAsValue(self.context, self.raw) }
    }

    /// The operands of a node; absent ones are `None`.
    pub fn operands(self) -> Vec<Option<Metadata>> {
        let value = self.as_value();
        unsafe {
            let count = LLVMGetMDNodeNumOperands(value) as usize;
            let mut raw: Vec<LLVMValueRef> = vec![std::ptr::null_mut(); count];
            LLVMGetMDNodeOperands(value, raw.as_mut_ptr());
            raw.into_iter()
                .map(|operand| if operand.is_null() { None } else { self.sibling(LLVMValueAsMetadata(operand)) })
                .collect()
        }
    }

    /// The first string among the operands: the name, in all nodes that have one.
    pub fn name(self) -> String {
        self.operands().into_iter().flatten().find_map(Metadata::string).unwrap_or_default()
    }

    pub fn string(self) -> Option<String> {
        if !matches!(self.kind(), LLVMMetadataKind::LLVMMDStringMetadataKind) {
            return None;
        }
        Value::new(self.as_value()).and_then(Value::metadata_string)
    }

    /// The integer that this node wraps.
    pub fn integer(self) -> Option<i64> {
        if !matches!(self.kind(), LLVMMetadataKind::LLVMConstantAsMetadataMetadataKind) {
            return None;
        }
        let mut operand = std::ptr::null_mut();
        unsafe { LLVMGetMDNodeOperands(self.as_value(), &mut operand) };
        Value::new(operand).filter(|value| value.is_integer_constant()).map(Value::signed_value)
    }

    /// The text of the node: slow.
    pub fn text(self) -> String {
        unsafe { from_message(LLVMPrintValueToString(self.as_value())) }
    }

    /// Of a debug-information node.
    pub fn tag(self) -> u16 {
        unsafe { LLVMGetDINodeTag(self.raw) }
    }

    pub fn is_type(self) -> bool {
        use LLVMMetadataKind::*;
        matches!(
            self.kind(),
            LLVMDIBasicTypeMetadataKind
                | LLVMDIDerivedTypeMetadataKind
                | LLVMDICompositeTypeMetadataKind
                | LLVMDISubroutineTypeMetadataKind
                | LLVMDIStringTypeMetadataKind
                | LLVMDIFixedPointTypeMetadataKind
                | LLVMDISubrangeTypeMetadataKind
        )
    }
}

/// Types.
impl Metadata {
    pub fn type_name(self) -> String {
        let mut length = 0;
        unsafe { from_parts(LLVMDITypeGetName(self.raw, &mut length), length) }
    }

    pub fn size_bits(self) -> u64 {
        unsafe { LLVMDITypeGetSizeInBits(self.raw) }
    }

    pub fn offset_bits(self) -> u64 {
        unsafe { LLVMDITypeGetOffsetInBits(self.raw) }
    }
}

/// Scopes, files and source locations.
impl Metadata {
    pub fn line(self) -> u32 {
        unsafe { LLVMDILocationGetLine(self.raw) }
    }

    pub fn column(self) -> u32 {
        unsafe { LLVMDILocationGetColumn(self.raw) }
    }

    pub fn scope(self) -> Option<Metadata> {
        self.sibling(unsafe { LLVMDILocationGetScope(self.raw) })
    }

    pub fn inlined_at(self) -> Option<Metadata> {
        self.sibling(unsafe { LLVMDILocationGetInlinedAt(self.raw) })
    }

    /// The file of a scope.
    pub fn scope_file(self) -> Option<Metadata> {
        self.sibling(unsafe { LLVMDIScopeGetFile(self.raw) })
    }

    pub fn type_of_subprogram(self) -> Option<Metadata> {
        let is_function = |operand: &Metadata| matches!(operand.kind(), LLVMMetadataKind::LLVMDISubroutineTypeMetadataKind);
        self.operands().into_iter().flatten().find(is_function)
    }

    pub fn subprogram_line(self) -> u32 {
        unsafe { LLVMDISubprogramGetLine(self.raw) }
    }

    /// Of a file.
    pub fn file_name(self) -> String {
        let mut length: c_uint = 0;
        unsafe { from_parts(LLVMDIFileGetFilename(self.raw, &mut length), length as usize) }
    }

    /// Of a file.
    pub fn directory(self) -> String {
        let mut length: c_uint = 0;
        unsafe { from_parts(LLVMDIFileGetDirectory(self.raw, &mut length), length as usize) }
    }
}

/// Variables.
impl Metadata {
    /// Of a `DIGlobalVariableExpression`.
    pub fn global_variable(self) -> Option<Metadata> {
        self.sibling(unsafe { LLVMDIGlobalVariableExpressionGetVariable(self.raw) })
    }

    /// Of a `DIGlobalVariableExpression`.
    pub fn global_expression(self) -> Option<Metadata> {
        self.sibling(unsafe { LLVMDIGlobalVariableExpressionGetExpression(self.raw) })
    }

    pub fn variable_line(self) -> u32 {
        unsafe { LLVMDIVariableGetLine(self.raw) }
    }

    pub fn variable_file(self) -> Option<Metadata> {
        self.sibling(unsafe { LLVMDIVariableGetFile(self.raw) })
    }
}

/// What debug information says in front of an instruction.
#[derive(Clone, Copy)]
pub struct DebugRecord(LLVMDbgRecordRef);

impl DebugRecord {
    pub(super) fn all_before(instruction: LLVMValueRef) -> impl Iterator<Item = DebugRecord> {
        let wrap = |raw: LLVMDbgRecordRef| (!raw.is_null()).then_some(DebugRecord(raw));
        let first = unsafe { LLVMGetFirstDbgRecord(instruction) };
        std::iter::successors(wrap(first), move |record| wrap(unsafe { LLVMGetNextDbgRecord(record.0) }))
    }

    pub fn kind(self) -> LLVMDbgRecordKind {
        unsafe { LLVMDbgRecordGetKind(self.0) }
    }

    /// Not of a label.
    pub fn variable(self, module: ModuleHandle) -> Option<Metadata> {
        module.metadata(unsafe { LLVMDbgVariableRecordGetVariable(self.0) })
    }

    /// Not of a label.
    pub fn expression(self, module: ModuleHandle) -> Option<Metadata> {
        module.metadata(unsafe { LLVMDbgVariableRecordGetExpression(self.0) })
    }

    /// The first value that the record names. Not of a label.
    pub fn value(self) -> Option<Value> {
        // A list of no values marks a variable that was optimised out, and LLVM reads the first one all the same.
        unsafe {
            if number_of_values(self.0) == 0 {
                return None;
            }
            Value::new(LLVMDbgVariableRecordGetValue(self.0, 0))
        }
    }

    /// The stack slot of the variable. Of an assignment only.
    pub fn assigned_address(self) -> Option<Value> {
        Value::new(unsafe { address_of_assignment(self.0) })
    }
}

// What LLVM's C interface has no name for, by its C++ name: members without arguments, which are called like C functions.
unsafe extern "C" {
    /// `unsigned llvm::DbgVariableRecord::getNumVariableLocationOps() const`
    #[link_name = "_ZNK4llvm17DbgVariableRecord25getNumVariableLocationOpsEv"]
    fn number_of_values(record: LLVMDbgRecordRef) -> c_uint;

    /// `llvm::Value *llvm::DbgVariableRecord::getAddress() const`
    #[link_name = "_ZNK4llvm17DbgVariableRecord10getAddressEv"]
    fn address_of_assignment(record: LLVMDbgRecordRef) -> LLVMValueRef;
}
