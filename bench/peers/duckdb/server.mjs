/**
 * DuckDB in a process of its own (`node server.mjs FILE THREADS`), which bench/contenders/duckdb-process.ts starts. It
 * prints a line of JSON when the file is open, {version}, and then one for each line {sql} of its input: {milliseconds,
 * rows} or {error}. Cells are texts or null. The end of the input closes the file, which writes a checkpoint.
 */
import { createInterface } from "node:readline";
import { DuckDBInstance, version } from "@duckdb/node-api";

const [, , file, threads] = process.argv;
const instance = await DuckDBInstance.create(file, { threads });
const connection = await instance.connect();
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
print({ version: version() });
for await (const line of createInterface({ input: process.stdin })) {
  const { sql } = JSON.parse(line);
  try {
    const started = performance.now();
    const rows = (await connection.runAndReadAll(sql)).getRowsJson();
    const milliseconds = performance.now() - started;
    print({ milliseconds, rows: rows.map((row) => row.map((cell) => (cell === null ? null : String(cell)))) });
  } catch (error) {
    print({ error: error.message });
  }
}
connection.closeSync();
instance.closeSync();
