/**
 * What each node says of its program, so that nodes of two releases serve side by side while a cluster is upgraded.
 *
 * - **Stored data.** The cluster has one format. A node joins if its program serves that format, and writes no newer
 *   one. `tessera cluster finalize` raises it when all nodes serve a newer one.
 * - **The link between nodes.** A node joins if it speaks a version of the link with each of the others.
 */
import { VERSION } from "../protocol/version.js";
import { FORMAT_OLDEST, FORMAT_VERSION, isServed } from "../storage/format.js";

/** Both are included. */
export interface Span {
  readonly oldest: number;
  readonly newest: number;
}

export interface NodeRelease {
  readonly release: string;
  /** Formats of stored data that the program serves (storage/format.ts). */
  readonly formats: Span;
  /** Versions of the link that it speaks (peer-hello.ts). */
  readonly links: Span;
}

/** Raised when frames or messages between nodes change so that the release before cannot read them. */
export const LINK_VERSION = 1;

export const OWN_RELEASE: NodeRelease = {
  release: VERSION,
  formats: { oldest: FORMAT_OLDEST, newest: FORMAT_VERSION },
  links: { oldest: LINK_VERSION, newest: LINK_VERSION },
};

/** Why this program may not be the node; null: it may. */
export function refusalOf(node: string, format: number, releases: ReadonlyMap<string, NodeRelease>): string | null {
  if (!isServed(format)) {
    const what = `The cluster's data has format ${format}, and this program serves ${spanText(OWN_RELEASE.formats)}`;
    return format > FORMAT_VERSION
      ? `${what}: use the release that the other nodes have.`
      : `${what}: upgrade all nodes to a release in between first, and run \`tessera cluster finalize\`.`;
  }
  for (const [other, { release, links }] of releases) {
    if (other === node || meet(links, OWN_RELEASE.links)) continue;
    return `${other} runs release ${release}, which cannot talk to ${VERSION}: upgrade all nodes to a release in between first.`;
  }
  return null;
}

function meet(a: Span, b: Span): boolean {
  return a.oldest <= b.newest && b.oldest <= a.newest;
}

function spanText({ oldest, newest }: Span): string {
  return oldest === newest ? String(oldest) : `${oldest} to ${newest}`;
}

/** The newest format that all of them serve, and those that serve no newer one. At least one is there. */
export function commonFormat(releases: ReadonlyMap<string, NodeRelease>): {
  readonly format: number;
  readonly limitedBy: readonly string[];
} {
  const format = Math.min(...[...releases.values()].map(({ formats }) => formats.newest));
  const limiting = [...releases].filter(([, { formats }]) => formats.newest === format);
  return { format, limitedBy: limiting.map(([node, { release }]) => `${node} (${release})`) };
}

/** They run more than one release; null: they do not. */
export function mixOf(releases: ReadonlyMap<string, NodeRelease>): string | null {
  const kinds = new Set([...releases.values()].map(({ release }) => release));
  if (kinds.size < 2) return null;
  return `nodes run different releases: ${[...releases].map(([node, { release }]) => `${node} ${release}`).join(", ")}`;
}
