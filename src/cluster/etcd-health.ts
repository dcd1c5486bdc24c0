/** What is wrong with an etcd cluster that a node is about to rely on. */

export interface MemberStatus {
  readonly endpoint: string;
  /** Null: it does not answer. */
  readonly version: string | null;
}

export interface EtcdFindings {
  /** The node must not start. */
  readonly refused: readonly string[];
  readonly warnings: readonly string[];
}

const MEMBERS_MIN = 3;

/**
 * 3.5.0 to 3.5.2 could lose acknowledged writes of a member that was killed under load
 * (https://github.com/etcd-io/etcd/blob/main/Documentation/postmortems/v3.5-data-inconsistency.md). 3.4.23 is the oldest release
 * that this program was tested with.
 */
export function judgeEtcd(members: readonly MemberStatus[]): EtcdFindings {
  const refused: string[] = [];
  const warnings: string[] = [];
  if (members.length < MEMBERS_MIN) {
    warnings.push(
      `cluster.url names ${members.length} of etcd's members: with fewer than ${MEMBERS_MIN} the end of one stops all writes`,
    );
  }
  for (const { endpoint, version } of members) {
    const [major, minor, patch] = (version ?? "").split(/[.+-]/).map(Number) as [number, number, number];
    if (version === null) warnings.push(`etcd at ${endpoint} does not answer`);
    else if (major === 3 && minor === 5 && patch <= 2)
      refused.push(`etcd at ${endpoint} is ${version}, which can lose writes: use 3.5.3 or later, or 3.4.23 or later`);
    else if (major < 3 || (major === 3 && (minor < 4 || (minor === 4 && patch < 23))))
      warnings.push(`etcd at ${endpoint} is ${version}; use 3.4.23 or later`);
  }
  return { refused, warnings };
}
