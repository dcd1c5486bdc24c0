/** Searches of both kinds together find no less than the better kind alone (bench/quality/retrieval.ts). */
import t from "tap";
import {
  DESCRIPTION_SETS,
  descriptionSet,
  type FindIds,
  GAIN_PLACES,
  gains,
  searchBy,
  storeDescriptions,
} from "../../bench/quality/retrieval.js";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

for (const name of DESCRIPTION_SETS) {
  const set = descriptionSet(name);
  const byRoute = (mode: string | null) => searchBy(server, name, mode);
  const byStatement =
    (mode: string | null): FindIds =>
    async (query) => {
      const rows = await server.rows(`SELECT id FROM search('${name}', $1, $2, '${mode ?? "hybrid"}')`, [
        query,
        GAIN_PLACES,
      ]);
      return rows.map(([id]) => id as string);
    };
  t.test(`descriptions of ${name}s`, async (t) => {
    await storeDescriptions(server, name, set);
    const mean = async (search: FindIds) => {
      const found = await gains(set, search);
      return found.reduce((sum, gain) => sum + gain, 0) / found.length;
    };
    for (const by of [byRoute, byStatement]) {
      const found = { words: await mean(by("text")), vectors: await mean(by("vector")), both: await mean(by(null)) };
      const shown = JSON.stringify(found, (_, value) => (typeof value === "number" ? Number(value.toFixed(3)) : value));
      t.comment(`nDCG@${GAIN_PLACES}, ${by.name}: ${shown}`);
      t.ok(found.both >= Math.max(found.words, found.vectors), `both are no worse than the better one: ${shown}`);
    }
  });
}
