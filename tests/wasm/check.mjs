// node check.mjs MODULE.wasm FOLDER: fails unless the module imports nothing and gives the events that lie beside
// each capture of the folder: NAME.plegcap, NAME.events.jsonl.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const [file, folder] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(file));
assert.deepEqual(WebAssembly.Module.imports(module), [], "the module must import nothing");

const { push, replay, at } = new WebAssembly.Instance(module).exports;
const events = (capture) => {
  for (const byte of capture) push(byte);
  const length = replay();
  assert.notEqual(length, -1, "the capture cannot be read");
  return Buffer.from(Array.from({ length }, (_, index) => at(index))).toString();
};
const captures = readdirSync(folder).filter((name) => name.endsWith(".plegcap"));
assert.ok(captures.length > 0, `no capture in ${folder}`);
for (const name of captures) {
  const expected = readFileSync(join(folder, name.replace(".plegcap", ".events.jsonl")), "utf8");
  assert.equal(events(readFileSync(join(folder, name))), expected, name);
}
console.log(`imports nothing; ${captures.length} captures give their events`);
