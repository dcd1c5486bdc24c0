/** Random queries over a few small tables with many NULLs: typed, so that most of them run. Seeded. */

export const SETUP = [
  "CREATE TABLE a (id int PRIMARY KEY, n int, b bigint, d numeric(8,2), s text, f boolean, t date)",
  "CREATE TABLE b (id int PRIMARY KEY, aid int, n int, s varchar(10), m numeric, t date)",
  "CREATE TABLE c (k int, v text)",
  "CREATE INDEX b_aid ON b (aid)",
  `INSERT INTO a VALUES (1,1,10,1.50,'one',true,'2024-01-01'),(2,2,NULL,-2.25,'two',false,'2024-02-29'),(3,NULL,30,NULL,NULL,NULL,NULL),
   (4,2,-40,0.00,'',true,'1999-12-31'),(5,7,9007199254740993,99999.99,'Fünf',false,'2024-02-29'),(6,0,0,3.10,'two',NULL,'2025-06-15')`,
  `INSERT INTO b VALUES (1,1,5,'x',1.5,'2024-01-01'),(2,1,NULL,'y',NULL,'2024-03-01'),(3,2,2,NULL,100,NULL),(4,NULL,7,'two',-0.001,'1999-12-31'),
   (5,9,2,'x',12345.678,'2024-02-29'),(6,4,0,'',0,'2030-01-01'),(7,2,1,'one',2.50,'2024-02-29')`,
  "INSERT INTO c VALUES (1,'one'),(2,'two'),(2,NULL),(NULL,'x'),(7,'seven')",
];

type Type = "int" | "num" | "text" | "bool" | "date";

const COLUMNS: Readonly<Record<string, Readonly<Record<string, Type>>>> = {
  a: { id: "int", n: "int", b: "int", d: "num", s: "text", f: "bool", t: "date" },
  b: { id: "int", aid: "int", n: "int", s: "text", m: "num", t: "date" },
  c: { k: "int", v: "text" },
};

interface Source {
  readonly alias: string;
  readonly table: string;
}

export class QueryGenerator {
  private aliases = 0;

  constructor(private readonly random: () => number) {}

  private pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)]!;
  }

  private chance(share: number): boolean {
    return this.random() < share;
  }

  private source(): Source {
    return { alias: `q${this.aliases++}`, table: this.pick(["a", "a", "b", "b", "c"]) };
  }

  query(): string {
    this.aliases = 0;
    const roll = this.random();
    if (roll < 0.2) return this.grouped();
    if (roll < 0.3) return this.setOperation();
    if (roll < 0.37) return this.windowed();
    if (roll < 0.44) return this.derived();
    if (roll < 0.52) return this.repeated();
    return this.plain();
  }

  /** Window functions, with a condition on their rows from outside. */
  private windowed(): string {
    const { from, sources } = this.from();
    const key = this.column("int", this.pick(sources));
    const by = this.column("int", this.pick(sources));
    const over = this.chance(0.7) ? `PARTITION BY ${key} ORDER BY ${by}` : `ORDER BY ${by}`;
    const call = this.pick(["count(*)", `sum(${by})`, "rank()", "dense_rank()", `max(${key})`, `min(${by})`]);
    const inner = `SELECT ${key} AS k, ${by} AS n, ${call} OVER (${over}) AS w FROM ${from}${this.where(sources)}`;
    const outside = this.chance(0.7) ? ` WHERE ${this.conditionOn(["x.k", "x.n", "x.w"])}` : "";
    return `SELECT x.k, x.n, x.w FROM (${inner}) x${outside} ORDER BY 1, 2, 3`;
  }

  /** Conditions, joins, order and limit over a derived table, a WITH table or a lateral subquery. */
  private derived(): string {
    const other = this.source();
    const sub = this.subselect(null);
    const on = `${this.column("int", other)} = x.k`;
    const order = " ORDER BY 1, 2, 3";
    const select = `SELECT ${this.column("int", other)}, x.k, x.n`;
    const where = this.chance(0.6) ? ` WHERE ${this.conditionOn(["x.k", "x.n", this.column("int", other)])}` : "";
    const limit = this.chance(0.3) ? ` LIMIT ${Math.floor(this.random() * 5)}` : "";
    const named = `${other.table} ${other.alias}`;
    switch (this.pick(["joined", "with", "lateral", "alone"])) {
      case "joined":
        return `${select} FROM ${named} ${this.pick(["JOIN", "LEFT JOIN", "RIGHT JOIN"])} (${sub}) x ON ${on}${where}${order}${limit}`;
      case "with":
        return `WITH x AS (${sub}) ${select} FROM x ${this.pick(["JOIN", "LEFT JOIN"])} ${named} ON ${on}${where}${order}${limit}`;
      case "lateral":
        return `${select} FROM ${named} ${this.pick(["JOIN", "LEFT JOIN"])} LATERAL (${this.subselect(other)}) x ON ${this.pick(["true", on])}${where}${order}${limit}`;
      default:
        return `SELECT x.k, x.n FROM (${sub}) x${where.includes(other.alias) ? "" : where} ORDER BY 1, 2${limit}`;
    }
  }

  /** The same rows of a join, read twice or three times with different columns. */
  private repeated(): string {
    const { from, sources } = this.from();
    const rows = `FROM ${from}${this.where(sources)}`;
    const n = () => this.column("int", this.pick(sources));
    const read = () => `(SELECT ${n()} AS k, ${n()} AS n ${rows}${this.pick(["", "", " ORDER BY 1, 2 LIMIT 3"])})`;
    const one = () => `(SELECT ${this.pick(["max", "min", "count", "sum"])}(${n()}) ${rows})`;
    return this.pick([
      () => `SELECT ${n()}, count(*), ${one()} ${rows} GROUP BY 1 HAVING count(*) >= ${one()} ORDER BY 1, 2`,
      () =>
        `SELECT x.k, y.n FROM ${read()} x ${this.pick(["JOIN", "LEFT JOIN"])} ${read()} y ON x.k = y.k ORDER BY 1, 2`,
      () => `SELECT x.k, x.n, ${one()} FROM ${read()} x WHERE ${this.conditionOn(["x.k", "x.n"])} ORDER BY 1, 2`,
      () =>
        `SELECT k, n FROM ${read()} x ${this.pick(["UNION ALL", "INTERSECT", "EXCEPT"])} SELECT k, n FROM ${read()} y ORDER BY 1, 2`,
      () =>
        `SELECT x.k FROM ${read()} x WHERE x.k ${this.pick(["IN", "NOT IN"])} (SELECT y.k FROM ${read()} y WHERE y.n > x.n) ORDER BY 1`,
    ])();
  }

  /** Two int columns k and n, perhaps of rows that belong to an outer row. */
  private subselect(outer: Source | null): string {
    const source = this.source();
    const [k, n] = [this.column("int", source), this.column("int", source)];
    const tied = outer === null ? "" : ` WHERE ${k} ${this.pick(["=", "=", "<"])} ${this.column("int", outer)}`;
    const from = ` FROM ${source.table} ${source.alias}${tied}`;
    const other = this.source();
    return this.pick([
      () => `SELECT ${k} AS k, ${n} AS n${from}`,
      () => `SELECT DISTINCT ${k} AS k, ${n} AS n${from}`,
      () => `SELECT ${k} AS k, ${this.pick(["count(*)", `sum(${n})`, `min(${n})`])} AS n${from} GROUP BY ${k}`,
      () => `SELECT ${this.pick(["max", "min"])}(${k}) AS k, ${this.pick(["max", "min"])}(${n}) AS n${from}`,
      () => `SELECT ${k} AS k, ${n} AS n${from} ORDER BY 1, 2 LIMIT ${Math.floor(this.random() * 4)}`,
      () =>
        `SELECT ${k} AS k, ${n} AS n${from} UNION${this.pick(["", " ALL"])} SELECT ${this.column("int", other)}, ${this.column("int", other)} FROM ${other.table} ${other.alias}`,
    ])();
  }

  private conditionOn(columns: readonly string[]): string {
    const one = (): string => {
      const column = this.pick(columns);
      return this.pick([
        () => `${column} ${this.pick(["=", "<>", "<", ">="])} ${this.constant("int")}`,
        () => `${column} IN (${this.constant("int")}, ${this.constant("int")}, 2)`,
        () => `${column} IS ${this.pick(["", "NOT "])}NULL`,
        () => `(${column} = 1 OR ${column} = 2 OR ${column} = 7)`,
        () => `${column} = ${this.pick(columns)}`,
      ])();
    };
    return this.chance(0.5) ? one() : `${one()} ${this.pick(["AND", "AND", "OR"])} ${one()}`;
  }

  private plain(): string {
    const { from, sources } = this.from();
    const targets = Array.from({ length: 1 + Math.floor(this.random() * 4) }, () =>
      this.expr(this.anyType(), sources, 2),
    );
    const distinct = this.chance(0.15) ? "DISTINCT " : "";
    const order = targets
      .map((_, i) => `${i + 1}${this.pick(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"])}`)
      .join(", ");
    const limit = this.chance(0.3)
      ? ` LIMIT ${Math.floor(this.random() * 6)} OFFSET ${Math.floor(this.random() * 3)}`
      : "";
    return `SELECT ${distinct}${targets.join(", ")} FROM ${from}${this.where(sources)} ORDER BY ${order}${limit}`;
  }

  private grouped(): string {
    const { from, sources } = this.from();
    const keys = Array.from({ length: Math.floor(this.random() * 3) }, () => this.expr(this.anyType(), sources, 1));
    const aggregates = Array.from({ length: 1 + Math.floor(this.random() * 3) }, () => this.aggregate(sources));
    const group = keys.length > 0 ? ` GROUP BY ${keys.map((_, i) => i + 1).join(", ")}` : "";
    const having = this.chance(0.3) ? ` HAVING ${this.pick(["count(*) > 1", "count(*) < 4", "bool_or(true)"])}` : "";
    const all = [...keys, ...aggregates];
    return `SELECT ${all.join(", ")} FROM ${from}${this.where(sources)}${group}${having} ORDER BY ${all.map((_, i) => i + 1).join(", ")}`;
  }

  private setOperation(): string {
    const types = Array.from({ length: 1 + Math.floor(this.random() * 2) }, () => this.anyType());
    const branch = (): string => {
      const { from, sources } = this.from();
      return `SELECT ${types.map((type) => this.expr(type, sources, 1)).join(", ")} FROM ${from}${this.where(sources)}`;
    };
    const op = this.pick(["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]);
    return `(${branch()}) ${op} (${branch()}) ORDER BY ${types.map((_, i) => i + 1).join(", ")}`;
  }

  private from(): { from: string; sources: Source[] } {
    const first = this.source();
    const sources = [first];
    let from = `${first.table} ${first.alias}`;
    for (let n = this.pick([0, 0, 1, 1, 2]); n > 0; n--) {
      const next = this.source();
      sources.push(next);
      const join = this.pick(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"]);
      const on = join === "CROSS JOIN" ? "" : ` ON ${this.joinCondition(sources, next, join)}`;
      from += ` ${join} ${next.table} ${next.alias}${on}`;
    }
    return { from, sources };
  }

  /** FULL JOIN takes only what can be hashed or merged. */
  private joinCondition(sources: readonly Source[], next: Source, join: string): string {
    const earlier = this.pick(sources.filter((source) => source !== next));
    const equality = `${this.column("int", earlier)} = ${this.column("int", next)}`;
    return join === "FULL JOIN" || this.chance(0.7)
      ? equality
      : `${equality} AND ${this.expr("bool", [earlier, next], 1)}`;
  }

  private where(sources: readonly Source[]): string {
    return this.chance(0.6) ? ` WHERE ${this.expr("bool", sources, 2)}` : "";
  }

  private anyType(): Type {
    return this.pick(["int", "int", "num", "text", "bool", "date"]);
  }

  private column(type: Type, source: Source): string {
    const names = Object.entries(COLUMNS[source.table]!).filter(([, columnType]) => columnType === type);
    return names.length === 0 ? this.constant(type) : `${source.alias}.${this.pick(names)[0]}`;
  }

  private constant(type: Type): string {
    switch (type) {
      case "int":
        return this.pick(["0", "1", "2", "7", "-3", "NULL::int"]);
      case "num":
        return this.pick(["0.5", "1.50", "-2.25", "100", "NULL::numeric"]);
      case "text":
        return this.pick(["'one'", "'two'", "''", "'x%'", "NULL::text"]);
      case "bool":
        return this.pick(["true", "false", "NULL::boolean"]);
      case "date":
        return this.pick(["'2024-02-29'::date", "'1999-12-31'::date", "NULL::date"]);
    }
  }

  private expr(type: Type, sources: readonly Source[], depth: number): string {
    if (depth === 0 || this.chance(0.25)) {
      return this.chance(0.8) ? this.column(type, this.pick(sources)) : this.constant(type);
    }
    const sub = (wanted: Type): string => this.expr(wanted, sources, depth - 1);
    if (this.chance(0.12)) return `CASE WHEN ${sub("bool")} THEN ${sub(type)} ELSE ${sub(type)} END`;
    if (this.chance(0.08)) return `coalesce(${sub(type)}, ${sub(type)})`;
    if (this.chance(0.05)) return `nullif(${sub(type)}, ${sub(type)})`;
    if (type === "bool") return this.predicate(sources, sub);
    return this.pick(this.calls(type, sub, sources))();
  }

  private calls(type: Type, sub: (type: Type) => string, sources: readonly Source[]): readonly (() => string)[] {
    switch (type) {
      case "int":
        return [
          () => `(${sub("int")} ${this.pick(["+", "-", "*", "/", "%"])} ${sub("int")})`,
          () => `length(${sub("text")})`,
          () => `abs(${sub("int")})`,
          () => `extract(${this.pick(["year", "month", "day", "dow"])} from ${sub("date")})::int`,
          () => `(${sub("date")} - ${sub("date")})`,
          () => `${sub("num")}::int`,
          () =>
            `(SELECT ${this.pick(["max", "min", "count"])}(z.n) FROM b z WHERE z.aid = ${this.column("int", this.pick(sources))})`,
          () => `position(${sub("text")} in ${sub("text")})`,
        ];
      case "num":
        return [
          () => `(${sub("num")} ${this.pick(["+", "-", "*", "/"])} ${sub("num")})`,
          () => `round(${sub("num")}, ${this.pick(["0", "1", "2"])})`,
          () => `(${sub("num")} * ${sub("int")})`,
          () => `${this.pick(["abs", "ceil", "floor", "trunc", "sign"])}(${sub("num")})`,
          () => `greatest(${sub("num")}, ${sub("num")})`,
        ];
      case "text":
        return [
          () => `(${sub("text")} || ${sub("text")})`,
          () => `${this.pick(["upper", "lower", "reverse", "trim", "initcap"])}(${sub("text")})`,
          () => `substr(${sub("text")}, ${this.pick(["1", "2", "0", "-1"])}, ${this.pick(["1", "2", "5"])})`,
          () => `${sub(this.pick(["int", "num", "date", "bool"]))}::text`,
          () => `replace(${sub("text")}, 'o', '0')`,
          () => `lpad(${sub("text")}, 5, '*')`,
        ];
      default:
        return [
          () => `(${sub("date")} + ${this.pick(["1", "31", "-400"])})`,
          () => `date_trunc('${this.pick(["month", "year"])}', ${sub("date")})::date`,
          () => `least(${sub("date")}, ${sub("date")})`,
        ];
    }
  }

  private predicate(sources: readonly Source[], sub: (type: Type) => string): string {
    const type = this.pick(["int", "num", "text", "date"] as const);
    const compare = this.pick(["=", "<>", "<", "<=", ">", ">="]);
    return this.pick([
      () => `(${sub(type)} ${compare} ${sub(type)})`,
      () => `(${sub("bool")} ${this.pick(["AND", "OR"])} ${sub("bool")})`,
      () => `(NOT ${sub("bool")})`,
      () => `(${sub(type)} IS ${this.pick(["", "NOT "])}NULL)`,
      () => `(${sub(type)} IS ${this.pick(["", "NOT "])}DISTINCT FROM ${sub(type)})`,
      () => `(${sub(type)} ${this.pick(["", "NOT "])}BETWEEN ${sub(type)} AND ${sub(type)})`,
      () => `(${sub(type)} ${this.pick(["", "NOT "])}IN (${sub(type)}, ${sub(type)}, ${this.constant(type)}))`,
      () =>
        `(${sub("text")} ${this.pick(["LIKE", "NOT LIKE", "ILIKE"])} ${this.pick(["'%o%'", "'_w%'", "''", "'t%'"])})`,
      () =>
        `(${this.column("int", this.pick(sources))} ${this.pick(["", "NOT "])}IN (SELECT z.k FROM c z WHERE z.k IS NOT NULL))`,
      () => `(${this.column("int", this.pick(sources))} ${this.pick(["", "NOT "])}IN (SELECT z.aid FROM b z))`,
      () =>
        `${this.pick(["", "NOT "])}EXISTS (SELECT 1 FROM b z WHERE z.aid = ${this.column("int", this.pick(sources))} AND z.n > ${this.constant("int")})`,
      () =>
        `(${sub("int")} ${this.pick(["", "NOT "])}IN (SELECT ${this.pick(["z.n", "z.aid", "z.id"])} FROM b z${this.pick(["", " WHERE z.n > 1", ` WHERE z.id > ${this.column("int", this.pick(sources))}`])}))`,
      () =>
        `(${this.pick(["", "NOT "])}EXISTS (SELECT 1 FROM ${this.pick(["a", "b"])} z WHERE z.n = ${this.column("int", this.pick(sources))}) OR ${sub("bool")})`,
      () => `(${sub("int")} ${compare} ${this.pick(["ANY", "ALL"])} (SELECT z.n FROM b z WHERE z.n IS NOT NULL))`,
    ])();
  }

  private aggregate(sources: readonly Source[]): string {
    const sub = (type: Type): string => this.expr(type, sources, 1);
    const distinct = this.chance(0.25) ? "DISTINCT " : "";
    const filter = this.chance(0.2) ? ` FILTER (WHERE ${sub("bool")})` : "";
    const call = this.pick([
      () => "count(*)",
      () => `count(${distinct}${sub(this.anyType())})`,
      () => `${this.pick(["sum", "avg", "min", "max"])}(${distinct}${sub(this.pick(["int", "num"]))})`,
      () => `${this.pick(["min", "max"])}(${sub(this.pick(["text", "date"]))})`,
      () => `${this.pick(["bool_and", "bool_or"])}(${sub("bool")})`,
    ])();
    return call + filter;
  }
}
