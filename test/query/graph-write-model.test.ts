/**
 * Random statements that write a graph, against a model in memory: the tables and all their indexes say the same as the
 * model, whatever is rolled back, and no relationship is ever without its nodes, also when two transactions write at
 * once.
 */
import fc from "fast-check";
import t from "tap";
import { EDGE_COLUMN, NODE_COLUMN } from "../../src/catalog/graph.js";
import { DbError } from "../../src/protocol/errors.js";
import type { Transaction } from "../../src/storage/store.js";
import { tries } from "../lengths.js";
import { GraphDatabase, map } from "./graphs.js";

const LABELS = ["A", "B", "C"] as const;
const TYPES = ["T", "U"] as const;
const KEYS = ["k", "l"] as const;

const label = fc.constantFrom(...LABELS);
const type = fc.constantFrom(...TYPES);
const key = fc.constantFrom(...KEYS);
const value = fc.constantFrom(1, 2, "x", null);
const place = fc.nat(30);

const operation = fc.oneof(
  fc.record({ op: fc.constant("node" as const), label, key, value }),
  fc.record({ op: fc.constant("edge" as const), a: place, b: place, type, key, value }),
  fc.record({ op: fc.constant("set" as const), a: place, key, value }),
  fc.record({ op: fc.constant("set edge" as const), a: place, key, value }),
  fc.record({ op: fc.constant("replace" as const), a: place, key, value }),
  fc.record({ op: fc.constant("label" as const), a: place, label, add: fc.boolean() }),
  fc.record({ op: fc.constant("merge" as const), label, key, value: fc.constantFrom(1, 2, "x") }),
  fc.record({ op: fc.constant("delete edge" as const), a: place }),
  fc.record({ op: fc.constant("delete" as const), a: place, detach: fc.boolean() }),
  fc.record({ op: fc.constant("savepoint" as const) }),
  fc.record({ op: fc.constant("rollback to" as const) }),
  fc.record({ op: fc.constant("commit" as const) }),
  fc.record({ op: fc.constant("rollback" as const) }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

interface Entity {
  readonly labels: ReadonlySet<string>;
  readonly properties: ReadonlyMap<string, unknown>;
}

/** Immutable: a rollback takes an earlier one again. */
interface Model {
  readonly nodes: ReadonlyMap<number, Entity>;
  readonly edges: ReadonlyMap<number, Entity & { readonly src: number; readonly dst: number }>;
}

const EMPTY: Model = { nodes: new Map(), edges: new Map() };

function withProperty(properties: ReadonlyMap<string, unknown>, name: string, to: unknown): Map<string, unknown> {
  const next = new Map(properties);
  if (to === null) next.delete(name);
  else next.set(name, to);
  return next;
}

const changed = <V>(all: ReadonlyMap<number, V>, id: number, to: V | null): Map<number, V> => {
  const next = new Map(all);
  if (to === null) next.delete(id);
  else next.set(id, to);
  return next;
};

const at = (ids: Iterable<number>, position: number): number | null => {
  const all = [...ids];
  return all.length === 0 ? null : all[position % all.length]!;
};

/** Does what the operation says in both; answers the model after it. */
function apply(db: GraphDatabase, tx: Transaction, model: Model, operation: Operation): Model {
  const { nodes, edges } = model;
  const one = (text: string, params: Record<string, unknown>) => db.cypher(tx, text, params).rows[0]?.[0] as number;
  const nodeAt = (position: number) => at(nodes.keys(), position);
  switch (operation.op) {
    case "node": {
      const properties = withProperty(new Map(), operation.key, operation.value);
      const id = one(`CREATE (n:${operation.label} {${operation.key}: $value}) RETURN id(n)`, operation);
      return { nodes: changed(nodes, id, { labels: new Set([operation.label]), properties }), edges };
    }
    case "edge": {
      const [a, b] = [nodeAt(operation.a), nodeAt(operation.b)];
      if (a === null || b === null) return model;
      const text = `MATCH (a), (b) WHERE id(a) = $a AND id(b) = $b CREATE (a)-[r:${operation.type} {${operation.key}: $value}]->(b) RETURN id(r)`;
      const id = one(text, { a, b, value: operation.value });
      const properties = withProperty(new Map(), operation.key, operation.value);
      return { nodes, edges: changed(edges, id, { labels: new Set([operation.type]), properties, src: a, dst: b }) };
    }
    case "set": {
      const id = nodeAt(operation.a);
      if (id === null) return model;
      one(`MATCH (n) WHERE id(n) = $id SET n.${operation.key} = $value`, { id, value: operation.value });
      const node = nodes.get(id)!;
      const properties = withProperty(node.properties, operation.key, operation.value);
      return { nodes: changed(nodes, id, { ...node, properties }), edges };
    }
    case "set edge": {
      const id = at(edges.keys(), operation.a);
      if (id === null) return model;
      one(`MATCH ()-[r]->() WHERE id(r) = $id SET r += $map`, { id, map: map({ [operation.key]: operation.value }) });
      const edge = edges.get(id)!;
      const properties = withProperty(edge.properties, operation.key, operation.value);
      return { nodes, edges: changed(edges, id, { ...edge, properties }) };
    }
    case "replace": {
      const id = nodeAt(operation.a);
      if (id === null) return model;
      one(`MATCH (n) WHERE id(n) = $id SET n = $map`, { id, map: map({ [operation.key]: operation.value }) });
      const node = { ...nodes.get(id)!, properties: withProperty(new Map(), operation.key, operation.value) };
      return { nodes: changed(nodes, id, node), edges };
    }
    case "label": {
      const id = nodeAt(operation.a);
      if (id === null) return model;
      one(`MATCH (n) WHERE id(n) = $id ${operation.add ? "SET" : "REMOVE"} n:${operation.label}`, { id });
      const labels = new Set(nodes.get(id)!.labels);
      if (operation.add) labels.add(operation.label);
      else labels.delete(operation.label);
      return { nodes: changed(nodes, id, { ...nodes.get(id)!, labels }), edges };
    }
    case "merge": {
      const fits = [...nodes].filter(
        ([, { labels, properties }]) =>
          labels.has(operation.label) && properties.get(operation.key) === operation.value,
      );
      const text = `MERGE (n:${operation.label} {${operation.key}: $value}) RETURN id(n)`;
      const { rows } = db.cypher(tx, text, operation);
      if (fits.length > 0) {
        const found = rows.map(([id]) => id as number).sort((a, b) => a - b);
        if (JSON.stringify(found) !== JSON.stringify(fits.map(([id]) => id).sort((a, b) => a - b))) {
          throw new Error(`MERGE found ${found}`);
        }
        return model;
      }
      const properties = new Map([[operation.key, operation.value]]);
      return {
        nodes: changed(nodes, rows[0]![0] as number, { labels: new Set([operation.label]), properties }),
        edges,
      };
    }
    case "delete edge": {
      const id = at(edges.keys(), operation.a);
      if (id === null) return model;
      one("MATCH ()-[r]->() WHERE id(r) = $id DELETE r", { id });
      return { nodes, edges: changed(edges, id, null) };
    }
    case "delete": {
      const id = nodeAt(operation.a);
      if (id === null) return model;
      const hanging = [...edges].filter(([, { src, dst }]) => src === id || dst === id);
      const savepoint = tx.savepoint();
      try {
        one(`MATCH (n) WHERE id(n) = $id ${operation.detach ? "DETACH DELETE" : "DELETE"} n`, { id });
      } catch (error) {
        tx.rollbackTo(savepoint);
        const isExpected = error instanceof DbError && error.details?.detail === "DeleteConnectedNode";
        if (!isExpected || operation.detach || hanging.length === 0) throw error;
        return model;
      }
      if (!operation.detach && hanging.length > 0) throw new Error("a node with relationships was deleted");
      const left = new Map([...edges].filter(([, { src, dst }]) => src !== id && dst !== id));
      return { nodes: changed(nodes, id, null), edges: left };
    }
    default:
      throw new Error(operation.op);
  }
}

function pictureOf({ nodes, edges }: Model): string[] {
  const text = (properties: ReadonlyMap<string, unknown>) =>
    `{${[...properties]
      .map(([name, item]) => `${name}: ${JSON.stringify(item)}`)
      .sort()
      .join(", ")}}`;
  const sorted = <V>(all: ReadonlyMap<number, V>) => [...all].sort(([a], [b]) => a - b);
  return [
    ...sorted(nodes).map(([id, { labels, properties }]) => {
      const names = [...labels].sort().map((name) => `:${name}`);
      return `${id}${names.join("")} ${text(properties)}`;
    }),
    ...sorted(edges).map(
      ([id, { labels, properties, src, dst }]) => `${src}-[${id}:${[...labels][0]} ${text(properties)}]->${dst}`,
    ),
  ];
}

/** The indexes have every row, and every relationship its nodes. */
function check(db: GraphDatabase, tx: Transaction): void {
  for (const part of PARTS) {
    const rows = JSON.stringify(db.rows(tx, part), plain);
    for (const { name, where } of db.graph[part].indexes) {
      if (!where && JSON.stringify(db.rows(tx, part, name), plain) !== rows)
        throw new Error(`${name} is not as its table`);
    }
  }
  const ids = new Set(db.rows(tx, "nodes").map((row) => row[NODE_COLUMN.id - 1]));
  for (const row of db.rows(tx, "edges")) {
    const ends = [row[EDGE_COLUMN.src - 1], row[EDGE_COLUMN.dst - 1]];
    if (!ends.every((end) => ids.has(end!))) throw new Error(`relationship ${row[0]} dangles`);
  }
  for (const name of LABELS) {
    for (const item of [1, 2, "x"]) {
      const byIndex = db.cypher(tx, `MATCH (n:${name} {k: $item}) RETURN id(n) ORDER BY id(n)`, { item }).rows;
      const byRow = db.cypher(tx, `MATCH (n) WHERE n:${name} AND n.k + '' = $item + '' RETURN id(n) ORDER BY id(n)`, {
        item,
      }).rows;
      if (JSON.stringify(byIndex) !== JSON.stringify(byRow))
        throw new Error(`${name} k = ${item}: ${byIndex} ${byRow}`);
    }
  }
}

const PARTS = ["nodes", "edges"] as const;
const plain = (_key: string, item: unknown) => (item instanceof Map ? [...item] : item);

async function newGraph(t: Parameters<typeof GraphDatabase.open>[0]): Promise<GraphDatabase> {
  const db = await GraphDatabase.open(t);
  const index = {
    kind: "create graph index",
    graph: "default",
    name: null,
    ifNotExists: false,
    method: "range",
  } as const;
  db.define({ ...index, of: "nodes", label: "A", properties: ["k"] });
  db.define({ ...index, of: "nodes", label: "B", properties: ["k", "l"] });
  db.define({ ...index, of: "edges", label: "T", properties: ["k"] });
  return db;
}

t.test("random statements leave what the model says", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 40 }), async (operations) => {
      const db = await newGraph(t);
      let committed = EMPTY;
      let model = EMPTY;
      let tx = db.shard.begin();
      let saved: { readonly id: number; readonly model: Model } | null = null;
      for (const next of operations) {
        switch (next.op) {
          case "savepoint":
            saved = { id: tx.savepoint(), model };
            break;
          case "rollback to":
            if (saved === null) break;
            tx.rollbackTo(saved.id);
            model = saved.model;
            break;
          case "commit":
          case "rollback":
            if (next.op === "commit") tx.commit();
            else tx.rollback();
            committed = next.op === "commit" ? model : committed;
            model = committed;
            saved = null;
            tx = db.shard.begin();
            break;
          default:
            model = apply(db, tx, model, next);
        }
      }
      t.same(db.picture(tx), pictureOf(model));
      check(db, tx);
      tx.rollback();
    }),
    { numRuns: tries(15) },
  );
});

t.test("two transactions at once leave no relationship without its nodes", async (t) => {
  const writing = fc.array(
    operation.filter(({ op }) => !/savepoint|rollback|commit/.test(op)),
    { minLength: 1, maxLength: 4 },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(writing, { minLength: 2, maxLength: 12 }), async (statements) => {
      const db = await newGraph(t);
      let model = EMPTY;
      const start = db.shard.begin();
      for (const name of ["A", "B", "C", "A"] as const) {
        model = apply(db, start, model, { op: "node", label: name, key: "k", value: 1 });
      }
      start.commit();
      for (let i = 0; i + 1 < statements.length; i += 2) {
        const pair = [db.shard.begin(), db.shard.begin()].map((tx, side) => {
          let own = model;
          for (const next of statements[i + side]!) own = apply(db, tx, own, next);
          return { tx, own };
        });
        let won = 0;
        for (const { tx, own } of pair) {
          try {
            tx.commit();
            won++;
            model = own;
          } catch (error) {
            tx.rollback();
            if ((error as DbError).code !== "serialization_failure") throw error;
          }
        }
        const now = db.shard.begin({ readOnly: true });
        check(db, now);
        // When both have committed the model is neither's; the next pair goes on from what is there.
        if (won !== 2) t.same(db.picture(now), pictureOf(model));
        now.rollback();
        if (won === 2) break;
      }
    }),
    { numRuns: tries(15) },
  );
});
