// Prints the size of each file of the page, plain, gzip'd and brotli'd, and the sums.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

const dir = process.argv[1];
const row = (name, ...bytes) =>
  console.log(name.padEnd(44) + bytes.map((n) => String(n).padStart(11)).join(""));

row("file", "bytes", "gzip", "brotli");
const sums = [0, 0, 0];
for (const entry of readdirSync(dir, { withFileTypes: true })) {
  if (!entry.isFile() || !/\.(html|js|wasm|css|svg)$/.test(entry.name)) continue;
  const data = readFileSync(join(dir, entry.name));
  const sizes = [data.length, gzipSync(data, { level: 9 }).length, brotliCompressSync(data).length];
  sizes.forEach((size, i) => (sums[i] += size));
  row(entry.name, ...sizes);
}
row("in all", ...sums);
