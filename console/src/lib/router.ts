/** The page's address: what follows the #, as a path with parameters. Everything that is shown can be linked to. */
import { createStore } from "./store.js";

export interface Place {
  /** The parts of the path, decoded. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

function read(): Place {
  const [path = "", search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter((part) => part !== "");
  return { path: parts.map(decoded), query: Object.fromEntries(new URLSearchParams(search)) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const place = createStore<Place>(read());
window.addEventListener("hashchange", () => place.set(read()));

/** The address of a place, for links. */
export function linkTo(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const named = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = named.length === 0 ? "" : `?${new URLSearchParams(named)}`;
  return `#/${path.map(encodeURIComponent).join("/")}${search}`;
}

export function goTo(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): void {
  location.hash = linkTo(path, query);
}

/** As `goTo`, without an entry in the browser's history. */
export function replacePlace(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): void {
  history.replaceState(null, "", linkTo(path, query));
  place.set(read());
}
