/**
 * How long things took where no column holds it: the time between the only beginning and the only end of a row, in the
 * unit that the question asks in. Called by `match-question.ts`; stateless.
 */
import { wordsOfName } from "./bare-names.js";
import { stemOf } from "./question.js";
import { type ColumnFacts, type SchemaFacts, type TableFacts, withTables } from "./schema-facts.js";
import { identifier } from "./sql-names.js";
import { UNIT_NAMES } from "./vocabulary.js";

const stems = (words: string) => new Set(words.split(" ").map(stemOf));
const BEGINNINGS = stems(
  "started start begin began opened reported created admitted borrowed loaned rented checkin departed departure picked pickup",
);
const ENDS = stems(
  "ended end finished finish closed completed resolved discharged returned checkout arrived arrival repaired dropped dropoff",
);
/** Where no column is called so: what is asked for, and what has come of it. */
const REQUESTS = stems("ordered placed requested issued raised filed submitted gemeldet");
const OUTCOMES = stems("shipped delivered cleared behoben");
/** Columns that hold it, those that are called by a unit alone, and what else may be long. */
const HELD = stems("duration length runtime");
const HELD_BY_UNIT = stems("minutes hours seconds days nights");
const EXTENTS = stems("distance km miles mileage pages height");

const ASKED = /\b(?:durations?|how long|longe(?:r|st)|shorte(?:r|st)|take|takes|took|last|lasts|lasted)\b/i;
/** Not of how far, or of how many pages. */
const ASKED_OF_TIME = /\b(?:durations?|how long|took|lasted)\b/i;
const UNIT =
  /\b(?:in|(?<!(?:last|past) )(?:\d+(?:\.\d+)?|an?|one|two|three|four|five|six|ten)) (second|minute|hour|day|week)s?\b/i;
/** Compared with a number of nothing. */
const BARE_NUMBER = /\bthan \d+(?:\.\d+)?(?! ?(?:second|minute|hour|day|week))/i;
const SECONDS: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3600, day: 86_400, week: 604_800 };

/** The schema with a column of durations in each table that has one beginning and one end. */
export function withDurations(schema: SchemaFacts, question: string): SchemaFacts {
  if (!ASKED.test(question)) return schema;
  const said = UNIT.exec(question)?.[1]?.toLowerCase();
  const unit = said === undefined ? null : UNIT_NAMES[said]!;
  if (unit === null && BARE_NUMBER.test(question)) return schema;
  const isOfTime = unit !== null || ASKED_OF_TIME.test(question);
  const tables = new Map<TableFacts, TableFacts>();
  for (const table of schema.tables) {
    const duration = durationOf(table, unit, isOfTime);
    if (duration !== null) tables.set(table, { ...table, columns: [...table.columns, duration] });
  }
  return withTables(schema, tables);
}

function durationOf({ columns, sqlName }: TableFacts, unit: string | null, isOfTime: boolean): ColumnFacts | null {
  const says = ({ name }: ColumnFacts, words: ReadonlySet<string>) =>
    wordsOfName(name).some((word) => words.has(stemOf(word)));
  const numbers = columns.filter(({ kind, isKey }) => kind === "number" && !isKey);
  const isOfUnit = ({ name }: ColumnFacts) => wordsOfName(name).every((word) => HELD_BY_UNIT.has(stemOf(word)));
  if (numbers.some((each) => says(each, HELD) || isOfUnit(each) || (!isOfTime && says(each, EXTENTS)))) return null;
  const times = columns.filter(({ kind }) => kind === "date" || kind === "timestamp");
  const either = (words: ReadonlySet<string>, others: ReadonlySet<string>) => {
    const found = times.filter((each) => says(each, words));
    return found.length > 0 ? found : times.filter((each) => says(each, others));
  };
  const [start, otherStart] = either(BEGINNINGS, REQUESTS);
  const [end, otherEnd] = either(ENDS, OUTCOMES);
  if (start === undefined || end === undefined || otherStart !== undefined || otherEnd !== undefined) return null;
  if (start === end || start.kind !== end.kind) return null;
  const of = ({ name, kind, isText }: ColumnFacts) =>
    `${sqlName}.${identifier(name)}${isText === true ? `::${kind}` : ""}`;
  const between = `(${of(end)} - ${of(start)})`;
  const ofDays = `${between} * ${SECONDS.day} / ${SECONDS[unit ?? "day"]}.0`;
  const ofSeconds = `extract(epoch FROM ${between}) / ${SECONDS[unit ?? "second"]}`;
  const isDays = start.kind === "date" && (unit === null || unit === "day");
  return {
    name: unit === null ? "duration" : `duration_${unit}s`,
    kind: "number",
    typeName: "numeric",
    nullable: true,
    isKey: false,
    sql: unit === null || isDays ? between : start.kind === "date" ? ofDays : ofSeconds,
  };
}
