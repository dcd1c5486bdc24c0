/** Writing clauses: what they leave in the tables, what their rows are afterwards, and what they refuse. */
import t from "tap";
import type { DbError } from "../../src/protocol/errors.js";
import type { GraphWriteStep } from "../../src/query/plan/graph-plans.js";
import { INT8, VARIANT } from "../../src/values/values.js";
import { DELETED_MARK, floatValue, GraphNode, GraphRelationship, type VariantMap } from "../../src/values/variant.js";
import {
  column,
  edgeColumns,
  GraphDatabase,
  map,
  node,
  nodeColumns,
  ONE_ROW,
  relationship,
  rowsOf,
  value,
} from "./graphs.js";
import { newColumn } from "./plan-builder.js";

const newNode = (labels: readonly string[], properties: VariantMap | null = null): GraphWriteStep => {
  return { kind: "create-node", columns: nodeColumns(), labels, properties: properties && value(properties) };
};

const newEdge = (src: number, type: string, dst: number, properties: VariantMap | null = null): GraphWriteStep => {
  return {
    kind: "create-edge",
    columns: edgeColumns(),
    type,
    src: { kind: "const", type: INT8, value: src },
    dst: { kind: "const", type: INT8, value: dst },
    properties: properties && value(properties),
  };
};

/** The details of the error that the work ends in. */
function failure(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    const { type, detail } = (error as DbError).details ?? {};
    return `${type} ${detail}`;
  }
  return "none";
}

t.test("nodes and relationships are made", async (t) => {
  const db = await GraphDatabase.open(t);
  db.commit((tx) => {
    const context = db.context(tx);
    const row = db.run(tx, db.plan([newNode(["Person", "Actor", "Person"], map({ name: "Ann", age: null }))]), context);
    t.same(row.rows[0]!.slice(0, 2), [1, "\u001fActor\u001fPerson\u001f"]);
    t.same(context.statement.graphChanges, {
      nodesCreated: 1,
      nodesDeleted: 0,
      relationshipsCreated: 0,
      relationshipsDeleted: 0,
      propertiesSet: 1,
      labelsAdded: 2,
      labelsRemoved: 0,
    });
    db.write(tx, newNode([]), newEdge(1, "KNOWS", 2, map({ since: 1999 })), newEdge(2, "KNOWS", 2));
  });
  t.same(
    db.read((tx) => db.picture(tx)),
    ['1:Actor:Person {name: "Ann"}', "2 {}", "1-[1:KNOWS {since: 1999}]->2", "2-[2:KNOWS {}]->2"],
  );
});

t.test("many rows are loaded, and read back through every index", async (t) => {
  const db = await GraphDatabase.open(t);
  const number = newColumn("i", VARIANT);
  const [a, b, edge] = [nodeColumns(), nodeColumns(), edgeColumns()];
  const count = 3000;
  db.commit((tx) => {
    const input = rowsOf(
      [number],
      Array.from({ length: count }, (_, i) => [map({ i })]),
    );
    const steps: GraphWriteStep[] = [
      { kind: "create-node", columns: a, labels: ["A"], properties: column(number) },
      { kind: "create-node", columns: b, labels: ["B"], properties: null },
      {
        kind: "create-edge",
        columns: edge,
        type: "T",
        src: column(a.id),
        dst: column(b.id),
        properties: column(number),
      },
    ];
    t.equal(db.run(tx, db.plan(steps, input)).rows.length, count);
    t.equal(db.rows(tx, "edges").length, count, "the transaction sees them");
  });
  db.read((tx) => {
    t.equal(db.rows(tx, "nodes").length, 2 * count);
    t.same(db.rows(tx, "nodes", "nodes_labels"), db.rows(tx, "nodes"));
    t.same(db.rows(tx, "edges", "edges_src"), db.rows(tx, "edges"));
    t.same(db.rows(tx, "edges", "edges_dst"), db.rows(tx, "edges"));
  });
});

t.test("properties and labels are changed, and rows show it", async (t) => {
  const db = await GraphDatabase.open(t);
  db.commit((tx) => db.write(tx, newNode(["A"], map({ x: 1, y: 2 })), newNode([]), newEdge(1, "T", 2, map({ w: 1 }))));
  const columns = nodeColumns();
  const whole = newColumn("path", VARIANT);
  const input = rowsOf(
    [columns.id, columns.labels, columns.properties, whole],
    [
      [1, "\u001fA\u001f", map({ x: 1, y: 2 }), [new GraphNode(1, ["A"], map({ x: 1, y: 2 }))]],
      [2, "", map({}), "other"],
      [1, "\u001fA\u001f", map({ x: 1, y: 2 }), null],
    ],
  );
  const rows = db.commit(
    (tx) =>
      db.run(
        tx,
        db.plan(
          [
            { kind: "set-property", target: node(1), key: "x", value: value(null) },
            { kind: "set-property", target: node(1), key: "z", value: value(["b", "a"]) },
            { kind: "set-properties", target: node(2), value: value(map({ p: 1, q: null })), replace: false },
            { kind: "set-properties", target: relationship(1), value: node(9), replace: true },
            { kind: "set-labels", target: node(1), labels: ["B", "A"] },
            { kind: "remove-labels", target: node(1), labels: ["A", "C"] },
            { kind: "set-property", target: value(null), key: "x", value: value(1) },
          ],
          input,
          [columns],
        ),
      ).rows,
  );
  t.same(
    db.read((tx) => db.picture(tx)),
    ['1:B {y: 2, z: ["b","a"]}', "2 {p: 1}", "1-[1:T {}]->2"],
  );
  t.same(
    rows.map((row) => [row[1], [...(row[2] as VariantMap)]]),
    [
      [
        "\u001fB\u001f",
        [
          ["y", 2],
          ["z", ["b", "a"]],
        ],
      ],
      ["", [["p", 1]]],
      [
        "\u001fB\u001f",
        [
          ["y", 2],
          ["z", ["b", "a"]],
        ],
      ],
    ],
  );
  const inside = (rows[0]![3] as readonly GraphNode[])[0]!;
  t.same([inside.labels, [...inside.properties.keys()]], [["B"], ["y", "z"]], "entities inside of values, too");
});

t.test("what is not fit for a property or an entity is refused", async (t) => {
  const db = await GraphDatabase.open(t);
  db.commit((tx) => db.write(tx, newNode([])));
  const set = (target: ReturnType<typeof value>, to: unknown) =>
    failure(() => db.commit((tx) => db.write(tx, { kind: "set-property", target, key: "x", value: value(to) })));
  t.equal(set(node(1), map({})), "TypeError InvalidPropertyType");
  t.equal(set(node(1), [[map({})]]), "TypeError InvalidPropertyType");
  t.equal(set(node(1), new GraphNode(1, [], map({}))), "TypeError InvalidPropertyType");
  t.equal(set(value(5), 1), "TypeError InvalidArgumentType");
  t.equal(set(node(7), 1), "EntityNotFound DeletedEntityAccess");
  t.equal(
    failure(() => db.commit((tx) => db.write(tx, newNode([], map({ m: map({}) }))))),
    "TypeError InvalidPropertyType",
  );
  t.equal(
    failure(() => db.commit((tx) => db.write(tx, newEdge(1, "T", 8)))),
    "EntityNotFound DeletedEntityAccess",
  );
  t.same(
    db.read((tx) => db.picture(tx)),
    ["1 {}"],
  );
});

t.test("deletions", async (t) => {
  const db = await GraphDatabase.open(t);
  db.commit((tx) => {
    db.write(tx, newNode(["A"]), newNode(["A"]), newNode([]));
    db.write(tx, newEdge(1, "T", 2), newEdge(2, "T", 1), newEdge(1, "T", 1), newEdge(3, "T", 2));
  });
  const remove = (target: ReturnType<typeof value>, detach = false): GraphWriteStep => ({
    kind: "delete",
    target,
    detach,
  });
  t.equal(
    failure(() => db.commit((tx) => db.write(tx, remove(node(3))))),
    "ConstraintVerificationFailed DeleteConnectedNode",
  );
  db.commit((tx) => {
    const [columns, edge] = [nodeColumns(), edgeColumns()];
    const input = rowsOf(
      [columns.id, columns.labels, columns.properties, edge.id, edge.type, edge.src, edge.dst, edge.properties],
      [[3, "", map({}), 4, "T", 3, 2, map({})]],
    );
    const list = value([new GraphRelationship(4, "T", 3, 2, map({})), null]);
    const plan = db.plan([remove(node(3)), remove(list)], input, [columns], [edge]);
    const row = db.run(tx, plan).rows[0]!;
    t.same([row[0], row[1], row[4]], [3, DELETED_MARK, `${DELETED_MARK}T`]);
    t.equal(
      failure(() => (row[2] as VariantMap).get("x")),
      "EntityNotFound DeletedEntityAccess",
    );
  });
  const context = db.commit((tx) => {
    const own = db.context(tx);
    db.run(tx, db.plan([remove(node(1), true), remove(node(1), true), remove(value(null))]), own);
    return own;
  });
  t.match(context.statement.graphChanges, { nodesDeleted: 1, relationshipsDeleted: 3 });
  t.same(
    db.read((tx) => db.picture(tx)),
    ["2:A {}"],
  );
  t.same(
    db.read((tx) => db.rows(tx, "edges", "edges_dst")),
    [],
  );
});

t.test("MERGE finds what is there, also what it made itself", async (t) => {
  const db = await GraphDatabase.open(t);
  const key = newColumn("key", INT8);
  const columns = nodeColumns();
  const found = nodeColumns();
  // (n {key}): the properties are compared by a scan, one row at a time.
  const scan = {
    kind: "scan",
    table: db.graph.nodes,
    alias: "n",
    columns: [found.id, found.labels, found.properties],
    source: [1, 2, 3],
    filter: {
      kind: "call",
      type: { ...INT8, name: "bool" },
      fn: {
        name: "hasKey",
        args: [VARIANT, INT8],
        returns: INT8,
        volatility: "immutable",
        strict: true,
        apply: (properties: VariantMap, wanted: number) => properties.get("key") === wanted,
      },
      args: [column(found.properties), column(key)],
    },
    reverse: false,
    rowKey: null,
  } as const;
  const input = rowsOf([key], [[1], [2], [1], [1]]);
  const made = {
    name: "asMap",
    args: [INT8],
    returns: VARIANT,
    volatility: "immutable",
    strict: false,
    apply: (wanted: number | null) => map({ key: wanted }),
  } as const;
  const merge: GraphWriteStep = {
    kind: "merge",
    match: scan as never,
    isDirected: true,
    columns: [columns.id, columns.labels, columns.properties],
    create: [
      {
        kind: "create-node",
        columns,
        labels: ["K"],
        properties: { kind: "call", type: VARIANT, fn: made, args: [column(key)] } as never,
      },
    ],
    onCreate: [
      {
        kind: "set-property",
        target: entity(columns),
        key: "new",
        value: value(true),
      },
    ],
    onMatch: [{ kind: "set-property", target: entity(columns), key: "again", value: value(true) }],
  };
  const rows = db.commit((tx) => db.run(tx, db.plan([merge], input, [columns])).rows);
  t.same(
    rows.map((row) => row[1]),
    [1, 2, 1, 1],
  );
  t.ok((rows[0]![3] as VariantMap).get("again"), "earlier rows show what later ones changed");
  t.same(
    db.read((tx) => db.picture(tx)),
    ["1:K {again: true, key: 1, new: true}", "2:K {key: 2, new: true}"],
  );
  const nulls = failure(() => db.commit((tx) => db.run(tx, db.plan([merge], rowsOf([key], [[null]]), [columns]))));
  t.equal(nulls, "SemanticError MergeReadOwnWrites");
});

/** `node(id, labels, properties)`. */
function entity(columns: ReturnType<typeof nodeColumns>) {
  const fn = {
    name: "node",
    args: [INT8],
    returns: VARIANT,
    volatility: "immutable",
    strict: true,
    apply: (id: number) => new GraphNode(id, [], new Map()),
  };
  return { kind: "call", type: VARIANT, fn, args: [column(columns.id)] } as never;
}

t.test("FOREACH", async (t) => {
  const db = await GraphDatabase.open(t);
  const variable = newColumn("x", VARIANT);
  const inner = newColumn("y", VARIANT);
  db.commit((tx) =>
    db.write(tx, {
      kind: "foreach",
      list: value([map({ x: 1 }), map({ x: 2 })]),
      variable: variable.id,
      steps: [
        { kind: "create-node", columns: nodeColumns(), labels: [], properties: column(variable) },
        {
          kind: "foreach",
          list: value([map({ y: 1 })]),
          variable: inner.id,
          steps: [{ kind: "create-node", columns: nodeColumns(), labels: ["I"], properties: column(inner) }],
        },
      ],
    }),
  );
  t.same(
    db.read((tx) => db.picture(tx)),
    ["1 {x: 1}", "2:I {y: 1}", "3 {x: 2}", "4:I {y: 1}"],
  );
});

t.test("an edge to a node that is deleted meanwhile is not made", async (t) => {
  for (const isolation of ["serializable", "read committed"] as const) {
    for (const first of ["edge", "deletion"]) {
      const db = await GraphDatabase.open(t);
      db.commit((tx) => db.write(tx, newNode([]), newNode([])));
      const [adding, deleting] = [db.shard.begin({ isolation }), db.shard.begin({ isolation })];
      db.write(adding, newEdge(1, "T", 2));
      db.write(deleting, { kind: "delete", target: node(2), detach: true });
      const [winner, loser] = first === "edge" ? [adding, deleting] : [deleting, adding];
      winner.commit();
      t.throws(() => loser.commit(), { code: "serialization_failure" }, `${isolation}, ${first} first`);
      const expected = first === "edge" ? ["1 {}", "2 {}", "1-[1:T {}]->2"] : ["1 {}"];
      t.same(
        db.read((tx) => db.picture(tx)),
        expected,
      );
    }
  }
});

t.test("nodes that MATCH has found by a unique key are ends of relationships", async (t) => {
  const db = await GraphDatabase.open(t);
  const of = { of: "nodes", label: "N", properties: ["k"] } as const;
  db.define({
    kind: "create graph constraint",
    graph: "default",
    name: null,
    ifNotExists: false,
    requires: "unique",
    ...of,
  });
  const keys = [1, 2.5, "1", true, [1], [1, null], "other"];
  db.commit((tx) => {
    db.cypher(tx, "UNWIND $keys AS k CREATE (:N {k: k})", { keys });
    db.cypher(tx, "CREATE (:M {k: 7})");
  });
  const link = "UNWIND $keys AS k MATCH (a:N {k: k}) MATCH (b:N {k: 1}) CREATE (a)-[r:T {k: k}]->(b)";
  const sought = [floatValue(1), 2.5, "1", false, true, [1], [1, null], 7, null, floatValue(Number.NaN), "other", 3];
  const keysOfNodes = "MATCH (a)-[:T]->(b {k: 1}) RETURN a.k ORDER BY id(a)";
  for (const some of [
    sought,
    sought.filter((k) => typeof k !== "object"),
    sought.filter((k) => k !== null).slice(0, 2),
  ]) {
    db.commit((tx) => db.cypher(tx, "MATCH ()-[r:T]->() DELETE r"));
    const counted = db.commit((tx) => db.cypher(tx, `${link} RETURN count(*), count(r.k)`, { keys: some }).rows);
    const found = db.read((tx) => db.cypher(tx, keysOfNodes).rows.flat());
    // The nodes as they are read without an index.
    const unindexed = "UNWIND $keys AS k MATCH (a) WHERE 'N' IN labels(a) AND a.k = k RETURN a.k ORDER BY id(a)";
    const wanted = db.read((tx) => db.cypher(tx, unindexed, { keys: some }).rows.flat());
    t.same(found, wanted);
    t.same(counted, [[wanted.length, wanted.length]]);
    t.ok(found.length > 1);
  }
  for (const isolation of ["serializable", "read committed"] as const) {
    db.commit((tx) => db.cypher(tx, "MATCH ()-[r:T]->() DELETE r"));
    const [adding, deleting] = [db.shard.begin({ isolation }), db.shard.begin({ isolation })];
    db.cypher(adding, link, { keys: ["other"] });
    db.cypher(deleting, "MATCH (n:N {k: 'other'}) DELETE n");
    deleting.commit();
    t.throws(() => adding.commit(), { code: "serialization_failure" }, isolation);
    db.commit((tx) => db.cypher(tx, "CREATE (:N {k: 'other'})"));
    const after = "MATCH (a:N {k: 'other'}) DELETE a WITH a MATCH (b:N {k: 1}) CREATE (a)-[:T]->(b)";
    const own = db.shard.begin({ isolation });
    t.equal(
      failure(() => db.cypher(own, after)),
      "EntityNotFound DeletedEntityAccess",
    );
    own.rollback();
  }
});

t.test("parts of a sequential WITH see what parts before them wrote", async (t) => {
  const db = await GraphDatabase.open(t);
  const table = { name: "clause 1", outer: [], working: false };
  const written = db.plan([newNode(["A"])], ONE_ROW);
  const found = nodeColumns();
  const columns = [found.id, found.labels, found.properties];
  db.commit((tx) => {
    const rows = db.run(tx, {
      kind: "with",
      sequential: true,
      tables: [{ table, plan: written, modifies: true }],
      input: {
        kind: "scan",
        table: db.graph.nodes,
        alias: "n",
        columns,
        source: [1, 2, 3],
        filter: null,
        reverse: false,
        rowKey: null,
      },
      columns,
    }).rows;
    t.same(rows.length, 1);
  });
});
