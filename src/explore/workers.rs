//! Work on several threads whose results come in order: how many threads there are changes nothing but the time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The results of `work` for each number of the range, in order.
pub fn in_order<T: Send>(jobs: usize, numbers: std::ops::Range<u64>, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let count = numbers.end.saturating_sub(numbers.start);
    let jobs = jobs.min(usize::try_from(count).unwrap_or(usize::MAX));
    if jobs <= 1 {
        return numbers.map(work).collect();
    }
    let next = AtomicU64::new(numbers.start);
    let done: Mutex<Vec<(u64, T)>> = Mutex::new(Vec::new());
    let worker = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return;
            }
            let result = work(number);
            done.lock().expect("nothing panics while it holds the results").push((number, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs {
            scope.spawn(worker);
        }
        worker();
    });
    let mut done = done.into_inner().expect("all workers are done");
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::in_order;

    #[test]
    fn results_come_in_order_whoever_makes_them() {
        for jobs in [0, 1, 2, 7, 100] {
            let slow_first = |number: u64| {
                std::thread::sleep(std::time::Duration::from_micros(200 / (number + 1)));
                number * number
            };
            assert_eq!(in_order(jobs, 3..20, slow_first), (3..20).map(|number| number * number).collect::<Vec<_>>());
            assert!(in_order(jobs, 5..5, |number| number).is_empty());
        }
    }
}
