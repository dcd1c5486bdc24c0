/**
 * Lets the runner of openCypher's TCK drive a real server by Bolt, with Neo4j's driver: `open` starts one, and each
 * scenario begins with an empty graph. Scenarios with procedures of their own are skipped, because a server takes none
 * from clients.
 */
import neo4j, { type Driver, type Node, type Path, type Relationship } from "neo4j-driver";
import { CypherDate, Duration, LocalDateTime, LocalTime, ZonedDateTime, ZonedTime } from "../../src/values/temporal.js";
import { temporalToText } from "../../src/values/temporal-text.js";
import { boltPort, WITH_BOLT } from "../e2e/bolt-client.js";
import { TestServer } from "../e2e/server.js";

type Fields = Readonly<Record<string, bigint>>;

const n = (value: unknown): number => Number(value);

function daysOf({ year, month, day }: Fields): number {
  const date = new Date(0);
  date.setUTCFullYear(n(year), n(month) - 1, n(day));
  return date.getTime() / 86_400_000;
}

const nanosOf = ({ hour, minute, second, nanosecond }: Fields): number =>
  ((n(hour) * 60 + n(minute)) * 60 + n(second)) * 1e9 + n(nanosecond);

/** Temporal values of the driver's as openCypher writes them. */
function temporalText(value: object): string | null {
  const fields = value as Fields;
  if (neo4j.isDate(value)) return temporalToText(new CypherDate(daysOf(fields)));
  if (neo4j.isLocalTime(value)) return temporalToText(new LocalTime(nanosOf(fields)));
  if (neo4j.isTime(value)) return temporalToText(new ZonedTime(nanosOf(fields), n(fields.timeZoneOffsetSeconds)));
  if (neo4j.isLocalDateTime(value)) return temporalToText(new LocalDateTime(daysOf(fields), nanosOf(fields)));
  if (neo4j.isDateTime(value)) {
    const offset = n(fields.timeZoneOffsetSeconds);
    const zone = (value as unknown as { timeZoneId?: string }).timeZoneId ?? null;
    return temporalToText(new ZonedDateTime(daysOf(fields), nanosOf(fields), offset, zone));
  }
  if (!neo4j.isDuration(value)) return null;
  const { months, days, seconds, nanoseconds } = fields;
  const whole = Number.isSafeInteger(n(seconds)) ? n(seconds) : seconds!;
  return temporalToText(new Duration(n(months), n(days), whole, n(nanoseconds)));
}

/** The TCK's model of values: integers are bigints, floats numbers. */
function tckValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(tckValue);
  if (neo4j.isNode(value)) return tckNode(value);
  if (neo4j.isRelationship(value)) return tckRelationship(value);
  if (neo4j.isPath(value)) return tckPath(value);
  return temporalText(value) ?? tckMap(value);
}

const tckMap = (map: object): object =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, tckValue(value)]));

const tckNode = ({ labels, properties }: Node): object => ({
  $node: { labels: [...labels], properties: tckMap(properties) },
});

const tckRelationship = ({ type, properties }: Pick<Relationship, "type" | "properties">): object => ({
  $rel: { type, properties: tckMap(properties) },
});

function tckPath({ start, segments }: Path): object {
  return {
    $path: {
      nodes: [start, ...segments.map(({ end }) => end)].map(tckNode),
      rels: segments.map(({ relationship }) => tckRelationship(relationship)),
      forward: segments.map((each) => each.relationship.startNodeElementId === each.start.elementId),
    },
  };
}

/** Numbers that are integers are sent as such, which the driver would send as floats. */
function sent(value: unknown): unknown {
  if (typeof value === "number") return Number.isInteger(value) ? neo4j.int(value) : value;
  if (Array.isArray(value)) return value.map(sent);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, sent(each)]));
}

export async function open() {
  const server = await TestServer.start({ ...WITH_BOLT, TESSERA_ACTORS: "1" });
  const driver: Driver = neo4j.driver(
    `bolt://127.0.0.1:${boltPort(server)}`,
    neo4j.auth.basic("admin", server.password),
    { useBigInt: true },
  );
  const session = driver.session();
  return {
    /** Integers are told from floats. */
    typedNumbers: true,
    async reset(): Promise<void> {
      await session.run("MATCH (n) DETACH DELETE n");
    },
    async run(cypher: string, params: Readonly<Record<string, unknown>>) {
      const result = session.run(cypher, sent(params) as Record<string, unknown>);
      const columns = await result.keys();
      const { records } = await result;
      return { columns, rows: records.map((record) => columns.map((key) => tckValue(record.get(key)))) };
    },
    async close(): Promise<void> {
      await session.close();
      await driver.close();
      await server.stop();
    },
  };
}
