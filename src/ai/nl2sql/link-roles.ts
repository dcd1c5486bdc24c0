/**
 * Which of several foreign keys between two tables a question means: flights have an origin and a destination, matches
 * a home team and a guest. The words of the question say it, or it is not said. Called by `match-question.ts`;
 * stateless.
 */
import { wordsOfName } from "./bare-names.js";
import { KEY_ENDING, wordScore } from "./name-mentions.js";
import { isVerb, type Question, stemOf, type Token } from "./question.js";
import type { LinkFacts, SchemaFacts, TableFacts } from "./schema-facts.js";
import { identifier } from "./sql-names.js";
import { ABBREVIATIONS } from "./vocabulary.js";

export interface MeantLinks {
  /** Without the keys that are not meant. */
  readonly schema: SchemaFacts;
  /** Keys of which several are left, each with the names of their columns. */
  readonly unclear: ReadonlyMap<LinkFacts, readonly string[]>;
}

/** A word of the same family, or better. */
const FIT_MIN = 0.7;
/** A synonym, or better. */
const MEANING = 0.6;

const STARTS = new Set(
  "from origin source departure depart departing leave leaving departed start starting sender sent"
    .split(" ")
    .map(stemOf),
);
const ENDS = new Set(
  "to into destination dest target arrival arrive arriving arrived land landing landed end receiver recipient received"
    .split(" ")
    .map(stemOf),
);

export function meantLinks(question: Question, schema: SchemaFacts): MeantLinks {
  const groups = new Map<string, LinkFacts[]>();
  for (const link of schema.links) {
    const key = `${link.from.sqlName} ${link.to.sqlName}`;
    groups.set(key, [...(groups.get(key) ?? []), link]);
  }
  const dropped = new Set<LinkFacts>();
  const unclear = new Map<LinkFacts, readonly string[]>();
  for (const links of groups.values()) {
    if (links.length === 1 || links[0]!.from === links[0]!.to) continue;
    const meant = narrowed(question, links);
    for (const link of links) if (!meant.includes(link)) dropped.add(link);
    const names = meant.map(({ columns }) => columns.join(", "));
    if (meant.length > 1) for (const link of meant) unclear.set(link, names);
  }
  for (const link of schema.links) if (link !== schema.meant && isRoleOfOne(question, schema, link)) dropped.add(link);
  if (dropped.size === 0) return { schema, unclear };
  return { schema: { ...schema, links: schema.links.filter((link) => !dropped.has(link)) }, unclear };
}

/** "Win" of a winner, "lead" of a leader. */
const doneBy = (role: string) => role.replace(/(?:er|or)$/, "").replace(/([^aeiouls])\1$/, "$1");

/** A department's `head_id`, where employees have a `department_id` and nobody speaks of heads. */
function isRoleOfOne(question: Question, { links }: SchemaFacts, { from, to, columns }: LinkFacts): boolean {
  const own = [...wordsOfName(to.name), ...wordsOfName(to.primaryKey[0] ?? "")].map(stemOf);
  const isPlain = (words: readonly string[], names: readonly string[]) =>
    words.every((word) => KEY_ENDING.test(word) || names.includes(stemOf(word)));
  const role = columns.flatMap(wordsOfName).filter((word) => !KEY_ENDING.test(word));
  if (columns.length !== 1 || isPlain(role, own)) return false;
  const back = links.filter((link) => link.from === to && link.to === from);
  const names = [...wordsOfName(from.name), ...wordsOfName(from.primaryKey[0] ?? "")].map(stemOf);
  const isBack = back.length === 1 && isPlain(back[0]!.columns.flatMap(wordsOfName), names);
  // A guild's `leader_id`, where members of guilds are a table; a race's `winner_id`, where there are results.
  const isBetween = ({ from: between, to: end, columns: key }: LinkFacts) =>
    end === to &&
    between !== from &&
    isPlain(key.flatMap(wordsOfName), own) &&
    links.some(
      (link) => link.from === between && link.to === from && isPlain(link.columns.flatMap(wordsOfName), names),
    );
  if (!isBack && !links.some(isBetween)) return false;
  const isSaid = (token: Token, word: string) =>
    wordScore(token, word) >= MEANING || stemOf(doneBy(ABBREVIATIONS[word] ?? word)) === token.stem;
  return !question.tokens.some((token) => role.some((word) => isSaid(token, word)));
}

function narrowed(question: Question, links: readonly LinkFacts[]): readonly LinkFacts[] {
  const words = links.map((link) => roleWords(link, links));
  const named = links.filter((_, i) =>
    question.tokens.some((token) => words[i]!.some((word) => wordScore(token, word) >= FIT_MIN)),
  );
  if (named.length > 0) {
    // "Flights whose destination is Berlin" asks for flights.
    question.tokens.forEach((token, at) => {
      const isRole = words.some((each) => each.some((word) => wordScore(token, word) >= FIT_MIN));
      if (isRole && question.says(at - 1, "whose")) question.use(at);
      // "The start station" of `start_station_id`.
      const next = question.at(at + 1);
      const isOfThing = (word: string) => next !== null && wordScore(next, word) >= NAMED;
      if (isRole && links.some(({ columns }) => columns.flatMap(wordsOfName).some(isOfThing))) question.use(at);
    });
    return named;
  }
  const doers = byDeed(question, links, words);
  if (doers.length > 0) return doers;
  const [starts, ends] = [STARTS, ENDS].map((roles) => question.tokens.some(({ lower }) => roles.has(stemOf(lower))));
  if (starts === ends) return links;
  const roles = starts ? STARTS : ENDS;
  const ofRole = links.filter((_, i) => words[i]!.some((word) => roles.has(stemOf(word))));
  return ofRole.length > 0 ? ofRole : links;
}

/** Whom something is about, who did not do it. */
const SUBJECTS = new Set("subject target about topic reviewed rated reviewee ratee".split(" "));
const DEEDS: Readonly<Record<string, string>> = {
  sold: "sell",
  bought: "buy",
  written: "write",
  lent: "lend",
  paid: "pay",
  given: "give",
};

/** "Reviews written by Kim" are those of which Kim is the author, "about Kim" those with Kim as their subject. */
function byDeed(question: Question, links: readonly LinkFacts[], words: readonly (readonly string[])[]) {
  const verb = question.tokens.findIndex(({ lower }, at) => isVerb(lower) && question.says(at + 1, "by"));
  const lower = question.lower(verb);
  const deed = stemOf(DEEDS[lower] ?? lower);
  const does = (role: string) =>
    verb >= 0 && (stemOf(role.replace(/(?:er|or)$/, "")) === deed || wordScore(question.at(verb)!, role) >= MEANING);
  const isAbout = question.tokens.some(({ lower: word }) => word === "about");
  const meant = links.filter((_, i) => words[i]!.some((role) => does(role) || (isAbout && SUBJECTS.has(role))));
  return meant.length === 1 ? meant : [];
}

/** "Depart from Oslo": the verb says no more than the key of that role, which is read. */
export function saysRole(question: Question, at: number, { links }: SchemaFacts, sql: string): boolean {
  const stem = question.at(at)!.stem;
  const roles = [STARTS, ENDS].find((each) => each.has(stem));
  const isIt = (link: LinkFacts) =>
    link.columns.flatMap(wordsOfName).some((word) => roles!.has(stemOf(word))) && isRead(link);
  const isRead = ({ from, columns }: LinkFacts) =>
    columns.every((column) => sql.includes(`${from.sqlName}.${identifier(column)} = `));
  return roles !== undefined && links.some(isIt);
}

/** "Arrive at Oslo" prefers `dest_airport` to `source_airport` where both have the value. */
export function fitOfRole({ tokens }: Question, column: string): number {
  const words = wordsOfName(column).map(stemOf);
  const isSaid = (roles: ReadonlySet<string>) =>
    words.some((word) => roles.has(word)) && tokens.some(({ stem, isStop }) => !isStop && roles.has(stem));
  return isSaid(STARTS) !== isSaid(ENDS) ? 0.3 : 0;
}

/** "Flights from Vienna" where Vienna is a destination: the other way round. */
export function isOtherWay(question: Question, at: number, column: string): boolean {
  const words = wordsOfName(column).map(stemOf);
  const [isStart, isEnd] = [STARTS, ENDS].map((roles) => words.some((word) => roles.has(word)));
  if (isStart === isEnd) return false;
  return isStart ? question.says(at - 1, "to|into|towards") : question.says(at - 1, "from|leaving");
}

/** The only two keys of a table that lead to `to`, where one says whence and the other whither. */
export function keysBothWays(
  { links }: SchemaFacts,
  to: TableFacts,
): { readonly start: LinkFacts; readonly end: LinkFacts } | null {
  const roles = (link: LinkFacts, words: ReadonlySet<string>) =>
    link.columns.length === 1 && wordsOfName(link.columns[0]!).some((word) => words.has(stemOf(word)));
  const leading = links.filter((link) => link.to === to && link.from !== to);
  const [start, otherStart] = leading.filter((link) => roles(link, STARTS));
  const [end, otherEnd] = leading.filter((link) => roles(link, ENDS));
  if (start === undefined || end === undefined || otherStart !== undefined || otherEnd !== undefined) return null;
  return start.from === end.from ? { start, end } : null;
}

export interface RoleMention {
  readonly link: LinkFacts;
  /** The token behind it. */
  readonly to: number;
}

/** A word of the name, in singular or plural. */
const NAMED = 0.95;

/** "Homeroom teacher", which is what `homeroom_teacher_id` refers to: a name of several words that begins there. */
export function roleAt(question: Question, at: number, { links }: SchemaFacts): RoleMention | null {
  for (const link of links) {
    const words = link.columns.flatMap(wordsOfName).filter((word) => !KEY_ENDING.test(word));
    const isSaid = (word: string, i: number) => {
      const token = question.at(at + i);
      return token !== null && !token.isQuoted && !question.isUsed(at + i) && wordScore(token, word) >= NAMED;
    };
    if (link.columns.length === 1 && words.length > 1 && words.every(isSaid)) return { link, to: at + words.length };
  }
  return null;
}

/** What the names of its columns have and those of the others have not. */
function roleWords(link: LinkFacts, links: readonly LinkFacts[]): readonly string[] {
  const others = links.filter((other) => other !== link).flatMap(({ columns }) => columns.flatMap(wordsOfName));
  return link.columns.flatMap(wordsOfName).filter((word) => !others.includes(word));
}
