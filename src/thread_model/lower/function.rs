//! A function under construction: blocks that are filled one after another, sites that are made as steps come.

use super::Lowering;
use crate::program::{
    Access, Argument, Block, BlockId, Callee, Constant, FunctionId, GlobalId, Instruction, Location, Operand, Operation,
    Ordering, Register, Scope, Site, SiteId, Terminator, TerminatorKind, Type,
};
use crate::thread_model::Position;

/// Writes the body of one function.
pub struct FunctionBuilder<'l, 'm> {
    pub lowering: &'l mut Lowering<'m>,
    pub function: FunctionId,
    /// `None` until the block's terminator is known.
    blocks: Vec<(Vec<Instruction>, Option<Terminator>)>,
    current: usize,
    /// Of the step that is being lowered.
    site: Option<SiteId>,
    sites: u32,
}

impl<'l, 'm> FunctionBuilder<'l, 'm> {
    pub fn new(lowering: &'l mut Lowering<'m>, function: FunctionId) -> Self {
        Self { lowering, function, blocks: vec![(Vec::new(), None)], current: 0, site: None, sites: 0 }
    }

    /// The next step begins.
    pub fn new_site(&mut self, position: Position) -> SiteId {
        let function = self.lowering.program.functions[self.function].source_name.clone();
        let location = Location {
            file: self.lowering.file,
            line: position.line as u32,
            column: position.column as u32,
            function,
            inlined_at: None,
        };
        let location = Some(self.lowering.program.locations.push_and_get_key(location));
        let site = self.lowering.program.sites.push_and_get_key(Site { function: self.function, index: self.sites, location });
        self.sites += 1;
        self.site = Some(site);
        site
    }

    pub fn new_block(&mut self) -> BlockId {
        self.blocks.push((Vec::new(), None));
        BlockId::from(self.blocks.len() - 1)
    }

    /// What follows is written into this block.
    pub fn go_to(&mut self, block: BlockId) {
        self.current = usize::from(block);
    }

    pub fn is_ended(&self) -> bool {
        self.blocks[self.current].1.is_some()
    }

    pub fn end(&mut self, kind: TerminatorKind) {
        let site = self.site.expect("a terminator belongs to a step");
        let terminator = &mut self.blocks[self.current].1;
        assert!(terminator.is_none(), "a block ends once");
        *terminator = Some(Terminator { site, kind });
    }

    pub fn emit(&mut self, operation: Operation, result: Type) -> Option<Operand> {
        let site = self.site.expect("an instruction belongs to a step");
        let register = (result != Type::Void)
            .then(|| self.lowering.program.functions[self.function].registers.push_and_get_key(Register { ty: result }));
        self.blocks[self.current].0.push(Instruction { site, result: register, operation });
        register.map(Operand::Register)
    }

    pub fn value(&mut self, operation: Operation, result: Type) -> Operand {
        self.emit(operation, result).expect("the operation has a result")
    }

    pub fn constant(&mut self, bits: u32, value: u128) -> Operand {
        self.lowering.constant(Constant::integer(bits, value))
    }

    pub fn null(&mut self) -> Operand {
        self.lowering.constant(Constant::Null)
    }

    pub fn address(&mut self, global: GlobalId) -> Operand {
        match self.lowering.program.globals[global].is_thread_local {
            true => self.value(Operation::ThreadLocalAddress { global }, Type::POINTER),
            false => self.lowering.constant(Constant::Global(global)),
        }
    }

    pub fn call(&mut self, callee: FunctionId, arguments: &[Operand]) -> Option<Operand> {
        let result = self.lowering.program.functions[callee].return_type;
        let arguments = arguments.iter().map(|value| Argument { value: *value, by_value: None }).collect();
        self.emit(Operation::Call { callee: Callee::Direct(callee), arguments, is_variadic: false }, result)
    }

    /// A call of a library function whose parameters have the types of the arguments.
    pub fn call_library(&mut self, name: &'static str, arguments: &[Operand], result: Type) -> Option<Operand> {
        let function = &self.lowering.program.functions[self.function];
        let types: Vec<Type> = arguments.iter().map(|argument| self.lowering.program.type_of(function, *argument)).collect();
        let callee = self.lowering.library(name, &types, result);
        self.call(callee, arguments)
    }

    pub fn load(&mut self, address: Operand, bits: u32, is_atomic: bool) -> Operand {
        self.value(Operation::Load { address, access: access(bits, is_atomic) }, Type::integer(bits))
    }

    pub fn store(&mut self, address: Operand, value: Operand, bits: u32, is_atomic: bool) {
        self.emit(Operation::Store { address, value, access: access(bits, is_atomic) }, Type::Void);
    }

    pub fn finish(self) {
        let successors = |terminator: &Option<Terminator>| {
            terminator.as_ref().map(|terminator| terminator.kind.successors()).unwrap_or_default()
        };
        let mut predecessors: Vec<Vec<BlockId>> = vec![Vec::new(); self.blocks.len()];
        for (from, (_, terminator)) in self.blocks.iter().enumerate() {
            for to in successors(terminator) {
                predecessors[usize::from(to)].push(BlockId::from(from));
            }
        }
        let blocks = self.blocks.into_iter().zip(predecessors).map(|((instructions, terminator), mut predecessors)| {
            predecessors.dedup();
            Block { predecessors, phis: Vec::new(), instructions, terminator: terminator.expect("every block was ended") }
        });
        self.lowering.program.functions[self.function].blocks = blocks.collect();
    }
}

fn access(bits: u32, is_atomic: bool) -> Access {
    Access {
        alias: None,
        ordering: is_atomic.then_some(Ordering::SequentiallyConsistent),
        scope: Scope::System,
        is_volatile: false,
        align: u64::from(bits / 8),
    }
}
