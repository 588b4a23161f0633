// node run.mjs MODULE.wasm SECONDS: for each case, in order, the nanoseconds of its quickest relist, a line each.
import { readFileSync } from "node:fs";

const [file, seconds] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(file));

for (let number = 0; ; number += 1) {
  // A module of its own for each case: memory that a larger one left behind would slow the next.
  const { begin, prepare, run } = new WebAssembly.Instance(module).exports;
  const batch = begin(number);
  if (batch === 0) break;
  let best = Infinity;
  const end = performance.now() + 1e3 * Number(seconds);
  for (let rounds = 0; rounds < 3 || performance.now() < end; rounds += 1) {
    prepare();
    const begun = process.hrtime.bigint();
    run();
    best = Math.min(best, Number(process.hrtime.bigint() - begun) / batch);
  }
  console.log(Math.round(best));
}
