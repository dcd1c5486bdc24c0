/**
 * Checks which folders of the server a tenant may have watched: those that the operator lists under [files] roots, and
 * folders inside of them once all symbolic links are followed. Called when a collection is made and whenever its work
 * begins, because its record is in the tenant's own data.
 */
import { realpath, stat } from "node:fs/promises";
import { sep } from "node:path";
import { DbError } from "../../protocol/errors.js";

const RULE = /^(?:([a-z0-9][a-z0-9_-]{0,62}):)?(\/.*)$/;

/** `roots`: paths for every tenant, or `tenant:/path` for one. */
export function rootsOf(roots: readonly string[], tenantId: string): string[] {
  return roots.flatMap((rule) => {
    const [, tenant, path] = RULE.exec(rule) ?? [];
    return path === undefined || (tenant !== undefined && tenant !== tenantId) ? [] : [path];
  });
}

export interface AllowedFolder {
  /** The path with all links resolved. */
  readonly path: string;
  /**
   * The operator's folder that contains it, also resolved: every file that is read must be inside of it, whatever
   * happens to `path`.
   */
  readonly within: string;
}

/**
 * Throws `forbidden` for a path outside, whether it exists or not, and `invalid_request` if it is not a folder.
 * `field`: its name in the request.
 */
export async function allowedFolder(
  roots: readonly string[],
  tenantId: string,
  wanted: string,
  field = "watch_dir",
): Promise<AllowedFolder> {
  const allowed = rootsOf(roots, tenantId);
  if (allowed.length === 0) {
    throw new DbError("forbidden", "You do not have permission: the operator has allowed no folder.", {
      field,
      hint: 'The operator lists allowed folders in the setting roots of [files], such as roots = ["/srv/documents"] or TESSERA_FILES_ROOTS=/srv/documents, and restarts the server.',
    });
  }
  const outside = new DbError("forbidden", `You do not have permission to read the folder "${wanted.slice(0, 300)}".`, {
    field,
    hint: `The setting roots of [files] allows folders in ${allowed.join(", ")}. Symbolic links may not lead out of them.`,
  });
  if (!wanted.startsWith("/") || wanted.includes("\0")) throw outside;
  const real = await realPathOf(wanted);
  const realRoots = await Promise.all(allowed.map(realPathOf));
  if (real === null) {
    // Whether something exists is only revealed inside the allowed folders.
    const parent = await nearestFolder(wanted);
    if (!realRoots.some((root) => root !== null && isInside(parent, root))) throw outside;
    throw new DbError("invalid_request", `The folder "${wanted.slice(0, 300)}" does not exist.`, { field });
  }
  const within = realRoots.find((root) => root !== null && isInside(real, root)) ?? null;
  if (within === null) throw outside;
  if (!(await stat(real)).isDirectory()) {
    throw new DbError("invalid_request", `"${wanted.slice(0, 300)}" is not a folder.`, { field });
  }
  return { path: real, within };
}

function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

async function realPathOf(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch {
    return null;
  }
}

async function nearestFolder(path: string): Promise<string> {
  for (let at = path; ; ) {
    at = at.slice(0, at.lastIndexOf("/")) || "/";
    const real = await realPathOf(at);
    if (real !== null) return real;
  }
}
