//! Allocations of one relist of each case, a line each. A program of its own: the counting allocator would slow what
//! is timed.

use pleg_bench::{Bench, Case};
use std::hint::black_box;

fn main() {
    for case in Case::all() {
        let mut bench = Bench::new(case);
        bench.prepare(1);
        let count = allocation_counter::measure(|| {
            black_box(bench.run());
        });
        println!("{}", count.count_total);
    }
}
