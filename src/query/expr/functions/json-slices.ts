/**
 * Members of a json value as they are written in its text: type json keeps spaces, digits and the order of keys, and so
 * do its parts. Called by json.ts and sets.ts; the text is known to be valid.
 */

const TOKEN = /\s*(?:"(?:[^"\\]|\\.)*"|[^\s[\]{}:,"]+|[[\]{}:,])/y;

interface Member {
  /** Null in arrays. */
  readonly key: string | null;
  readonly start: number;
  readonly end: number;
}

/** The members of an array or object in a text, in their order and also those of equal keys; none of another value. */
export function* membersIn(text: string): Generator<Member> {
  const open = /^\s*([[{])/.exec(text);
  if (open === null) return;
  const isObject = open[1] === "{";
  let depth = 0;
  let key: string | null = null;
  let start = -1;
  let end = -1;
  let expectsKey = isObject;
  let next = open[0].length;
  for (;;) {
    // Another text may be read between two members.
    TOKEN.lastIndex = next;
    const match = TOKEN.exec(text);
    if (match === null) return;
    next = TOKEN.lastIndex;
    const token = match[0].trimStart();
    if (depth === 0 && (token === "," || token === "]" || token === "}")) {
      if (start >= 0) yield { key, start, end };
      if (token !== ",") return;
      expectsKey = isObject;
      start = -1;
    } else if (expectsKey) {
      key = JSON.parse(token) as string;
      expectsKey = false;
    } else if (depth > 0 || token !== ":") {
      if (start < 0) start = next - token.length;
      end = next;
      if (token === "[" || token === "{") depth++;
      else if (token === "]" || token === "}") depth--;
    }
  }
}

/** Without members of objects that are null, and without spaces; the order and equal keys stay. */
export function withoutNulls(text: string): string {
  const isObject: boolean[] = [];
  let out = "";
  let key: string | null = null;
  let isFirst = true;
  for (let next = 0; ; next = TOKEN.lastIndex) {
    TOKEN.lastIndex = next;
    const token = TOKEN.exec(text)?.[0].trimStart();
    if (token === undefined) return out;
    if (token === "," || token === ":") continue;
    if (token === "]" || token === "}") {
      isObject.pop();
      out += token;
      isFirst = false;
      continue;
    }
    const written = token.includes("\\") ? JSON.stringify(JSON.parse(token)) : token;
    if (key === null && isObject.at(-1) === true) {
      key = written;
      continue;
    }
    const isLeftOut = key !== null && token === "null";
    if (!isLeftOut) out += `${isFirst ? "" : ","}${key === null ? "" : `${key}:`}${written}`;
    key = null;
    if (!isLeftOut) isFirst = token === "{" || token === "[";
    if (isFirst && !isLeftOut) isObject.push(token === "{");
  }
}

/** A member by key or index, as it is written; of equal keys the last one counts. */
function memberText(text: string, step: string | number): string | undefined {
  const members = [...membersIn(text)];
  const isArray = members.length === 0 ? false : members[0]?.key === null;
  let found: Member | undefined;
  if (isArray) {
    if (typeof step === "string" && !/^\s*[+-]?\d+\s*$/.test(step)) return undefined;
    found = members.at(Number(step));
  } else found = members.findLast(({ key }) => key === step);
  return found === undefined ? undefined : text.slice(found.start, found.end);
}

/** What a path leads to, as it is written; undefined where it leads nowhere. */
export function textAt(text: string, path: readonly (string | number | null)[]): string | undefined {
  let current: string | undefined = text;
  for (const step of path) {
    if (step === null || current === undefined) return undefined;
    current = memberText(current, step);
  }
  return current;
}
