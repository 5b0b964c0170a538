//! Values: instructions, constants, globals, functions; and basic blocks.

use std::ffi::c_uint;

use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMGetSubprogram, LLVMInstructionGetDebugLoc};
use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};
use llvm_sys::*;

use super::metadata::{DebugRecord, Metadata};
use super::{LlvmType, ModuleHandle, from_message, from_parts};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value(LLVMValueRef);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BasicBlock(LLVMBasicBlockRef);

impl Value {
    pub(super) fn new(raw: LLVMValueRef) -> Option<Self> {
        (!raw.is_null()).then_some(Self(raw))
    }

    fn certain(raw: LLVMValueRef) -> Self {
        Self::new(raw).expect("LLVM answers with a value")
    }

    pub(super) fn raw(self) -> LLVMValueRef {
        self.0
    }

    pub fn kind(self) -> LLVMValueKind {
        unsafe { LLVMGetValueKind(self.0) }
    }

    pub fn ty(self) -> LlvmType {
        LlvmType::new(unsafe { LLVMTypeOf(self.0) })
    }

    pub fn name(self) -> String {
        let mut length = 0;
        unsafe { from_parts(LLVMGetValueName2(self.0, &mut length), length) }
    }

    /// The IR that stands for this value: slow, for messages only.
    pub fn text(self) -> String {
        unsafe { from_message(LLVMPrintValueToString(self.0)) }
    }

    pub fn operand_count(self) -> u32 {
        unsafe { LLVMGetNumOperands(self.0) as u32 }
    }

    pub fn operand(self, index: u32) -> Value {
        Self::certain(unsafe { LLVMGetOperand(self.0, index as c_uint) })
    }

    pub fn is_function(self) -> bool {
        unsafe { !LLVMIsAFunction(self.0).is_null() }
    }

    pub fn is_inline_assembly(self) -> bool {
        unsafe { !LLVMIsAInlineAsm(self.0).is_null() }
    }

    pub fn is_integer_constant(self) -> bool {
        unsafe { !LLVMIsAConstantInt(self.0).is_null() }
    }

    pub fn is_null_constant(self) -> bool {
        unsafe { LLVMIsNull(self.0) != 0 }
    }

    /// Of an integer constant of at most 64 bits.
    pub fn integer_value(self) -> u64 {
        unsafe { LLVMConstIntGetZExtValue(self.0) }
    }

    /// Of an integer constant of at most 64 bits.
    pub fn signed_value(self) -> i64 {
        unsafe { LLVMConstIntGetSExtValue(self.0) }
    }

    /// A constant of the same bits and another type; folded where LLVM can.
    pub fn bitcast_constant(self, ty: LlvmType) -> Value {
        Self::certain(unsafe { LLVMConstBitCast(self.0, ty.raw()) })
    }

    /// An element of a constant array, struct or vector.
    pub fn aggregate_element(self, index: u32) -> Option<Value> {
        Self::new(unsafe { LLVMGetAggregateElement(self.0, index as c_uint) })
    }

    /// The bytes of a constant data array or vector.
    pub fn raw_data(&self) -> &[u8] {
        let mut size: usize = 0;
        // The C function takes a pointer to the size; the binding declares it as a number of the same width.
        let size_address = (&raw mut size).expose_provenance();
        unsafe {
            let data = LLVMGetRawDataValues(self.0, size_address).cast::<u8>();
            std::slice::from_raw_parts(data, size)
        }
    }

    /// Of a constant expression.
    pub fn constant_opcode(self) -> LLVMOpcode {
        unsafe { LLVMGetConstOpcode(self.0) }
    }

    /// Of a block address.
    pub fn block_address(self) -> (Value, BasicBlock) {
        unsafe { (Self::certain(LLVMGetBlockAddressFunction(self.0)), BasicBlock(LLVMGetBlockAddressBasicBlock(self.0))) }
    }

    /// Of an alias.
    pub fn aliasee(self) -> Value {
        Self::certain(unsafe { LLVMAliasGetAliasee(self.0) })
    }
}

/// Globals and functions.
impl Value {
    pub fn value_type(self) -> LlvmType {
        LlvmType::new(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    pub fn is_declaration(self) -> bool {
        unsafe { LLVMIsDeclaration(self.0) != 0 }
    }

    /// Whether other modules cannot name it.
    pub fn is_static(self) -> bool {
        matches!(unsafe { LLVMGetLinkage(self.0) }, LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage)
    }

    pub fn initializer(self) -> Option<Value> {
        Self::new(unsafe { LLVMGetInitializer(self.0) })
    }

    pub fn is_thread_local(self) -> bool {
        unsafe { LLVMIsThreadLocal(self.0) != 0 }
    }

    pub fn is_constant_global(self) -> bool {
        unsafe { LLVMIsGlobalConstant(self.0) != 0 }
    }

    /// The debug information of a global variable: one node for each variable of the source it holds.
    pub fn global_metadata(self, module: ModuleHandle, kind: c_uint) -> Vec<Metadata> {
        let mut count = 0;
        unsafe {
            let entries = LLVMGlobalCopyAllMetadata(self.0, &mut count);
            let found = (0..count as c_uint)
                .filter(|&index| LLVMValueMetadataEntriesGetKind(entries, index) == kind)
                .filter_map(|index| module.metadata(LLVMValueMetadataEntriesGetMetadata(entries, index)))
                .collect();
            LLVMDisposeValueMetadataEntries(entries);
            found
        }
    }

    pub fn subprogram(self, module: ModuleHandle) -> Option<Metadata> {
        module.metadata(unsafe { LLVMGetSubprogram(self.0) })
    }

    /// 0 when the function is no intrinsic.
    pub fn intrinsic_id(self) -> u32 {
        unsafe { LLVMGetIntrinsicID(self.0) }
    }

    /// The name of an intrinsic without the types it is used at.
    pub fn intrinsic_name(id: u32) -> String {
        let mut length = 0;
        unsafe { from_parts(LLVMIntrinsicGetName(id, &mut length), length) }
    }

    pub fn parameters(self) -> Vec<Value> {
        let count = unsafe { LLVMCountParams(self.0) };
        (0..count).map(|index| Self::certain(unsafe { LLVMGetParam(self.0, index) })).collect()
    }

    pub fn blocks(self) -> impl Iterator<Item = BasicBlock> {
        let first = unsafe { LLVMGetFirstBasicBlock(self.0) };
        let wrap = |raw: LLVMBasicBlockRef| (!raw.is_null()).then_some(BasicBlock(raw));
        std::iter::successors(wrap(first), move |block| wrap(unsafe { LLVMGetNextBasicBlock(block.0) }))
    }

    /// The type that a parameter attribute such as `byval` names; parameters count from 0.
    pub fn parameter_type_attribute(self, parameter: u32, kind: c_uint) -> Option<LlvmType> {
        unsafe { type_of_attribute(LLVMGetEnumAttributeAtIndex(self.0, parameter + 1, kind)) }
    }

    pub fn parameter_integer_attribute(self, parameter: u32, kind: c_uint) -> Option<u64> {
        unsafe { integer_of_attribute(LLVMGetEnumAttributeAtIndex(self.0, parameter + 1, kind)) }
    }

    pub fn argument_type_attribute(self, argument: u32, kind: c_uint) -> Option<LlvmType> {
        unsafe { type_of_attribute(LLVMGetCallSiteEnumAttribute(self.0, argument + 1, kind)) }
    }

    pub fn argument_integer_attribute(self, argument: u32, kind: c_uint) -> Option<u64> {
        unsafe { integer_of_attribute(LLVMGetCallSiteEnumAttribute(self.0, argument + 1, kind)) }
    }

    /// Of an instruction or global; 0 when none is given.
    pub fn align(self) -> u64 {
        u64::from(unsafe { LLVMGetAlignment(self.0) })
    }
}

unsafe fn type_of_attribute(attribute: prelude::LLVMAttributeRef) -> Option<LlvmType> {
    (!attribute.is_null()).then(|| LlvmType::new(unsafe { LLVMGetTypeAttributeValue(attribute) }))
}

unsafe fn integer_of_attribute(attribute: prelude::LLVMAttributeRef) -> Option<u64> {
    (!attribute.is_null()).then(|| unsafe { LLVMGetEnumAttributeValue(attribute) })
}

/// Instructions. Each method is for the instructions that have what it names.
impl Value {
    pub fn opcode(self) -> LLVMOpcode {
        unsafe { LLVMGetInstructionOpcode(self.0) }
    }

    pub fn debug_location(self, module: ModuleHandle) -> Option<Metadata> {
        module.metadata(unsafe { LLVMInstructionGetDebugLoc(self.0) })
    }

    pub fn debug_records(self) -> impl Iterator<Item = DebugRecord> {
        DebugRecord::all_before(self.0)
    }

    /// The node attached under `kind`.
    pub fn metadata(self, module: ModuleHandle, kind: c_uint) -> Option<Metadata> {
        unsafe {
            if LLVMHasMetadata(self.0) == 0 {
                return None;
            }
            let node = LLVMGetMetadata(self.0, kind);
            if node.is_null() { None } else { module.metadata(LLVMValueAsMetadata(node)) }
        }
    }

    /// The first operand of the node attached under `kind`, when it is an integer.
    pub fn integer_metadata(self, kind: c_uint) -> Option<u64> {
        unsafe {
            if LLVMHasMetadata(self.0) == 0 {
                return None;
            }
            let node = LLVMGetMetadata(self.0, kind);
            if node.is_null() || LLVMGetMDNodeNumOperands(node) != 1 {
                return None;
            }
            let mut operand = std::ptr::null_mut();
            LLVMGetMDNodeOperands(node, &mut operand);
            Value::new(operand).filter(|value| value.is_integer_constant()).map(Value::integer_value)
        }
    }

    pub fn integer_predicate(self) -> LLVMIntPredicate {
        unsafe { LLVMGetICmpPredicate(self.0) }
    }

    pub fn float_predicate(self) -> LLVMRealPredicate {
        unsafe { LLVMGetFCmpPredicate(self.0) }
    }

    pub fn no_unsigned_wrap(self) -> bool {
        unsafe { LLVMGetNUW(self.0) != 0 }
    }

    pub fn no_signed_wrap(self) -> bool {
        unsafe { LLVMGetNSW(self.0) != 0 }
    }

    pub fn exact(self) -> bool {
        unsafe { LLVMGetExact(self.0) != 0 }
    }

    pub fn is_volatile(self) -> bool {
        unsafe { LLVMGetVolatile(self.0) != 0 }
    }

    pub fn is_weak(self) -> bool {
        unsafe { LLVMGetWeak(self.0) != 0 }
    }

    pub fn ordering(self) -> LLVMAtomicOrdering {
        unsafe { LLVMGetOrdering(self.0) }
    }

    pub fn success_ordering(self) -> LLVMAtomicOrdering {
        unsafe { LLVMGetCmpXchgSuccessOrdering(self.0) }
    }

    pub fn failure_ordering(self) -> LLVMAtomicOrdering {
        unsafe { LLVMGetCmpXchgFailureOrdering(self.0) }
    }

    /// Of an atomic instruction or a fence.
    pub fn is_single_thread(self) -> bool {
        unsafe { LLVMIsAtomicSingleThread(self.0) != 0 }
    }

    pub fn read_modify_write_op(self) -> LLVMAtomicRMWBinOp {
        unsafe { LLVMGetAtomicRMWBinOp(self.0) }
    }

    pub fn allocated_type(self) -> LlvmType {
        LlvmType::new(unsafe { LLVMGetAllocatedType(self.0) })
    }

    /// Whether it is a GEP, instruction or constant expression.
    pub fn is_instruction(self) -> bool {
        self.kind() == LLVMValueKind::LLVMInstructionValueKind
    }

    pub fn is_element_pointer(self) -> bool {
        match self.kind() {
            LLVMValueKind::LLVMInstructionValueKind => self.opcode() == LLVMOpcode::LLVMGetElementPtr,
            LLVMValueKind::LLVMConstantExprValueKind => self.constant_opcode() == LLVMOpcode::LLVMGetElementPtr,
            _ => false,
        }
    }

    /// Of a GEP, instruction or constant expression.
    pub fn source_element_type(self) -> LlvmType {
        LlvmType::new(unsafe { LLVMGetGEPSourceElementType(self.0) })
    }

    /// Of a GEP, instruction or constant expression.
    pub fn is_in_bounds(self) -> bool {
        unsafe { LLVMIsInBounds(self.0) != 0 }
    }

    /// Of `extractvalue` and `insertvalue`.
    pub fn indices(&self) -> &[c_uint] {
        unsafe { std::slice::from_raw_parts(LLVMGetIndices(self.0), LLVMGetNumIndices(self.0) as usize) }
    }

    /// The lanes of a shuffle; `None` is poison.
    pub fn shuffle_mask(self) -> Vec<Option<u32>> {
        let count = unsafe { LLVMGetNumMaskElements(self.0) };
        (0..count).map(|lane| u32::try_from(unsafe { LLVMGetMaskValue(self.0, lane) }).ok()).collect()
    }

    pub fn successors(self) -> impl Iterator<Item = BasicBlock> {
        let count = unsafe { LLVMGetNumSuccessors(self.0) };
        (0..count).map(move |index| BasicBlock(unsafe { LLVMGetSuccessor(self.0, index) }))
    }

    /// Of `br`.
    pub fn condition(self) -> Option<Value> {
        unsafe { if LLVMIsConditional(self.0) != 0 { Value::new(LLVMGetCondition(self.0)) } else { None } }
    }

    /// The value of a `switch`'s case; cases count from 1, as its successors do (0 is the default).
    pub fn case_value(self, case: u32) -> Value {
        Self::certain(unsafe { LLVMGetSwitchCaseValue(self.0, case) })
    }

    pub fn incoming(self) -> impl Iterator<Item = (Value, BasicBlock)> {
        let count = unsafe { LLVMCountIncoming(self.0) };
        (0..count).map(move |index| unsafe {
            (Self::certain(LLVMGetIncomingValue(self.0, index)), BasicBlock(LLVMGetIncomingBlock(self.0, index)))
        })
    }

    pub fn called_value(self) -> Value {
        Self::certain(unsafe { LLVMGetCalledValue(self.0) })
    }

    pub fn called_type(self) -> LlvmType {
        LlvmType::new(unsafe { LLVMGetCalledFunctionType(self.0) })
    }

    pub fn argument_count(self) -> u32 {
        unsafe { LLVMGetNumArgOperands(self.0) }
    }

    /// Of `invoke`.
    pub fn normal_destination(self) -> BasicBlock {
        BasicBlock(unsafe { LLVMGetNormalDest(self.0) })
    }

    /// The text of a metadata argument that is a string.
    pub fn metadata_string(self) -> Option<String> {
        let mut length = 0;
        unsafe {
            let text = LLVMGetMDString(self.0, &mut length);
            (!text.is_null()).then(|| from_parts(text, length as usize))
        }
    }
}

/// Inline assembly.
impl Value {
    pub fn assembly_text(self) -> String {
        let mut length = 0;
        unsafe { from_parts(LLVMGetInlineAsmAsmString(self.0, &mut length), length) }
    }

    pub fn assembly_constraints(self) -> String {
        let mut length = 0;
        unsafe { from_parts(LLVMGetInlineAsmConstraintString(self.0, &mut length), length) }
    }
}

impl BasicBlock {
    pub fn instructions(self) -> impl Iterator<Item = Value> {
        let first = unsafe { LLVMGetFirstInstruction(self.0) };
        super::chain(first, |value| unsafe { LLVMGetNextInstruction(value) })
    }
}
