/** docs/reference/metrics.md is what the server declares. */
import { readFileSync } from "node:fs";
import t from "tap";
import { metricsTable } from "./metrics-table.js";

t.test("the page of metrics is up to date", async (t) => {
  const page = new URL("../../../docs/reference/metrics.md", import.meta.url);
  t.equal(metricsTable(), readFileSync(page, "utf8"), "run `make docs` to write it anew");
  const names = metricsTable().match(/^\| `[a-z0-9_]+/gm)!;
  t.equal(new Set(names).size, names.length);
  for (const name of ["tessera_rocksdb_block_cache_bytes", "tessera_partition_plan_cache_hits_total", "tessera_jobs"]) {
    t.ok(names.includes(`| \`${name}`), name);
  }
});
