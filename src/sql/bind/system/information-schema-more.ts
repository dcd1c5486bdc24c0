/** The views of information_schema about privileges, parameters, types and what uses what. */

import { inputsOf } from "../../../catalog/function.js";
import { isRowType } from "../../../catalog/type.js";
import { oidOfId } from "../../../query/expr/types.js";
import type { SqlType } from "../../../values/values.js";
import { measures, typeNames, udtName } from "./information-schema.js";
import { shownNames } from "./object-names.js";
import { attnum, constraintsOf, dataType, yesNo } from "./relation-facts.js";
import { grantsOn } from "./role-facts.js";
import { type DefinedView, definedRelation, type SystemRow } from "./system-view.js";

type Rows = (view: DefinedView) => Iterable<SystemRow>;

const views = (names: readonly string[], rows: Rows) =>
  names.map((name) => definedRelation("information_schema", name, rows));

const catalogName = views(["information_schema_catalog_name"], ({ database }) => [{ catalog_name: database }]);

const enabledRoles = views(["enabled_roles"], ({ user }) => [{ role_name: user }]);

// ---- privileges: of common property all are the user's ----

const TABLE_PRIVILEGES = ["INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"];
const COLUMN_PRIVILEGES = ["INSERT", "SELECT", "UPDATE", "REFERENCES"];

function* relationsOf({ catalog }: DefinedView) {
  for (const table of catalog.tables()) if (!table.materialized) yield table;
  yield* catalog.views();
}

const granted = (user: string) => ({ grantor: user, grantee: user, is_grantable: "YES" });

const tablePrivileges = views(["table_privileges", "role_table_grants"], function* (view) {
  const { database, user } = view;
  for (const { id, schema, name } of relationsOf(view)) {
    const common = TABLE_PRIVILEGES.map((privilege) => ({ ...granted(user), privilege_type: privilege }));
    for (const grant of grantsOn(view, id) ?? common) {
      yield {
        ...grant,
        table_catalog: database,
        table_schema: schema,
        table_name: name,
        with_hierarchy: yesNo(grant.privilege_type === "SELECT"),
      };
    }
  }
});

const columnPrivileges = views(["column_privileges", "role_column_grants"], function* (view) {
  const { database, user } = view;
  for (const { id, schema, name, columns } of relationsOf(view)) {
    const place = { table_catalog: database, table_schema: schema, table_name: name };
    for (const [number, column] of columns.entries()) {
      const common = COLUMN_PRIVILEGES.map((privilege) => ({ ...granted(user), privilege_type: privilege }));
      const grants = grantsOn(view, id, "id" in column ? column.id : number);
      for (const grant of grants ?? common) {
        if (COLUMN_PRIVILEGES.includes(grant.privilege_type)) yield { ...grant, ...place, column_name: column.name };
      }
    }
  }
});

const routinePrivileges = views(["routine_privileges", "role_routine_grants"], ({ catalog, database, user }) =>
  catalog.functions().map(({ id, schema, name }) => ({
    ...granted(user),
    specific_catalog: database,
    specific_schema: schema,
    specific_name: `${name}_${oidOfId(id)}`,
    routine_catalog: database,
    routine_schema: schema,
    routine_name: name,
    privilege_type: "EXECUTE",
  })),
);

const usagePrivileges = views(["usage_privileges", "role_usage_grants"], function* ({ catalog, database, user }) {
  const place = { ...granted(user), object_catalog: database, privilege_type: "USAGE" };
  for (const { schema, name } of catalog.sequences()) {
    yield { ...place, object_schema: schema, object_name: name, object_type: "SEQUENCE" };
  }
  for (const { kind, schema, name } of catalog.types()) {
    if (kind === "domain") yield { ...place, object_schema: schema, object_name: name, object_type: "DOMAIN" };
  }
});

// ---- parameters and elements of arrays ----

const MODES = { in: "IN", out: "OUT", inout: "INOUT", variadic: "IN", table: "OUT" } as const;

const parameters = views(["parameters"], function* (view) {
  for (const fn of view.catalog.functions()) {
    for (const [i, { name, mode, type, defaultSql }] of fn.parameters.entries()) {
      yield {
        specific_catalog: view.database,
        specific_schema: fn.schema,
        specific_name: `${fn.name}_${oidOfId(fn.id)}`,
        ordinal_position: i + 1,
        parameter_mode: MODES[mode],
        is_result: "NO",
        as_locator: "NO",
        parameter_name: name,
        data_type: type.polymorphic ?? type.name ?? dataType(type.type),
        ...typeNames({ type: type.type }, view),
        dtd_identifier: String(i + 1),
        parameter_default: defaultSql && shownNames(view, defaultSql),
      };
    }
  }
});

const elementTypes = views(["element_types"], function* (view) {
  const elementOf = (type: SqlType, schema: string, name: string, kind: string, number: number): SystemRow[] => {
    if (type.element === null || type.typeName !== undefined) return [];
    return [
      {
        object_catalog: view.database,
        object_schema: schema,
        object_name: name,
        object_type: kind,
        collection_type_identifier: String(number),
        data_type: dataType(type.element),
        ...typeNames({ type: type.element }, view),
        dtd_identifier: `a${number}`,
      },
    ];
  };
  for (const relation of relationsOf(view)) {
    const { schema, name, columns } = relation;
    for (const [i, { type }] of columns.entries()) {
      const number = "indexes" in relation ? attnum(relation, relation.columns[i]!.id) : i + 1;
      yield* elementOf(type, schema, name, "TABLE", number);
    }
  }
  for (const fn of view.catalog.functions()) {
    const specific = `${fn.name}_${oidOfId(fn.id)}`;
    for (const [i, { type }] of inputsOf(fn).entries()) {
      yield* elementOf(type.type, fn.schema, specific, "ROUTINE", i + 1);
    }
  }
});

// ---- types ----

const attributes = views(["attributes"], function* (view) {
  for (const type of view.catalog.types()) {
    if (type.kind !== "composite" || isRowType(type)) continue;
    for (const [i, field] of type.fields.entries()) {
      const { udt_catalog, udt_schema, udt_name } = typeNames(field, view);
      yield {
        udt_catalog: view.database,
        udt_schema: type.schema,
        udt_name: type.name,
        attribute_name: field.name,
        ordinal_position: i + 1,
        is_nullable: "YES",
        data_type: dataType(field.type),
        ...measures(field.type),
        attribute_udt_catalog: udt_catalog!,
        attribute_udt_schema: udt_schema!,
        attribute_udt_name: udt_name!,
        dtd_identifier: String(i + 1),
        is_derived_reference_attribute: "NO",
      };
    }
  }
});

const userDefinedTypes = views(["user_defined_types"], function* ({ catalog, database }) {
  for (const type of catalog.types()) {
    if (type.kind !== "composite" || isRowType(type)) continue;
    yield {
      user_defined_type_catalog: database,
      user_defined_type_schema: type.schema,
      user_defined_type_name: type.name,
      user_defined_type_category: "STRUCTURED",
      is_instantiable: "YES",
    };
  }
});

function* domainsOf({ catalog }: DefinedView) {
  for (const type of catalog.types()) if (type.kind === "domain") yield type;
}

const domainConstraints = views(["domain_constraints"], function* (view) {
  for (const { schema, name, checks } of domainsOf(view)) {
    for (const check of checks) {
      yield {
        constraint_catalog: view.database,
        constraint_schema: schema,
        constraint_name: check.name,
        domain_catalog: view.database,
        domain_schema: schema,
        domain_name: name,
        is_deferrable: "NO",
        initially_deferred: "NO",
      };
    }
  }
});

const domainUdtUsage = views(["domain_udt_usage"], function* (view) {
  for (const { schema, name, base } of domainsOf(view)) {
    yield {
      udt_catalog: view.database,
      udt_schema: base.user?.schema ?? "pg_catalog",
      udt_name: udtName(base),
      domain_catalog: view.database,
      domain_schema: schema,
      domain_name: name,
    };
  }
});

function* columnsOf(view: DefinedView) {
  for (const { schema, name, columns } of relationsOf(view)) {
    const place = { table_catalog: view.database, table_schema: schema, table_name: name };
    for (const { name: column, type } of columns) yield { place: { ...place, column_name: column }, type };
  }
}

const columnUdtUsage = views(["column_udt_usage"], function* (view) {
  for (const { place, type } of columnsOf(view)) {
    const { udt_catalog, udt_schema, udt_name } = typeNames({ type }, view);
    yield { ...place, udt_catalog: udt_catalog!, udt_schema: udt_schema!, udt_name: udt_name! };
  }
});

const columnDomainUsage = views(["column_domain_usage"], function* (view) {
  for (const { place, type } of columnsOf(view)) {
    if (type.user?.kind !== "domain") continue;
    const { schema, name } = type.user;
    yield { ...place, domain_catalog: view.database, domain_schema: schema, domain_name: name };
  }
});

// ---- what uses what ----

const constraintTableUsage = views(["constraint_table_usage"], function* ({ catalog, database }) {
  for (const table of catalog.tables()) {
    for (const { name, type, references } of constraintsOf(table, catalog)) {
      if (type === "c") continue;
      const used = references?.table ?? table;
      yield {
        table_catalog: database,
        table_schema: used.schema,
        table_name: used.name,
        constraint_catalog: database,
        constraint_schema: table.schema,
        constraint_name: name,
      };
    }
  }
});

function* usesOf({ catalog, database }: DefinedView) {
  for (const { schema, name, query } of catalog.views()) {
    for (const { kind, id, columns } of query.relations) {
      const used = kind === "table" ? catalog.tableById(id) : catalog.views().find((view) => view.id === id);
      if (!used || kind === "graph") continue;
      const place = {
        view_catalog: database,
        view_schema: schema,
        view_name: name,
        table_catalog: database,
        table_schema: used.schema,
        table_name: used.name,
      };
      yield { place, columns };
    }
  }
}

const viewTableUsage = views(["view_table_usage"], function* (view) {
  for (const { place } of usesOf(view)) yield place;
});

const viewColumnUsage = views(["view_column_usage"], function* (view) {
  for (const { place, columns } of usesOf(view)) {
    for (const { name, used } of columns) if (used) yield { ...place, column_name: name };
  }
});

const collations = views(["collations"], ({ database }) =>
  ["default", "C", "POSIX", "ucs_basic"].map((collation_name) => ({
    collation_catalog: database,
    collation_schema: "pg_catalog",
    collation_name,
    pad_attribute: "NO PAD",
  })),
);

const characterSets = views(["character_sets"], ({ database }) => [
  {
    character_set_name: "UTF8",
    character_repertoire: "UCS",
    form_of_use: "UTF8",
    default_collate_catalog: database,
    default_collate_schema: "pg_catalog",
    default_collate_name: "C",
  },
]);

export const INFORMATION_SCHEMA_MORE = [
  ...catalogName,
  ...enabledRoles,
  ...tablePrivileges,
  ...columnPrivileges,
  ...routinePrivileges,
  ...usagePrivileges,
  ...parameters,
  ...elementTypes,
  ...attributes,
  ...userDefinedTypes,
  ...domainConstraints,
  ...domainUdtUsage,
  ...columnUdtUsage,
  ...columnDomainUsage,
  ...constraintTableUsage,
  ...viewTableUsage,
  ...viewColumnUsage,
  ...collations,
  ...characterSets,
];
