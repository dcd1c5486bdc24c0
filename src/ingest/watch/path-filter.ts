/**
 * Globs over paths: `*` and `?` stay within a name, `**` goes over folders, `[a-z]` and `{a,b}` choose. They become
 * regular expressions that are matched in linear time (RE2), since patterns come from clients. Called by scans, the
 * watcher and whoever checks a request.
 */
import { RE2JS } from "re2js";
import { DbError } from "../../protocol/errors.js";

export interface PathFilter {
  /** Whether the file is wanted. */
  file(path: string): boolean;
  /** Whether the folder may contain wanted files. */
  folder(path: string): boolean;
}

export interface PathRules {
  /** Empty: all. A pattern without `/` is about names, wherever they are. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** Throws invalid_request with the pattern. */
export function pathFilter({ include, exclude }: PathRules): PathFilter {
  const wanted = include.map((glob, i) => compiled(glob, `include[${i}]`));
  const unwanted = exclude.map((glob, i) => compiled(glob, `exclude[${i}]`));
  const isOut = (path: string) => unwanted.some((pattern) => pattern.matches(path));
  return {
    file(path) {
      if (isOut(path)) return false;
      return wanted.length === 0 || wanted.some((pattern) => pattern.matches(path));
    },
    folder: (path) => !isOut(path),
  };
}

function compiled(glob: string, field: string): { matches(path: string): boolean } {
  // A pattern without a folder is about names; one that ends in `/**` takes the folder with what is in it.
  const whole = glob.includes("/") ? glob.replace(/^\//, "") : `**/${glob}`;
  const text = expressionOf(whole.replace(/\/\*\*$/, ""), field);
  let pattern: RE2JS;
  try {
    pattern = RE2JS.compile(`^${text}$`);
  } catch {
    throw new DbError("invalid_request", `${field}: "${glob.slice(0, 100)}" is not a valid path pattern.`, { field });
  }
  return { matches: (path) => pattern.matcher(path).find() };
}

/** Throws invalid_request. */
function expressionOf(glob: string, field: string): string {
  let text = "";
  let open = 0;
  for (let i = 0; i < glob.length; i++) {
    const char = glob[i]!;
    if (glob.startsWith("**/", i) && (i === 0 || glob[i - 1] === "/")) {
      text += "(?:[^/]+/)*";
      i += 2;
    } else if (glob.startsWith("**", i)) {
      text += ".*";
      i++;
    } else if (char === "*") text += "[^/]*";
    else if (char === "?") text += "[^/]";
    else if (char === "[") {
      const close = glob.indexOf("]", i + 2);
      if (close < 0) throw new DbError("invalid_request", `${field}: a "[" is not closed.`, { field });
      const inside = glob
        .slice(i + 1, close)
        .replace(/^!/, "^")
        .replaceAll("\\", "\\\\")
        .replaceAll("[", "\\[");
      text += `[${inside}]`;
      i = close;
    } else if (char === "{") {
      open++;
      text += "(?:";
    } else if (char === "}" && open > 0) {
      open--;
      text += ")";
    } else if (char === "," && open > 0) text += "|";
    else text += /[\w/ -]/.test(char) || char > "\u007f" ? char : `\\${char}`;
  }
  if (open > 0) throw new DbError("invalid_request", `${field}: a "{" is not closed.`, { field });
  return text;
}
