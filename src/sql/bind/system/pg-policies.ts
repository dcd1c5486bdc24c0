/** pg_catalog's relations about members of roles and about policies. */
import { PUBLIC_ID } from "../../../catalog/role.js";
import { oidOfId } from "../../../query/expr/types.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { shownNames } from "./object-names.js";
import { hashedOid } from "./relation-facts.js";
import { conditionText, policedTables, roleOid } from "./role-facts.js";
import { type DefinedView, definedRelation } from "./system-view.js";

const LETTERS = { all: "*", select: "r", insert: "a", update: "w", delete: "d" } as const;

const authMembers = definedRelation("pg_catalog", "pg_auth_members", function* ({ catalog }) {
  for (const role of catalog.roles()) {
    for (const { roleId, admin } of role.memberOf) {
      yield { roleid: roleOid(roleId), member: roleOid(role.id), grantor: 10, admin_option: admin };
    }
  }
});

function* policies(view: DefinedView) {
  const { catalog } = view;
  for (const access of policedTables(catalog)) {
    const table = catalog.tableById(access.objectId);
    if (table === null) continue;
    for (const policy of access.policies!) {
      const using = policy.using && conditionText(shownNames(view, policy.using.sql), "using");
      const check = policy.check && conditionText(shownNames(view, policy.check.sql), "check");
      yield { table, policy, using, check };
    }
  }
}

const pgPolicy = definedRelation("pg_catalog", "pg_policy", function* (view) {
  for (const { table, policy, using, check } of policies(view)) {
    yield {
      oid: hashedOid(`policy ${table.id} ${policy.name}`),
      polname: policy.name,
      polrelid: oidOfId(table.id),
      polcmd: LETTERS[policy.command],
      polpermissive: policy.permissive,
      polroles: sqlArray(policy.roles.map(roleOid)),
      polqual: using,
      polwithcheck: check,
    };
  }
});

const pgPolicies = definedRelation("pg_catalog", "pg_policies", function* (view) {
  const named = (id: number) => (id === PUBLIC_ID ? "public" : (view.catalog.roleById(id)?.name ?? ""));
  for (const { table, policy, using, check } of policies(view)) {
    yield {
      schemaname: table.schema,
      tablename: table.name,
      policyname: policy.name,
      permissive: policy.permissive ? "PERMISSIVE" : "RESTRICTIVE",
      roles: sqlArray(policy.roles.map(named)),
      cmd: policy.command.toUpperCase(),
      qual: using,
      with_check: check,
    };
  }
});

export const PG_POLICIES = [authMembers, pgPolicy, pgPolicies];
