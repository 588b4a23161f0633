//! One relist under criterion: `cargo bench -p pleg-bench`.

use criterion::{Criterion, criterion_group, criterion_main};
use pleg_bench::{Bench, Case};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

fn relist(criterion: &mut Criterion) {
    for case in Case::all() {
        let mut bench = Bench::new(case);
        criterion.bench_function(&case.to_string(), |bencher| {
            bencher.iter_custom(|relists| measure(&mut bench, case, relists));
        });
    }
}

/// Time of so many relists, their preparation left out.
fn measure(bench: &mut Bench, case: Case, relists: u64) -> Duration {
    let (mut left, mut took) = (usize::try_from(relists).unwrap_or(usize::MAX), Duration::ZERO);
    while left > 0 {
        let batch = left.min(case.batch());
        bench.prepare(batch);
        let begun = Instant::now();
        black_box(bench.run());
        took += begun.elapsed();
        left -= batch;
    }
    took
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(1));
    targets = relist
}
criterion_main!(benches);
