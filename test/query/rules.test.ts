/**
 * Each rule of the optimizer by itself: plans before and after it, as EXPLAIN prints them, against
 * test/golden/plan/<rule>.txt. What a rule must leave alone is there too, with "unchanged".
 */
import t from "tap";
import type { Expr } from "../../src/query/expr/expr.js";
import { Cardinality } from "../../src/query/optimize/cardinality.js";
import { optimize, RULES } from "../../src/query/optimize/optimize.js";
import { explainText } from "../../src/query/plan/explain.js";
import type { Plan } from "../../src/query/plan/plan.js";
import { BOOL, BYTEA, INT4, INT8, TEXT, typeOf } from "../../src/values/values.js";
import { matchesGolden } from "./golden.js";
import {
  aggregate,
  aggregateFunction,
  and,
  asc,
  big,
  bool,
  col,
  desc,
  distinct,
  filter,
  hashJoin,
  inList,
  int,
  isNull,
  join,
  limit,
  newColumn,
  not,
  op,
  or,
  param,
  project,
  RANDOM,
  scan,
  setOp,
  sort,
  subquery,
  table,
  text,
  values,
} from "./plan-builder.js";

const users = table({
  id: 1,
  name: "users",
  columns: [
    ["id", INT8, "not null"],
    ["email", typeOf("varchar", 80), "not null"],
    ["age", INT4],
    ["city", TEXT],
  ],
  primaryKey: ["id"],
  indexes: [
    { name: "users_email_key", columns: ["email"], unique: true },
    { name: "users_city_age_idx", columns: ["city", "age"] },
  ],
});

const orders = table({
  id: 2,
  name: "orders",
  columns: [
    ["user_id", INT8, "not null"],
    ["number", INT4, "not null"],
    ["total", INT4],
    ["created", INT8],
  ],
  primaryKey: ["user_id", "number"],
  indexes: [{ name: "orders_created_idx", columns: ["created"], descending: true }],
});

type Cases = Readonly<Record<string, () => Plan>>;

const count = { fn: aggregateFunction("count") };

/** A join of users u and orders o with its sides at hand. */
function pair(type: Parameters<typeof join>[0], on: (u: Plan, o: Plan) => Expr | null = () => null) {
  const [u, o] = [scan(users, "u"), scan(orders, "o")];
  return { u, o, plan: join(type, u, o, on(u, o)) };
}

const sameUser = (u: Plan, o: Plan) => op(col(u, "id"), "=", col(o, "user_id"));

function on(input: Plan, predicate: (input: Plan) => Expr): Plan {
  return filter(input, predicate(input));
}

const foldConstants: Cases = {
  "constant arithmetic": () => on(scan(users), (u) => op(col(u, "age"), ">", op(int(20), "+", int(1)))),
  "always true": () => on(scan(users), () => op(int(1), "=", int(1))),
  "never true": () => on(scan(users), (u) => and(op(col(u, "age"), ">", int(1)), bool(false))),
  "NULL counts as false": () => on(scan(users), () => bool(null)),
  "parameters are not constants here: unchanged": () => on(scan(users), (u) => op(col(u, "age"), "=", param(0, INT4))),
};

const pushDown: Cases = {
  "into a scan": () =>
    on(
      on(scan(users), (u) => op(col(u, "age"), ">", int(1))),
      (u) => isNull(col(u, "city")),
    ),
  "through a projection, with its expression": () => projected((p) => op(col(p, "next"), "<", int(9))),
  "a volatile condition stays where it is": () => on(scan(users), (u) => and(RANDOM, op(col(u, "age"), "=", int(1)))),
  "each side of an inner join, and its condition": () => {
    const { u, o, plan } = pair("inner");
    return filter(plan, and(sameUser(u, o), op(col(u, "age"), ">", int(1)), op(col(o, "total"), "<", int(5))));
  },
  "a known value on one side of an equality": () => {
    const { u, plan } = pair("left", sameUser);
    return filter(plan, op(col(u, "id"), "=", param(0, INT8)));
  },
  "a known value of the right side, through an inner join": () => {
    const { o, plan } = pair("inner", sameUser);
    return filter(plan, op(big(5), "=", col(o, "user_id")));
  },
  "above a left join: only the left side's": () => {
    const { u, o, plan } = pair("left", sameUser);
    return filter(plan, and(op(col(u, "age"), ">", int(1)), isNull(col(o, "total"))));
  },
  "a condition that refuses NULLs makes a left join inner": () => {
    const { o, plan } = pair("left", sameUser);
    return filter(plan, op(col(o, "total"), ">", int(5)));
  },
  "in a left join's condition: only the right side's": () =>
    pair("left", (u, o) => and(sameUser(u, o), op(col(u, "age"), ">", int(1)), op(col(o, "total"), ">", int(5)))).plan,
  "a full join becomes a left join": () => {
    const { u, plan } = pair("full", sameUser);
    return filter(plan, op(col(u, "age"), ">", int(1)));
  },
  "below groups, on group columns only": () => {
    const u = scan(users);
    const grouped = aggregate(u, { city: col(u, "city") }, { n: count });
    return filter(grouped, and(op(col(grouped, "city"), "=", text("Bonn")), op(col(grouped, "n"), ">", big(1))));
  },
  "not below an aggregate without groups: unchanged": () =>
    on(aggregate(scan(users), {}, { n: count }), () => isNull(param(0, INT4))),
  "to both sides of a set operation": () => {
    const [u, o] = [scan(users), scan(orders)];
    const both = setOp("union", true, project(u, { v: col(u, "age") }), project(o, { v: col(o, "total") }));
    return on(both, (v) => op(col(v, "v"), "=", int(3)));
  },
  "not below a limit: unchanged": () => on(limit(scan(users), big(3)), (u) => op(col(u, "age"), "=", int(1))),
  "below DISTINCT ON only on its keys": () => {
    const u = scan(users);
    const one = distinct(u, [col(u, "city")]);
    return filter(one, and(op(col(u, "city"), "=", text("Bonn")), op(col(u, "age"), "=", int(1))));
  },
};

function projected(predicate: (input: Plan) => Expr): Plan {
  const u = scan(users);
  return on(project(u, { next: op(col(u, "age"), "+", int(1)) }), predicate);
}

const filteredScan = (predicate: (u: Plan) => Expr, def = users): Plan => {
  const u = scan(def);
  return { ...u, filter: predicate(u) } as Plan;
};

const access: Cases = {
  "the whole primary key": () => filteredScan((u) => and(op(col(u, "id"), "=", param(0, INT8)), isNull(col(u, "age")))),
  "the value on the left": () => filteredScan((u) => op(big(5), "=", col(u, "id"))),
  "a narrower integer": () => filteredScan((u) => op(col(u, "id"), "=", int(5))),
  "an integer that fits": () =>
    filteredScan((o) => and(op(col(o, "user_id"), "=", int(1)), op(col(o, "number"), "=", big(2))), orders),
  "an integer that does not fit: stays a filter": () =>
    filteredScan((o) => and(op(col(o, "user_id"), "=", int(1)), op(col(o, "number"), "=", big(2 ** 40))), orders),
  "a unique index": () => filteredScan((u) => op({ ...col(u, "email"), type: TEXT }, "=", text("a@b.c"))),
  "a prefix of the primary key": () => filteredScan((o) => op(col(o, "user_id"), "=", big(1)), orders),
  "a prefix and a range": () =>
    filteredScan((o) => and(op(col(o, "user_id"), "=", big(1)), op(col(o, "number"), ">=", int(5))), orders),
  "a range": () => filteredScan((u) => and(op(col(u, "id"), ">", big(1)), op(big(9), ">=", col(u, "id")))),
  "a list over the primary key": () => filteredScan((u) => inList(col(u, "id"), [big(1), big(2), param(0, INT8)])),
  "a prefix and a list": () =>
    filteredScan((o) => and(op(col(o, "user_id"), "=", big(1)), inList(col(o, "number"), [int(1), int(2)])), orders),
  "the index that binds most columns": () =>
    filteredScan((u) =>
      and(op(col(u, "city"), "=", text("Bonn")), op(col(u, "age"), "=", int(30)), op(col(u, "id"), ">", big(7))),
    ),
  "not equal and OR: unchanged": () =>
    filteredScan((u) => or(op(col(u, "id"), "=", big(1)), op(col(u, "age"), "<>", int(2)))),
  "NOT IN: unchanged": () => filteredScan((u) => inList(col(u, "id"), [big(1)], true)),
  "a column compared with another of the same row: unchanged": () =>
    filteredScan((o) => op(col(o, "user_id"), "=", col(o, "created")), orders),
  "UPDATE reads by key too": () => {
    const rowKey = newColumn("key", BYTEA);
    const u = scan(users, "users", rowKey);
    const rowColumns = users.columns.map((column) => newColumn(column.name, column.type));
    return {
      kind: "update",
      table: users,
      input: { ...u, filter: op(col(u, "id"), "=", param(0, INT8)) } as Plan,
      oldColumns: u.columns.slice(0, -1),
      rowKey: rowKey.id,
      assignments: [{ columnId: 2, expr: op(col(u, "age"), "+", int(1)) }],
      rowColumns,
      checks: [],
      returning: null,
      columns: [],
    };
  },
};

const eliminate: Cases = {
  "the primary key": () => {
    const u = scan(users);
    return sort(u, asc(col(u, "id")), asc(col(u, "age")));
  },
  "the primary key backwards": () => {
    const o = scan(orders);
    return sort(o, desc(col(o, "user_id")), desc(col(o, "number")));
  },
  "mixed directions: unchanged": () => {
    const o = scan(orders);
    return sort(o, desc(col(o, "user_id")), asc(col(o, "number")));
  },
  "an index, under a limit": () => {
    const o = scan(orders);
    return limit(project(sort(o, asc(col(o, "created"))), { created: col(o, "created") }), big(10));
  },
  "NULLs on the other end: unchanged": () => {
    const o = scan(orders);
    return limit(sort(o, asc(col(o, "created"), true)), big(10));
  },
  "an index without a limit: unchanged": () => {
    const o = scan(orders);
    return sort(o, desc(col(o, "created")));
  },
  "after columns that are fixed": () => {
    const u = optimize(
      filteredScan((u) => op(col(u, "city"), "=", text("Bonn"))),
      { rules: [ruleOf("choose-access")] },
    );
    return sort(u, asc(col(u, "city")), desc(col(u, "age")));
  },
  "through a hash join's left side": () => {
    const { u, o } = pair("inner");
    const joined = hashJoin("left", u, o, [col(u, "id"), col(o, "user_id")], null);
    return sort(joined, desc(col(u, "id")));
  },
  "a full join adds rows at the end: unchanged": () => {
    const { u, o } = pair("inner");
    return sort(hashJoin("full", u, o, [col(u, "id"), col(o, "user_id")], null), asc(col(u, "id")));
  },
};

const joins: Cases = {
  "equalities become keys": () =>
    pair("left", (u, o) => and(op(col(u, "age"), "<", col(o, "total")), op(col(o, "user_id"), "=", col(u, "id")))).plan,
  "integers of different width": () => pair("inner", (u, o) => op(col(u, "age"), "=", col(o, "created"))).plan,
  "no equality: unchanged": () => pair("inner", (u, o) => op(col(u, "id"), "<", col(o, "user_id"))).plan,
  "few left rows look up the right side's key": () => {
    const { u, o } = pair("inner");
    const one = optimize({ ...u, filter: op(col(u, "id"), "=", param(0, INT8)) } as Plan, {
      rules: [ruleOf("choose-access")],
    });
    return join("left", one, o, and(sameUser(u, o), op(col(u, "age"), "<", col(o, "total"))));
  },
  "few right rows: the sides of an inner join change places": () => {
    const { u, o } = pair("inner");
    return join("inner", u, limit(o, big(5)), sameUser(u, o));
  },
  "the hash table is built of the smaller side": () => {
    const { u, o } = pair("inner");
    return join("inner", limit(u, big(5)), o, op(col(u, "age"), "=", col(o, "total")));
  },
};

const exists = (o: Plan, predicate: Expr) => subquery("exists", project(filter(o, predicate), { one: int(1) }));

const unnest: Cases = {
  EXISTS: () => on(scan(users, "u"), (u) => correlated(u)),
  "NOT EXISTS": () => on(scan(users, "u"), (u) => not(correlated(u))),
  IN: () =>
    on(scan(users, "u"), (u) => {
      const o = scan(orders, "o");
      return subquery("in", project(o, { v: col(o, "user_id") }), { input: col(u, "id"), symbol: "=" });
    }),
  "correlated IN keeps the column that the condition reads": () =>
    on(scan(users, "u"), (u) => {
      const o = scan(orders, "o");
      const plan = project(filter(o, op(col(o, "total"), "=", col(u, "age"))), { v: col(o, "user_id") });
      return subquery("in", plan, { input: col(u, "id"), symbol: "=" });
    }),
  "NOT IN: unchanged": () =>
    on(scan(users, "u"), (u) => {
      const o = scan(orders, "o");
      return not(subquery("in", project(o, { v: col(o, "user_id") }), { input: col(u, "id"), symbol: "=" }));
    }),
  "an uncorrelated EXISTS: unchanged": () => on(scan(users), () => subquery("exists", scan(orders))),
  "a correlation below a limit: unchanged": () =>
    on(scan(users, "u"), (u) => {
      const o = scan(orders, "o");
      return subquery("exists", limit(filter(o, op(col(o, "user_id"), "=", col(u, "id"))), big(1), big(1)));
    }),
  "under OR: unchanged": () => on(scan(users, "u"), (u) => or(correlated(u), isNull(col(u, "age")))),
};

function correlated(u: Plan): Expr {
  const o = scan(orders, "o");
  return exists(o, and(op(col(o, "user_id"), "=", col(u, "id")), op(col(o, "total"), ">", int(9))));
}

const top: Cases = {
  "a limit over a sort": () => {
    const u = scan(users);
    return limit(sort(u, desc(col(u, "age"))), big(3), big(1));
  },
  "through a projection": () => {
    const u = scan(users);
    return limit(project(sort(u, asc(col(u, "age"))), { city: col(u, "city") }), param(0, INT8));
  },
  "an offset alone: unchanged": () => {
    const u = scan(users);
    return limit(sort(u, asc(col(u, "age"))), null, big(3));
  },
};

const prune: Cases = {
  "a scan reads what is shown and what its filter reads": () => {
    const u = filteredScan((u) => isNull(col(u, "city")));
    return aggregate(u, { age: col(u, "age") }, { n: count });
  },
  "expressions that nobody reads": () => {
    const u = scan(users);
    const p = project(u, { next: op(col(u, "age"), "+", int(1)), id: col(u, "id") });
    return project(p, { id: col(p, "id") });
  },
  "a projection that only hands on": () => {
    const u = scan(users);
    const { columns } = u;
    const same: Plan = { kind: "project", input: u, exprs: columns.map((c) => col(u, c.name)), columns };
    return sort(same, asc(col(u, "age")));
  },
  "aggregate calls that nobody reads": () => {
    const u = scan(users);
    const sum = { fn: aggregateFunction("sum", INT4), args: [col(u, "age")] };
    const a = aggregate(u, { city: col(u, "city") }, { n: count, sum });
    return project(a, { n: col(a, "n") });
  },
  "both sides of UNION ALL": () => {
    const wide = () =>
      values(
        [
          ["a", INT4],
          ["b", BOOL],
        ],
        [[1, true]],
      );
    const both = setOp("union", true, wide(), wide());
    return project(both, { b: col(both, "b") });
  },
};

const CASES: Readonly<Record<string, Cases>> = {
  "fold-constants": foldConstants,
  "unnest-subqueries": unnest,
  "push-down-filters": pushDown,
  "choose-access": access,
  "choose-join": joins,
  "eliminate-sort": eliminate,
  "top-n": top,
  "prune-columns": prune,
};

function ruleOf(name: string) {
  return RULES.find((rule) => rule.name === name)!;
}

/** Column lists are only of interest where they change. */
function shown(rule: string, plan: Plan): string {
  const lines = explainText(plan);
  if (rule !== "prune-columns") return lines.join("\n");
  return `columns: ${describeColumns(plan)}\n${lines.join("\n")}`;
}

function describeColumns(plan: Plan): string {
  const names = plan.columns.map((column) => column.name).join(", ");
  const below = "input" in plan ? [plan.input] : "left" in plan ? [plan.left, plan.right] : [];
  return [`${plan.kind}(${names})`, ...below.map(describeColumns)].join(" ");
}

for (const [name, cases] of Object.entries(CASES)) {
  t.test(name, async (t) => {
    const rule = ruleOf(name);
    const printed = Object.entries(cases).map(([title, make]) => {
      const plan = make();
      const [before, after] = [shown(name, plan), shown(name, rule.apply(plan, new Cardinality(null)))];
      t.equal(before === after, title.endsWith("unchanged"), title);
      return `# ${title}\n${before}\n${before === after ? "" : `=>\n${after}\n`}`;
    });
    matchesGolden(t, `plan/${name}.txt`, printed.join("\n"));
  });
}
