/**
 * Writes the SQL for a question's meaning. Tables that a row has one of are joined. Conditions on tables that it has
 * many of become EXISTS, so no row is listed or counted twice. Groups join both.
 */

import { columnSql as columnOf, firstOfEachSql, shownSql } from "./first-of-each.js";
import { compareSql } from "./period-changes.js";
import type { Aggregate, Filter, GroupKey, QueryShape } from "./query-shape.js";
import { endOf, namingColumns, pathBetween, type SchemaFacts, type Step, type TableFacts } from "./schema-facts.js";
import { identifier } from "./sql-names.js";

/** Throws nothing: what cannot be joined makes it answer null. */
export function writeQuery(shape: QueryShape, schema: SchemaFacts): string | null {
  const writer = new Writer(shape, schema);
  try {
    return writer.write();
  } catch (error) {
    if (error instanceof Unconnected) return null;
    throw error;
  }
}

class Unconnected extends Error {}

interface ManyFilters {
  readonly step: Step;
  readonly rest: Map<TableFacts, Step>;
  readonly conditions: string[];
}

interface Select {
  readonly list: string;
  readonly tail: readonly string[];
  /** Of periods to compare: the names of its columns but the period's, the value last. */
  readonly names?: readonly string[];
}

class Writer {
  /** Tables in FROM beside the base, in the order in which they were joined. */
  private readonly joins = new Map<TableFacts, Step>();
  private readonly many = new Map<string, ManyFilters>();
  private readonly where: string[] = [];
  /** Conditions on rows that must not be there, by their table. */
  private readonly missing = new Map<TableFacts, { readonly path: readonly Step[]; readonly sql: string }[]>();
  /** Tables whose rows may be none, with what else joins them. */
  private readonly outer = new Map<TableFacts, string[]>();

  constructor(
    private readonly shape: QueryShape,
    private readonly schema: SchemaFacts,
  ) {}

  write(): string {
    const { shape } = this;
    const grouped = shape.groups.length > 0 || shape.ranking !== null || shape.having !== null;
    if (shape.ranking !== null) this.join(shape.ranking.table, !shape.ranking.descending);
    if (shape.having !== null) this.join(shape.having.table, mayBeNone(shape.having));
    for (const group of shape.groups) this.join(group.kind === "table" ? group.table : group.ref.table);
    for (const aggregate of shape.aggregates) {
      if (aggregate.fn === "count") {
        if (aggregate.distinct !== null) this.join(aggregate.distinct.table);
      } else if (aggregate.fn === "rate") for (const { ref } of aggregate.holds) this.join(ref.table);
      else if (aggregate.ref !== null) this.join(aggregate.ref.table);
    }
    for (const { table } of shape.columns) this.join(table);
    if (!grouped && shape.columns.length === 0 && shape.aggregates.length === 0)
      for (const table of linkedBy(shape.base, this.schema)) this.join(table);
    if (shape.order?.ref) this.join(shape.order.ref.table);
    for (const group of shape.firstOfEach?.groups ?? [])
      this.join(group.kind === "table" ? group.table : group.ref.table);
    if (shape.firstOfEach !== null) this.join(shape.firstOfEach.ref.table);
    const left = shape.filters.filter((filter) => !this.ofMissing(filter));
    for (const filter of this.withoutDenied(left)) this.filter(filter);
    for (const { table, exists } of shape.related) this.relate(table, exists);
    for (const filters of this.many.values()) this.where.push(existsOf(filters));
    const change = shape.change;
    const select: Select = change !== null ? this.periodSelect() : grouped ? this.groupedSelect() : this.plainSelect();
    const from = [shape.base.sqlName, ...[...this.joins].map((join) => this.joined(join))].join(" ");
    const rows = this.where.length > 0 ? [`FROM ${from}`, `WHERE ${this.where.join(" AND ")}`] : [`FROM ${from}`];
    const parts = [`SELECT ${select.list}`, ...rows];
    if (shape.firstOfEach !== null) {
      const condition = firstOfEachSql(shape.firstOfEach, shape.base, rows.join(" "), keyColumns);
      return [parts[0], `FROM ${from}`, `WHERE ${condition}`, ...select.tail].join(" ");
    }
    if (shape.ofGroups !== null) {
      const groups = select.tail.filter((part) => !part.startsWith("ORDER BY"));
      const what = shape.ofGroups === "count" ? "count(*) AS count" : "avg(count) AS average";
      return `SELECT ${what} FROM (${[...parts, ...groups].join(" ")}) AS counted`;
    }
    parts.push(...select.tail);
    if (change !== null) {
      const names = select.names ?? [];
      return compareSql(parts.join(" "), change, names.at(-1)!, names.slice(0, -1));
    }
    if (shape.limit !== null) parts.push(`LIMIT ${shape.limit}`);
    return parts.join(" ");
  }

  /** "Acts without a gig in Cork": a condition on the rows that must not be there; true when it is one. */
  private ofMissing(filter: Filter): boolean {
    const missing = this.shape.related.filter(({ exists }) => !exists).map(({ table }) => table);
    if (missing.length === 0 || filter.denied !== undefined || this.joins.has(filter.ref.table)) return false;
    const path = this.pathTo(filter.ref.table);
    const at = path.findIndex((step) => missing.includes(endOf(step)));
    if (at < 0 || !path.slice(0, at + 1).some(({ toMany }) => toMany)) return false;
    const table = endOf(path[at]!);
    const conditions = this.missing.get(table) ?? [];
    this.missing.set(table, [...conditions, { path, sql: filter.sql(columnOf(filter.ref)) }]);
    return true;
  }

  /**
   * "Guests who did not book a suite in 2025": one negation denies rows for which all of it holds, and what else is
   * said of those rows. Answers the filters that are left.
   */
  private withoutDenied(filters: readonly Filter[]): readonly Filter[] {
    const stepOf = ({ ref }: Filter) => this.pathTo(ref.table).find(({ toMany }) => toMany)?.link;
    const isMany = (filter: Filter) => !this.joins.has(filter.ref.table) && stepOf(filter) !== undefined;
    const denied = filters.filter((filter) => filter.denied !== undefined && isMany(filter));
    const groups = new Map<string, Filter[]>();
    for (const filter of denied) {
      const { from, columns } = stepOf(filter)!;
      const key = `${filter.denial} ${from.sqlName} ${columns.join()}`;
      groups.set(key, [...(groups.get(key) ?? []), filter]);
    }
    const used = new Set<Filter>(denied);
    for (const group of groups.values()) {
      const [first] = group;
      const isAlso = (filter: Filter) => isMany(filter) && stepOf(filter) === stepOf(first!) && isAfter(filter, first!);
      const also = filters.filter((filter) => !used.has(filter) && isAlso(filter));
      for (const filter of also) used.add(filter);
      const path = [...group, ...also].flatMap(({ ref }) => this.pathTo(ref.table));
      this.none(
        [...new Map(path.map((step) => [endOf(step), step])).values()],
        [...group.map(({ ref, denied: of }) => of!(columnOf(ref))), ...also.map(({ ref, sql }) => sql(columnOf(ref)))],
      );
    }
    return filters.filter((filter) => !used.has(filter));
  }

  private pathTo(table: TableFacts): readonly Step[] {
    const { base, named } = this.shape;
    const path = table === base ? [] : pathBetween(this.schema, base, table, named);
    if (path === null) throw new Unconnected();
    return path;
  }

  private join(table: TableFacts, isOuter = false): void {
    for (const step of this.pathTo(table)) {
      const next = endOf(step);
      if (next === this.shape.base || this.joins.has(next)) continue;
      this.joins.set(next, step);
      if (isOuter) this.outer.set(next, []);
    }
  }

  private joined([table, step]: readonly [TableFacts, Step]): string {
    const conditions = this.outer.get(table);
    return conditions === undefined ? joinOf(step) : `LEFT ${[joinOf(step), ...conditions].join(" AND ")}`;
  }

  private filter({ ref, sql, denied }: Filter): void {
    const condition = sql(columnOf(ref));
    const path = this.pathTo(ref.table);
    if (denied === undefined) this.joinCounted(path);
    if (this.joins.has(ref.table) || !path.some(({ toMany }) => toMany)) {
      this.join(ref.table);
      if (this.outer.has(ref.table)) this.outer.get(ref.table)!.push(condition);
      else this.where.push(condition);
    } else if (denied === undefined) this.manyFor(path).conditions.push(condition);
    else this.none(path, [denied(columnOf(ref))]);
  }

  /** "The truck with the most deliveries to the north": a condition on what is counted. */
  private joinCounted(path: readonly Step[]): void {
    const first = path.findIndex(({ toMany }) => toMany);
    if (first < 0 || first === path.length - 1 || path.slice(first + 1).some(({ toMany }) => toMany)) return;
    const counted = endOf(path[first]!);
    if (this.joins.get(counted)?.link !== path[first]!.link) return;
    if (this.outer.has(counted)) throw new Unconnected();
    for (const step of path.slice(first + 1)) if (!this.joins.has(endOf(step))) this.joins.set(endOf(step), step);
  }

  /** No row along that way for which the conditions hold. */
  private none(path: readonly Step[], conditions: string[]): void {
    const first = path.findIndex(({ toMany }) => toMany);
    const rest = new Map(path.slice(first + 1).map((step) => [endOf(step), step]));
    for (const before of path.slice(0, first)) this.join(endOf(before));
    this.where.push(`NOT ${existsOf({ step: path[first]!, rest, conditions })}`);
  }

  private manyFor(path: readonly Step[]): ManyFilters {
    const first = path.findIndex(({ toMany }) => toMany);
    const step = path[first]!;
    for (const before of path.slice(0, first)) this.join(endOf(before));
    const key = `${step.link.from.sqlName} ${step.link.columns.join()}`;
    const filters = this.many.get(key) ?? { step, rest: new Map(), conditions: [] };
    this.many.set(key, filters);
    for (const next of path.slice(first + 1)) filters.rest.set(endOf(next), next);
    return filters;
  }

  private relate(table: TableFacts, exists: boolean): void {
    const path = this.pathTo(table);
    const [only] = path;
    if (path.length === 1 && !only!.toMany) {
      const column = `${only!.link.from.sqlName}.${identifier(only!.link.columns[0]!)}`;
      this.where.push(`${column} IS ${exists ? "NOT " : ""}NULL`);
    } else if (isBeside(path)) throw new Unconnected();
    else if (exists) this.manyFor(path);
    else {
      const conditions = this.missing.get(table) ?? [];
      const steps = new Map([path, ...conditions.map((one) => one.path)].flat().map((step) => [endOf(step), step]));
      this.none(
        [...steps.values()],
        conditions.map(({ sql }) => sql),
      );
    }
  }

  /** Over several tables a row may be met several times. */
  private countOf(table: TableFacts): string {
    const isOnce = this.pathTo(table).length < 2 || table.primaryKey.length !== 1;
    return `count(${isOnce ? "" : "DISTINCT "}${countedOf(table)})`;
  }

  private aggregate(aggregate: Aggregate): Named {
    const { base } = this.shape;
    const isCount = aggregate.fn === "count" && aggregate.distinct === null;
    const isOften = [...this.joins.values()].some(({ toMany }) => toMany) && base.primaryKey.length === 1;
    return isCount && isOften ? { by: `count(DISTINCT ${countedOf(base)})`, name: "count" } : aggregateOf(aggregate);
  }

  private plainSelect(): { list: string; tail: string[] } {
    const { base, aggregates, columns, isDistinct, order } = this.shape;
    if (aggregates.length > 0) return { list: aggregates.map(aggregateOf).map(listed).join(", "), tail: [] };
    const ends = columns.length > 0 ? [] : linkedBy(base, this.schema);
    const named = ends.flatMap((table) => namingColumns(table).map((column) => columnOf({ table, column })));
    const list = columns.length > 0 ? columns.map(shownSql).join(", ") : [allOf(base), ...named].join(", ");
    const tail: string[] = [];
    const { firstOfEach } = this.shape;
    if (firstOfEach !== null) {
      if (firstOfEach.ref.column.nullable) this.where.push(`${columnOf(firstOfEach.ref)} IS NOT NULL`);
      const keys = firstOfEach.groups.flatMap(keyColumns);
      return { list: [...keys.map((key) => key.list), list].join(", "), tail: [`ORDER BY ${keys[0]!.by}`] };
    }
    if (order?.ref) {
      const by = columnOf(order.ref);
      // What is not there is neither the first nor the last.
      if (this.shape.limit !== null && order.ref.column.nullable) this.where.push(`${by} IS NOT NULL`);
      tail.push(`ORDER BY ${by}${order.descending ? " DESC" : ""}`);
    }
    // What rows are ordered by would have to be shown, too.
    const isOrderShown = !order?.ref || columns.some(({ column }) => column === order.ref!.column);
    return { list: isDistinct && isOrderShown ? `DISTINCT ${list}` : list, tail };
  }

  /** Of periods to compare: each column has a name of its own. */
  private periodSelect(): Select {
    const { groups, aggregates } = this.shape;
    const value = this.aggregate(aggregates[0]!);
    const time = groups.find(({ kind }) => kind === "time")!;
    const period = keyColumns(time)[0]!;
    const others = groups.filter((key) => key !== time).flatMap(keyColumns);
    const names = others.map((_, i) => `group_${i + 1}`);
    const list = [period.list, ...others.map(({ by }, i) => `${by} AS ${names[i]}`), listed(value)].join(", ");
    const by = [period, ...others].map((column) => column.by).join(", ");
    return { list, tail: [`GROUP BY ${by}`], names: [...names, value.name] };
  }

  /** "The email of the author with the most stories": what is asked of a row that is a group. */
  private besides(keys: readonly GroupKey[]): { list: string; by: string }[] {
    const rows = keys.flatMap((key) => (key.kind === "table" ? [key.table] : []));
    const known = keys.flatMap(keyColumns).map(({ by }) => by);
    const asked = this.shape.columns.filter(({ table }) => rows.includes(table)).map(shownSql);
    return asked.filter((column) => !known.includes(column)).map((by) => ({ list: by, by }));
  }

  private groupedSelect(): { list: string; tail: string[] } {
    const { shape } = this;
    const keys = shape.groups.length > 0 ? shape.groups : [{ kind: "table", table: shape.base } as const];
    const columns = [...keys.flatMap(keyColumns), ...this.besides(keys)];
    const ranked = shape.ranking ?? shape.having;
    const counted = ranked === null ? "count(*)" : this.countOf(ranked.table);
    const aggregates =
      shape.aggregates.length > 0
        ? shape.aggregates.map((each) => this.aggregate(each))
        : [{ by: counted, name: "count" }];
    const tail = [`GROUP BY ${columns.map(({ by }) => by).join(", ")}`];
    if (shape.having !== null && !isAny(shape.having))
      tail.push(`HAVING ${counted} ${shape.having.comparison} ${shape.having.count}`);
    if (shape.havingValue !== null) {
      const { aggregate, comparison, number } = shape.havingValue;
      tail.push(`HAVING ${aggregateOf(aggregate).by} ${comparison} ${number}`);
    }
    if (shape.ranking !== null) tail.push(`ORDER BY ${counted}${shape.ranking.descending ? " DESC" : ""}`);
    else if (shape.order !== null) {
      const first = aggregates[0]!.by;
      tail.push(
        `ORDER BY ${shape.order.ref === null ? first : columnOf(shape.order.ref)}${shape.order.descending ? " DESC" : ""}`,
      );
    } else tail.push(`ORDER BY ${columns[0]!.by}`);
    return { list: [...columns.map(({ list }) => list), ...aggregates.map(listed)].join(", "), tail };
  }
}

/** What a row is that only links others: members of guilds are told by the names of both. */
function linkedBy(base: TableFacts, { links }: SchemaFacts): TableFacts[] {
  const own = links.filter(({ from, columns }) => from === base && columns.length === 1);
  const isEnd = (key: string) => own.some(({ columns }) => columns[0] === key);
  const ends = base.primaryKey.length > 1 && base.primaryKey.every(isEnd) ? own : [];
  const keys = ends.filter(({ columns }) => base.primaryKey.includes(columns[0]!));
  const tables = new Set(keys.map(({ to }) => to));
  return tables.size === keys.length ? [...tables] : [];
}

/** Rows of a parent of the row are not its own: the films that a customer's shop has. */
function isBeside(path: readonly Step[]): boolean {
  const up = path.findIndex(({ toMany }) => !toMany);
  return up >= 0 && up < path.findLastIndex(({ toMany }) => toMany) && !path[0]!.toMany;
}

/** "By Kim and not by Osei": the first is no part of what is denied. */
const isAfter = ({ at }: Filter, { denial }: Filter) => at === undefined || at > denial!;

const isAny = ({ comparison, count }: NonNullable<QueryShape["having"]>) => comparison === ">=" && count === 0;

/** "fewer than 3 orders": also those of no order. */
function mayBeNone({ comparison, count }: NonNullable<QueryShape["having"]>): boolean {
  return comparison === "<" || comparison === "<=" || (count === 0 && /^>?=$/.test(comparison));
}

function allOf(table: TableFacts): string {
  if (table.isPart !== true) return `${table.sqlName}.*`;
  const columns = table.columns.filter(({ sql }) => sql === undefined);
  return columns.map((column) => columnOf({ table, column })).join(", ");
}

function countedOf(table: TableFacts): string {
  const [key] = table.primaryKey;
  return key === undefined ? "*" : `${table.sqlName}.${identifier(key)}`;
}

function joinOf({ link, toMany }: Step): string {
  const next = toMany ? link.from : link.to;
  return `JOIN ${next.sqlName} ON ${linkCondition(link)}`;
}

/** As the SQL has it, in joins and subqueries. */
export function linkCondition(link: Step["link"]): string {
  return link.columns
    .map(
      (column, i) =>
        `${link.from.sqlName}.${identifier(column)} = ${link.to.sqlName}.${identifier(link.references[i]!)}`,
    )
    .join(" AND ");
}

function existsOf({ step, rest, conditions }: ManyFilters): string {
  const from = [endOf(step).sqlName, ...[...rest.values()].map(joinOf)].join(" ");
  return `EXISTS (SELECT 1 FROM ${from} WHERE ${[linkCondition(step.link), ...conditions].join(" AND ")})`;
}

/** An aggregate and the name of its column in the answer. */
interface Named {
  readonly by: string;
  readonly name: string;
}

const listed = ({ by, name }: Named) => `${by} AS ${identifier(name)}`;

const NAME_OF_WHOLE = { 1: "share", 100: "percentage" } as const;

function aggregateOf(aggregate: Aggregate): Named {
  if (aggregate.fn === "count") {
    const { distinct } = aggregate;
    return { by: distinct === null ? "count(*)" : `count(DISTINCT ${columnOf(distinct)})`, name: "count" };
  }
  if (aggregate.fn === "rate") {
    const holds = aggregate.holds.map(({ ref, sql }) => sql(columnOf(ref))).join(" AND ");
    return { by: `avg(CASE WHEN ${holds} THEN ${aggregate.of}.0 ELSE 0.0 END)`, name: NAME_OF_WHOLE[aggregate.of] };
  }
  if (aggregate.fn === "share") {
    const name = NAME_OF_WHOLE[aggregate.of];
    if (aggregate.ref === null) return { by: `count(*) * ${aggregate.of}.0 / sum(count(*)) OVER ()`, name };
    const sum = `sum(${columnOf(aggregate.ref)})`;
    return { by: `${sum} * ${aggregate.of}.0 / nullif(sum(${sum}) OVER (), 0)`, name };
  }
  const column = columnOf(aggregate.ref);
  return {
    by:
      aggregate.fn === "median"
        ? `percentile_cont(0.5) WITHIN GROUP (ORDER BY ${column})`
        : `${aggregate.fn}(${column})`,
    name: `${aggregate.fn}_${aggregate.ref.column.name}`,
  };
}

/** What a group is shown by, and grouped by. */
function keyColumns(key: GroupKey): { list: string; by: string }[] {
  if (key.kind === "time") {
    const column = columnOf(key.ref);
    if (key.unit === "weekday") {
      const [number, name] = [`extract(isodow FROM ${column})`, `to_char(${column}, 'FMDay')`];
      return [
        { list: `${number} AS weekday`, by: number },
        { list: `${name} AS weekday_name`, by: name },
      ];
    }
    const part = key.unit === "hour of day" ? "hour" : key.unit === "year" ? "year" : null;
    const by = part === null ? `date_trunc('${key.unit}', ${column})` : `extract(${part} FROM ${column})`;
    return [{ list: `${by} AS ${key.unit.replaceAll(" ", "_")}`, by }];
  }
  if (key.kind === "column") return [shownSql(key.ref)].map((by) => ({ list: by, by }));
  const { table } = key;
  const keys = table.columns.filter(({ name }) => table.primaryKey.includes(name));
  const naming = namingColumns(table);
  // What has no name is told by its first text.
  const text = naming.every((column) => keys.includes(column))
    ? table.columns.find(({ kind }) => kind === "text")
    : undefined;
  const shown = [...new Set([...keys, ...naming, ...(text === undefined ? [] : [text])])];
  return shown.map((column) => columnOf({ table, column })).map((by) => ({ list: by, by }));
}
