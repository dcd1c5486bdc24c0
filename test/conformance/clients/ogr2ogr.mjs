/**
 * ogr2ogr: a CSV file into a table (PGDump's COPY and inserts), the table's description, and out again as GeoJSON and
 * CSV.
 */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { equal, matches, run, step } from "./steps.mjs";

const folder = mkdtempSync(join(tmpdir(), "tessera-ogr-"));
const file = (name) => join(folder, name);
const DATABASE = `PG:dbname=${process.env.PGDATABASE}`;
writeFileSync(file("towns.csv"), 'name,people,area\nOslo,709037,454.1\n"Søgne, Øst",11000,\n');

await step("CSV into a new table", () => {
  run("ogr2ogr", ["-f", "PostgreSQL", DATABASE, file("towns.csv"), "-nln", "towns", "-oo", "AUTODETECT_TYPE=YES"]);
  equal(
    run("psql", ["-XqAtc", "SELECT name, people, area FROM towns ORDER BY 1"]).output,
    "Oslo|709037|454.1\nSøgne, Øst|11000|\n",
  );
});
await step("-append", () => {
  run("ogr2ogr", ["-append", "-f", "PostgreSQL", DATABASE, file("towns.csv"), "-nln", "towns"]);
  equal(run("psql", ["-XqAtc", "SELECT count(*) FROM towns"]).output, "4\n");
});
await step("ogrinfo lists tables and describes one", () => {
  matches(run("ogrinfo", [DATABASE]).output, /towns/);
  const { output } = run("ogrinfo", ["-so", DATABASE, "towns"]);
  matches(output, /Feature Count: 4[\s\S]*FID Column = ogc_fid[\s\S]*name: String[\s\S]*people: Integer/);
});
await step("out as CSV, with SQL", () => {
  run("ogr2ogr", [
    "-f",
    "CSV",
    file("out.csv"),
    DATABASE,
    "-sql",
    "SELECT name, people FROM towns WHERE people > 20000",
  ]);
  equal(readFileSync(file("out.csv"), "utf8"), 'name,people\nOslo,"709037"\nOslo,"709037"\n');
});
await step("-overwrite", () => {
  run("ogr2ogr", ["-overwrite", "-f", "PostgreSQL", DATABASE, file("towns.csv"), "-nln", "towns"]);
  equal(run("psql", ["-XqAtc", "SELECT count(*) FROM towns"]).output, "2\n");
});
