//! The steps of all procedures as one list of points; a point is where a thread can stand, its operation one step of the product.
//!
//! `assign` and `assume` are several points, one for each load, so that other threads can come in between as in C.

use crate::thread_model::{
    Condition, Expression, LockIndex, LockMode, ProcedureIndex, StepKind, Term, ThreadIndex, ThreadModel, VariableIndex,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point(pub u32);

impl Point {
    pub const NONE: Point = Point(u32::MAX);

    pub fn next(self) -> Point {
        Point(self.0 + 1)
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    Acquire {
        lock: LockIndex,
        mode: LockMode,
    },
    Try {
        lock: LockIndex,
        mode: LockMode,
        then: Point,
        otherwise: Point,
    },
    Release {
        lock: LockIndex,
    },
    Call {
        entry: Point,
    },
    Return,
    /// To any of these.
    Jump {
        targets: Vec<Point>,
    },
    /// A read that nobody looks at, or one into a register of the thread.
    Read {
        variable: VariableIndex,
        register: Option<usize>,
    },
    /// A write of nothing in particular, or of a sum of terms; registers are empty afterwards.
    Write {
        variable: VariableIndex,
        value: Option<Expression>,
    },
    Check {
        condition: Condition,
    },
    Spawn {
        thread: ThreadIndex,
    },
    Join {
        thread: ThreadIndex,
    },
    Skip,
}

#[derive(Clone, Debug)]
pub struct Code {
    operations: Vec<Operation>,
    /// The step that each point belongs to; the number of steps for the return at the end.
    steps: Vec<(ProcedureIndex, usize)>,
    /// For each procedure the first point of each step, and of its end.
    points: Vec<Vec<Point>>,
}

impl Code {
    pub fn of(model: &ThreadModel) -> Code {
        let mut points = Vec::new();
        let mut next = 0;
        for procedure in &model.procedures {
            let mut firsts = Vec::new();
            for step in &procedure.steps {
                firsts.push(Point(next));
                next += width(&step.kind);
            }
            firsts.push(Point(next));
            next += 1;
            points.push(firsts);
        }
        let mut code = Code { operations: Vec::new(), steps: Vec::new(), points };
        for (index, procedure) in model.procedures.iter().enumerate() {
            for (at, step) in procedure.steps.iter().enumerate() {
                let operations = code.translate(index, at, &step.kind);
                code.steps.extend(operations.iter().map(|_| (index, at)));
                code.operations.extend(operations);
            }
            code.steps.push((index, procedure.steps.len()));
            code.operations.push(Operation::Return);
        }
        code
    }

    fn translate(&self, procedure: ProcedureIndex, at: usize, step: &StepKind) -> Vec<Operation> {
        let points = &self.points[procedure];
        let target = |to: &Option<usize>| points[to.unwrap_or(at + 1)];
        let loads =
            |left, right| terms(left, right).map(|(register, variable)| Operation::Read { variable, register: Some(register) });
        match step {
            StepKind::Acquire { lock, mode } => vec![Operation::Acquire { lock: *lock, mode: *mode }],
            StepKind::Try { lock, mode, then, otherwise } => {
                vec![Operation::Try { lock: *lock, mode: *mode, then: target(then), otherwise: target(otherwise) }]
            }
            StepKind::Release { lock } => vec![Operation::Release { lock: *lock }],
            StepKind::Call { procedure } => vec![Operation::Call { entry: self.points[*procedure][0] }],
            StepKind::Read { variable } => vec![Operation::Read { variable: *variable, register: None }],
            StepKind::Write { variable } => vec![Operation::Write { variable: *variable, value: None }],
            StepKind::Goto { targets } => vec![Operation::Jump { targets: targets.iter().map(|to| points[*to]).collect() }],
            StepKind::Begin { .. } | StepKind::End { .. } | StepKind::Skip => vec![Operation::Skip],
            StepKind::Spawn { thread } => vec![Operation::Spawn { thread: *thread }],
            StepKind::Join { thread } => vec![Operation::Join { thread: *thread }],
            StepKind::Assume { condition } => {
                loads(condition.left, condition.right).chain([Operation::Check { condition: *condition }]).collect()
            }
            StepKind::Assign { variable, expression } => loads(expression.left, expression.right)
                .chain([Operation::Write { variable: *variable, value: Some(*expression) }])
                .collect(),
            StepKind::Return => vec![Operation::Return],
        }
    }

    pub fn operation(&self, point: Point) -> &Operation {
        &self.operations[point.index()]
    }

    pub fn step(&self, point: Point) -> (ProcedureIndex, usize) {
        self.steps[point.index()]
    }

    /// Where a thread that begins a step stands.
    pub fn point(&self, procedure: ProcedureIndex, at: usize) -> Point {
        self.points[procedure][at]
    }

    /// The variable that the operation touches, and whether it writes.
    pub fn access(&self, point: Point) -> Option<(VariableIndex, bool)> {
        match self.operation(point) {
            Operation::Read { variable, .. } => Some((*variable, false)),
            Operation::Write { variable, .. } => Some((*variable, true)),
            _ => None,
        }
    }
}

/// The registers that a step loads: the first term into 0, the second into 1.
fn terms(left: Term, right: Term) -> impl Iterator<Item = (usize, VariableIndex)> {
    [left, right].into_iter().enumerate().filter_map(|(register, term)| match term {
        Term::Variable(variable) => Some((register, variable)),
        Term::Number(_) => None,
    })
}

/// How many points a step has.
fn width(step: &StepKind) -> u32 {
    let loads = match step {
        StepKind::Assume { condition } => terms(condition.left, condition.right).count(),
        StepKind::Assign { expression, .. } => terms(expression.left, expression.right).count(),
        _ => 0,
    };
    loads as u32 + 1
}
