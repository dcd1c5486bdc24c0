/** pg_catalog's relations about members of roles and about policies. */
import { isDeepStrictEqual } from "node:util";
import { type Grant, type PolicyCondition, PUBLIC_ID, usualGrants } from "../../../catalog/role.js";
import type { TableDef } from "../../../catalog/table.js";
import { oidOfId } from "../../../query/expr/types.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { parseSql } from "../../parse/parse.js";
import { classOid } from "./pg-descriptions.js";
import { printedPolicy } from "./printed-condition.js";
import { hashedOid, schemaOid } from "./relation-facts.js";
import { conditionText, listedRoles, listOf, policedTables, roleOid, usesRoles } from "./role-facts.js";
import { definedRelation, printedRelation, type SystemView } from "./system-view.js";
import { keptText } from "./view-text.js";

const LETTERS = { all: "*", select: "r", insert: "a", update: "w", delete: "d" } as const;

const authMembers = definedRelation("pg_catalog", "pg_auth_members", function* (view) {
  if (!usesRoles(view.catalog)) return;
  for (const { oid, role } of listedRoles(view)) {
    for (const { roleId, admin } of role.memberOf) {
      yield { roleid: roleOid(roleId), member: oid, grantor: 10, admin_option: admin };
    }
  }
});

const OBJECT_LETTERS = { table: "r", sequence: "S", function: "f", schema: "n", type: "T" } as const;

const isUsual = (grants: readonly Grant[], usual: readonly Grant[]) =>
  grants.length === usual.length && grants.every((grant) => usual.some((other) => isDeepStrictEqual(grant, other)));

const pgDefaultAcl = definedRelation("pg_catalog", "pg_default_acl", function* (view) {
  const { catalog } = view;
  for (const role of catalog.roles()) {
    for (const { kind, schema, grants } of role.defaults ?? []) {
      if (isUsual(grants, schema === null ? usualGrants(kind, role.id) : [])) continue;
      const acl = listOf(grants, undefined, catalog);
      const defaclobjtype = OBJECT_LETTERS[kind];
      yield {
        oid: hashedOid("default acl", `${role.id} ${schema ?? ""} ${kind}`),
        defaclrole: roleOid(role.id),
        defaclnamespace: schema === null ? 0 : schemaOid(schema, view),
        defaclobjtype,
        defaclacl: acl ?? sqlArray([]),
      };
    }
  }
});

const pgShdescription = definedRelation("pg_catalog", "pg_shdescription", ({ catalog }) =>
  catalog.roles().flatMap(({ id, comment }) => {
    return comment === undefined
      ? []
      : [{ objoid: roleOid(id), classoid: classOid("pg_authid"), description: comment }];
  }),
);

function* policies(view: SystemView) {
  const { catalog } = view;
  for (const access of policedTables(catalog)) {
    const table = catalog.tableById(access.objectId);
    if (table === null) continue;
    for (const policy of access.policies!) {
      const using = policy.using && shownCondition(view, table, policy.using, "using");
      const check = policy.check && shownCondition(view, table, policy.check, "check");
      yield { table, policy, using, check };
    }
  }
}

function shownCondition(
  view: SystemView,
  table: TableDef,
  condition: PolicyCondition,
  part: "using" | "check",
): string | null {
  const { exact, sql } = condition;
  const printed = printedPolicy(view, table, condition, part);
  return printed ?? conditionText(exact ? keptText(view, condition, parseSql(sql)[0]!.node) : sql, part);
}

const pgPolicy = printedRelation("pg_catalog", "pg_policy", function* (view) {
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

const pgPolicies = printedRelation("pg_catalog", "pg_policies", function* (view) {
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

export const PG_POLICIES = [authMembers, pgDefaultAcl, pgShdescription, pgPolicy, pgPolicies];
