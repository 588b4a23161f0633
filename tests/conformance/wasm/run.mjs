// node run.mjs MODULE.wasm FOLDER: runs every line of every vector file and prints a line for each file and one for
// all, as the native run does.
import assert from "node:assert/strict";
import { createReadStream, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";

const [moduleFile, folder] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(moduleFile));
assert.deepEqual(WebAssembly.Module.imports(module), [], "the module must import nothing");
const { line, run, hash, memory } = new WebAssembly.Instance(module).exports;

const runLine = (text) => {
  const bytes = Buffer.from(text);
  const start = line(bytes.length);
  new Uint8Array(memory.buffer, start, bytes.length).set(bytes);
  return run();
};

const isVectors = (name) => name.endsWith(".jsonl") || name.endsWith(".jsonl.gz");
const print = (name, [ran, passed, sum]) => {
  const [run, good, bad] = [ran, passed, ran - passed].map((count) => String(count).padStart(6));
  const digits = sum.toString(16).padStart(16, "0");
  console.log(`${name.padEnd(34)} run ${run}  passed ${good}  failed ${bad}  hash ${digits}`);
};
const add = ([ran, passed, sum], outcome, hash) => [ran + 1, passed + outcome, BigInt.asUintN(64, sum + hash)];

let all = [0, 0, 0n];
for (const name of readdirSync(folder).filter(isVectors).sort()) {
  const stream = createReadStream(join(folder, name));
  const input = name.endsWith(".gz") ? stream.pipe(createGunzip()) : stream;
  let counts = [0, 0, 0n];
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    const outcome = runLine(text);
    assert.notEqual(outcome, -1, `${name}: line ${counts[0] + 1} is no scenario`);
    counts = add(counts, outcome, hash());
    all = add(all, outcome, hash());
  }
  print(name, counts);
}
print("all", all);
process.exitCode = all[0] > 0 && all[0] === all[1] ? 0 : 1;
