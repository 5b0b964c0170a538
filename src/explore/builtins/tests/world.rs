//! A small memory for tests: objects with guard gaps between them, every access written down.

use std::collections::BTreeMap;

use crate::explore::builtins::{self, BuiltinResult};
use crate::explore::environment::{Environment, Stream};
use crate::explore::fault::Fault;
use crate::explore::machine::native::NativeStep;
use crate::explore::value::{ObjectId, Pointer, ScalarValue, Value};
use crate::models::Builtin;
use crate::program::{AssumptionKind, DataLayout, Scalar, Type};

struct Object {
    address: u64,
    bytes: Vec<u8>,
    is_freed: bool,
    is_heap: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read(u64, u64),
    Write(u64, u64),
}

pub struct World {
    layout: DataLayout,
    objects: Vec<Object>,
    next_address: u64,
    library: BTreeMap<String, Pointer>,
    slots: BTreeMap<&'static str, u64>,
    errno: Pointer,
    pub accesses: Vec<Access>,
    pub output: Vec<u8>,
    pub error: Vec<u8>,
    /// What `choose` answers, in order; 0 when they run out.
    pub choices: Vec<u128>,
    pub assumptions: Vec<AssumptionKind>,
}

impl World {
    pub fn new(pointer_bytes: u32) -> World {
        let mut world = World {
            layout: DataLayout { pointer_bytes, ..DataLayout::default() },
            objects: Vec::new(),
            next_address: 0x1_0000,
            library: BTreeMap::new(),
            slots: BTreeMap::new(),
            errno: Pointer::NULL,
            accesses: Vec::new(),
            output: Vec::new(),
            error: Vec::new(),
            choices: Vec::new(),
            assumptions: Vec::new(),
        };
        world.errno = world.object(&[0; 4]);
        world
    }

    pub fn object(&mut self, bytes: &[u8]) -> Pointer {
        self.make(bytes.to_vec(), 16, false)
    }

    pub fn string(&mut self, text: &[u8]) -> Pointer {
        self.object(&[text, &[0]].concat())
    }

    fn make(&mut self, bytes: Vec<u8>, align: u64, is_heap: bool) -> Pointer {
        let address = self.next_address.next_multiple_of(align.max(16));
        self.next_address = address + bytes.len() as u64 + 64;
        self.objects.push(Object { address, bytes, is_freed: false, is_heap });
        Pointer { address, object: Some(ObjectId(self.objects.len() as u32 - 1)) }
    }

    fn locate(&self, pointer: Pointer, size: u64) -> Result<(usize, usize), Fault> {
        let Some(id) = pointer.object else {
            let address = pointer.address;
            return Err(if address < 4096 { Fault::NullDereference { address } } else { Fault::WildPointer { address } });
        };
        let object = &self.objects[id.0 as usize];
        if object.is_freed {
            return Err(Fault::UseAfterFree { object: id });
        }
        let offset = pointer.address.wrapping_sub(object.address) as i64;
        if offset < 0 || offset as u64 + size > object.bytes.len() as u64 {
            return Err(Fault::OutOfBounds { object: id, offset, size });
        }
        Ok((id.0 as usize, offset as usize))
    }

    pub fn bytes(&self, pointer: Pointer) -> &[u8] {
        let (object, offset) = self.locate(pointer, 0).expect("a live object");
        &self.objects[object].bytes[offset..]
    }

    pub fn text(&self, pointer: Pointer) -> &[u8] {
        let bytes = self.bytes(pointer);
        &bytes[..bytes.iter().position(|&byte| byte == 0).expect("a terminator")]
    }

    pub fn errno_value(&self) -> i32 {
        i32::from_le_bytes(self.bytes(self.errno)[..4].try_into().expect("four bytes"))
    }

    pub fn live_heap_objects(&self) -> usize {
        self.objects.iter().filter(|object| object.is_heap && !object.is_freed).count()
    }

    /// Calls a function; a frame is run with `compare` as the program's function.
    pub fn call_with(
        &mut self,
        name: &str,
        arguments: &[Value],
        return_type: Type,
        mut compare: impl FnMut(&World, &[Value]) -> i32,
    ) -> Result<Option<Value>, Fault> {
        let builtin = Builtin::from_name(name).expect("a builtin");
        let types: Vec<Type> = arguments.iter().map(type_of).collect();
        match builtins::call(builtin, self, arguments, &types, return_type)? {
            BuiltinResult::Return(value) => Ok(value),
            BuiltinResult::Frame(mut frame) => {
                let mut last = None;
                loop {
                    match frame.resume(self, last.take())? {
                        NativeStep::Return(value) => return Ok(value),
                        NativeStep::Call { arguments, .. } => last = Some(int(compare(self, &arguments))),
                    }
                }
            }
        }
    }

    pub fn call(&mut self, name: &str, arguments: &[Value], return_type: Type) -> Result<Option<Value>, Fault> {
        self.call_with(name, arguments, return_type, |_, _| 0)
    }

    /// The result of a function that returns an integer of this width, sign-extended.
    pub fn integer(&mut self, name: &str, arguments: &[Value], bits: u32) -> i128 {
        match self.call(name, arguments, Type::integer(bits)) {
            Ok(Some(Value::Scalar(ScalarValue::Integer { bits, value }))) => builtins::call::sign_extend(value, bits),
            other => panic!("{name}: {other:?}"),
        }
    }

    pub fn pointer(&mut self, name: &str, arguments: &[Value]) -> Pointer {
        match self.call(name, arguments, Type::POINTER) {
            Ok(Some(Value::Scalar(ScalarValue::Pointer(pointer)))) => pointer,
            other => panic!("{name}: {other:?}"),
        }
    }

    /// The bits of a floating-point result.
    pub fn real(&mut self, name: &str, arguments: &[Value], kind: Scalar) -> u128 {
        match self.call(name, arguments, Type::Scalar(kind)) {
            Ok(Some(Value::Scalar(ScalarValue::Float { bits, .. }))) => bits,
            other => panic!("{name}: {other:?}"),
        }
    }
}

pub fn int(value: i32) -> Value {
    Value::integer(32, value as u32 as u128)
}

pub fn long(value: i64) -> Value {
    Value::integer(64, value as u64 as u128)
}

pub fn double(value: f64) -> Value {
    Value::Scalar(ScalarValue::Float { kind: Scalar::Double, bits: value.to_bits().into() })
}

pub fn at(pointer: Pointer) -> Value {
    Value::pointer(pointer)
}

fn type_of(value: &Value) -> Type {
    match value {
        Value::Scalar(ScalarValue::Integer { bits, .. }) => Type::integer(*bits),
        Value::Scalar(ScalarValue::Float { kind, .. }) => Type::Scalar(*kind),
        _ => Type::POINTER,
    }
}

impl Environment for World {
    fn layout(&self) -> &DataLayout {
        &self.layout
    }

    fn load(&mut self, address: Pointer, ty: Type) -> Result<Value, Fault> {
        let bytes = self.read(address, self.layout.store_bytes(ty))?;
        let bits = bytes.iter().rev().fold(0u128, |sum, &byte| sum << 8 | u128::from(byte));
        Ok(match ty {
            Type::Scalar(Scalar::Integer(width)) => Value::integer(width, bits),
            Type::Scalar(Scalar::Pointer) => Value::pointer(self.resolve(bits as u64)),
            Type::Scalar(kind) => Value::Scalar(ScalarValue::Float { kind, bits }),
            other => panic!("no test loads {other:?}"),
        })
    }

    fn store(&mut self, address: Pointer, value: &Value, ty: Type) -> Result<(), Fault> {
        let bits = builtins::call::bits_of(value)?.0;
        let size = self.layout.store_bytes(ty) as usize;
        self.write(address, &bits.to_le_bytes()[..size])
    }

    fn read(&mut self, address: Pointer, size: u64) -> Result<Vec<u8>, Fault> {
        self.accesses.push(Access::Read(address.address, size));
        self.peek(address, size)
    }

    fn peek(&self, address: Pointer, size: u64) -> Result<Vec<u8>, Fault> {
        let (object, offset) = self.locate(address, size)?;
        Ok(self.objects[object].bytes[offset..offset + size as usize].to_vec())
    }

    fn write(&mut self, address: Pointer, bytes: &[u8]) -> Result<(), Fault> {
        let (object, offset) = self.locate(address, bytes.len() as u64)?;
        self.accesses.push(Access::Write(address.address, bytes.len() as u64));
        self.objects[object].bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn copy(&mut self, destination: Pointer, source: Pointer, size: u64) -> Result<(), Fault> {
        let bytes = self.read(source, size)?;
        self.write(destination, &bytes)
    }

    fn fill(&mut self, destination: Pointer, byte: u8, size: u64) -> Result<(), Fault> {
        self.write(destination, &vec![byte; size as usize])
    }

    fn remaining(&self, address: Pointer) -> Result<u64, Fault> {
        let (object, offset) = self.locate(address, 0)?;
        Ok((self.objects[object].bytes.len() - offset) as u64)
    }

    fn allocate(&mut self, size: u64, zeroed: bool) -> Result<Pointer, Fault> {
        Ok(self.make(vec![if zeroed { 0 } else { 0xa5 }; size as usize], 16, true))
    }

    fn allocate_aligned(&mut self, size: u64, align: u64) -> Result<Pointer, Fault> {
        Ok(self.make(vec![0xa5; size as usize], align, true))
    }

    fn free(&mut self, pointer: Pointer) -> Result<(), Fault> {
        let Some(id) = pointer.object else { return Err(Fault::InvalidFree { address: pointer.address }) };
        let object = &mut self.objects[id.0 as usize];
        if object.is_freed {
            return Err(Fault::DoubleFree { object: id });
        }
        if !object.is_heap || object.address != pointer.address {
            return Err(Fault::InvalidFree { address: pointer.address });
        }
        object.is_freed = true;
        Ok(())
    }

    fn heap_size(&self, pointer: Pointer) -> Result<u64, Fault> {
        self.remaining(pointer)
    }

    fn write_output(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Output => self.output.extend_from_slice(bytes),
            Stream::Error => self.error.extend_from_slice(bytes),
        }
    }

    fn choose(&mut self, _: u32, _: &str) -> u128 {
        if self.choices.is_empty() { 0 } else { self.choices.remove(0) }
    }

    fn errno(&mut self) -> Pointer {
        self.errno
    }

    fn library_object(&mut self, name: &str, content: &[u8]) -> Result<Pointer, Fault> {
        if let Some(&known) = self.library.get(name) {
            return Ok(known);
        }
        let object = self.object(content);
        self.library.insert(name.to_owned(), object);
        Ok(object)
    }

    fn resolve(&self, address: u64) -> Pointer {
        let holds = |object: &Object| address >= object.address && address <= object.address + object.bytes.len() as u64;
        let object = self.objects.iter().position(holds).map(|index| ObjectId(index as u32));
        Pointer { address, object }
    }

    fn assume(&mut self, kind: AssumptionKind, _: &str) {
        self.assumptions.push(kind);
    }

    fn slot(&mut self, name: &'static str) -> &mut u64 {
        self.slots.entry(name).or_insert(0)
    }
}
