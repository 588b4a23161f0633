// node check.mjs MODULE.wasm: fails unless the module imports nothing and works with nothing.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
assert.deepEqual(WebAssembly.Module.imports(module), [], "the module must import nothing");

const { push, frames } = new WebAssembly.Instance(module).exports;
const read = (text) => {
  for (const byte of Buffer.from(text)) push(byte);
  return frames();
};
const runtime = { name: "", version: "", api: "v1", endpoint: "" };
const times = { period: 1, threshold: 2, capacity: 3, deadline: 4, wall: 5, mono: 6 };
const hello = JSON.stringify({ hello: { plegscope: 1, agent: "", node: "", runtime, kubelet: "1.36", ...times } });
assert.equal(read(`${hello}\n{"live":{}}\n{"li`), 2, "a capture cut short is read up to its last whole line");
assert.equal(read("no capture"), -1, "what is no capture is refused");
console.log("imports nothing; reads a capture");
