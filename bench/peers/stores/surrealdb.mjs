/**
 * SurrealDB within this process, on SurrealKV with sync=every: a commit is on disk before its answer, concurrent ones
 * are grouped. Records are addressed by id, its fastest way; its JavaScript interface has no prepared statements.
 */
import { join } from "node:path";
import { createNodeEngines } from "@surrealdb/node";
import { RecordId, Surreal } from "surrealdb";

const ROWS_PER_STATEMENT = 1000;

export async function open(directory) {
  const database = new Surreal({ engines: createNodeEngines() });
  await database.connect(`surrealkv://${join(directory, "surreal")}?sync=every`);
  await database.use({ namespace: "bench", database: "bench" });
  const fields = (table) => `
    DEFINE TABLE ${table} SCHEMAFULL;
    DEFINE FIELD name ON ${table} TYPE string;
    DEFINE FIELD balance ON ${table} TYPE int;`;
  await database.query(fields("accounts") + fields("entries") + fields("tenant_accounts"));

  const fill = async (table, count, idOf) => {
    for (let from = 1; from <= count; from += ROWS_PER_STATEMENT) {
      const length = Math.min(ROWS_PER_STATEMENT, count - from + 1);
      const rows = Array.from({ length }, (_, i) => {
        const id = from + i;
        return { id: new RecordId(table, idOf(id)), name: `name of ${id}`, balance: id % 1000 };
      });
      await database.query(`INSERT INTO ${table} $rows RETURN NONE`, { rows });
    }
  };
  const read = async (table, key, id) => {
    const [found] = await database.query("SELECT name, balance FROM ONLY $id", { id: new RecordId(table, key) });
    return found === undefined || found === null ? null : { id, name: found.name, balance: found.balance };
  };
  const CREATE = "CREATE ONLY $id SET name = $name, balance = $balance RETURN NONE";
  return {
    durability: "SurrealKV with sync=every: on disk before the answer, commits grouped",
    versions: async (versionOf) => ({
      "@surrealdb/node": versionOf("@surrealdb/node"),
      SurrealDB: (await database.version()).version.replace("surrealdb-", ""),
    }),
    prepare: async ({ accounts, tenants, rowsPerTenant }) => {
      await fill("accounts", accounts, (id) => id);
      for (let tenant = 0; tenant < tenants; tenant++) {
        await fill("tenant_accounts", rowsPerTenant, (id) => [tenant, id]);
      }
    },
    read: (id) => read("accounts", id, id),
    readOf: (tenant, id) => read("tenant_accounts", [tenant, id], id),
    insert: async (id, name, balance) => {
      await database.query(CREATE, { id: new RecordId("entries", id), name, balance });
      return { rows_affected: 1 };
    },
    insertAll: async (rows) => {
      const values = {};
      const statements = rows.map(({ id, name, balance }, i) => {
        Object.assign(values, { [`id${i}`]: new RecordId("entries", id), [`n${i}`]: name, [`b${i}`]: balance });
        return `CREATE ONLY $id${i} SET name = $n${i}, balance = $b${i} RETURN NONE;`;
      });
      await database.query(`BEGIN; ${statements.join(" ")} COMMIT;`, values);
      return { rows_affected: rows.length };
    },
    addOf: async (tenant, id) => {
      await database.query("UPDATE ONLY $id SET balance += 1 RETURN NONE", {
        id: new RecordId("tenant_accounts", [tenant, id]),
      });
      return { rows_affected: 1 };
    },
    range: async (from, to) => {
      const sql = `SELECT VALUE [record::id(id), name, balance] FROM accounts:${Number(from)}..=${Number(to)}`;
      return (await database.query(sql))[0];
    },
  };
}
