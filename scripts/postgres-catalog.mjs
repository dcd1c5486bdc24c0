/**
 * Writes src/sql/bind/system/data/*.ts from the catalog of a PostgreSQL 15 server: OIDs, names and shapes that drivers
 * rely on. `node scripts/postgres-catalog.mjs "host=/tmp port=5432 dbname=template1 user=postgres"`
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";

const FOLDER = "src/sql/bind/system/data";
const server = process.argv[2];

function query(sql) {
  const text = execFileSync("psql", ["-X", "-A", "-t", "-F", "|", "-c", sql, server], { encoding: "utf8" });
  return text.trimEnd();
}

/** A comment in lines that are not too wide. */
function commentOf(text) {
  const lines = text.match(/.{1,105}(?:[,| ]|$)/g).map((line) => line.trimEnd());
  return lines.length === 1 ? `/** ${text} */` : `/**\n${lines.map((line) => ` * ${line}\n`).join("")} */`;
}

function write(file, comment, tables) {
  const parts = tables.map(({ name, columns, sql }) => {
    const text = query(sql).replaceAll("\\", "\\\\").replaceAll("`", "\\`").replaceAll("${", "\\${");
    return `${commentOf(columns)}\nexport const ${name} = \`\n${text}\n\`;\n`;
  });
  writeFileSync(`${FOLDER}/${file}`, `/** ${comment} Made by scripts/postgres-catalog.mjs. */\n\n${parts.join("\n")}`);
}

const FIRST_USER_OID = 16384;
const schemas = "('pg_catalog', 'information_schema')";
/** Several rows a line, so that the files stay short. */
const packed = (sql, perLine = 12) =>
  `SELECT string_agg(line, E'\\t' ORDER BY n) FROM (SELECT line, row_number() OVER () AS n FROM (${sql}) AS q(line)) AS r
   GROUP BY (n - 1) / ${perLine} ORDER BY (n - 1) / ${perLine}`;

write("system-relations.ts", "Shapes of the relations of pg_catalog and information_schema.", [
  {
    name: "SYSTEM_RELATION_SHAPES",
    columns: "schema|name|oid|relkind|rowtype|column:type, …; `!` after a type: never NULL.",
    sql: `SELECT c.relnamespace::regnamespace, c.relname, c.oid, c.relkind, c.reltype,
        string_agg(a.attname || ':' || t.typname || CASE WHEN a.attnotnull THEN '!' ELSE '' END, ',' ORDER BY a.attnum)
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 JOIN pg_type t ON t.oid = a.atttypid
      WHERE c.relnamespace::regnamespace::text IN ${schemas} AND c.relkind IN ('r', 'v')
      GROUP BY 1, 2, 3, 4, 5 ORDER BY 1 DESC, 2`,
  },
]);

write("types.ts", "Types of pg_catalog, ranges and casts.", [
  {
    name: "TYPE_FACTS",
    columns:
      "oid|name|length|by value|type|category|preferred|delimiter|element|array|input|output|receive|send|typmod in|typmod out|alignment|storage|collation|subscript|analyze",
    sql: `SELECT oid, typname, typlen, typbyval::int, typtype, typcategory, typispreferred::int, typdelim, typelem, typarray,
        typinput::oid, typoutput::oid, typreceive::oid, typsend::oid, typmodin::oid, typmodout::oid, typalign, typstorage,
        typcollation, typsubscript::oid, typanalyze::oid
      FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype <> 'c'
        AND NOT EXISTS (SELECT FROM pg_type e WHERE e.oid = pg_type.typelem AND e.typtype = 'c') ORDER BY oid`,
  },
  {
    name: "RANGE_FACTS",
    columns: "type|subtype|multirange|collation|operator class|canonical|difference",
    sql: `SELECT rngtypid, rngsubtype, rngmultitypid, rngcollation, rngsubopc, rngcanonical::oid, rngsubdiff::oid
      FROM pg_range ORDER BY 1`,
  },
  {
    name: "CAST_FACTS",
    columns: "oid,source,target,function,context,method",
    sql: packed(`SELECT concat_ws(',', oid, castsource, casttarget, castfunc, castcontext, castmethod) FROM pg_cast
      WHERE oid < ${FIRST_USER_OID} ORDER BY oid`),
  },
]);

write("functions.ts", "Functions and aggregates of pg_catalog.", [
  {
    name: "FUNCTION_FACTS",
    columns:
      "name|oid,traits,result,arguments,defaults,variadic;… traits: kind, strict, set, volatility, parallel, leakproof",
    sql: packed(`SELECT proname || '|' || string_agg(concat_ws(',', oid,
        concat(prokind, left(proisstrict::text, 1), left(proretset::text, 1), provolatile, proparallel,
          left(proleakproof::text, 1)), prorettype, proargtypes::text,
        CASE WHEN pronargdefaults > 0 OR provariadic > 0 THEN pronargdefaults END,
        CASE WHEN provariadic > 0 THEN provariadic END), ';' ORDER BY oid)
      FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND oid < ${FIRST_USER_OID}
      GROUP BY proname ORDER BY min(oid)`),
  },
  {
    name: "FUNCTION_OUTPUTS",
    columns: "oid,all arguments,modes,names",
    sql: packed(`SELECT concat_ws(',', oid, array_to_string(proallargtypes, ' '), array_to_string(proargmodes, ''),
        array_to_string(proargnames, ' ')) FROM pg_proc
      WHERE pronamespace = 'pg_catalog'::regnamespace AND oid < ${FIRST_USER_OID} AND proallargtypes IS NOT NULL
      ORDER BY oid`),
  },
  {
    name: "AGGREGATE_FACTS",
    columns:
      "function,kind,direct arguments,transition,final,combine,serial,deserial,moving transition,inverse,moving final,extra,moving extra,modify,moving modify,sort operator,state type,space,moving type,moving space,initial,moving initial (- none)",
    sql: packed(
      `SELECT concat_ws(',', aggfnoid::oid, aggkind, aggnumdirectargs, aggtransfn::oid, aggfinalfn::oid, aggcombinefn::oid,
        aggserialfn::oid, aggdeserialfn::oid, aggmtransfn::oid, aggminvtransfn::oid, aggmfinalfn::oid, aggfinalextra::int,
        aggmfinalextra::int, aggfinalmodify, aggmfinalmodify, aggsortop, aggtranstype, aggtransspace, aggmtranstype,
        aggmtransspace, coalesce(replace(agginitval, ',', ' '), '-'), coalesce(replace(aggminitval, ',', ' '), '-'))
      FROM pg_aggregate WHERE aggfnoid::oid < ${FIRST_USER_OID} ORDER BY aggfnoid::oid`,
      4,
    ),
  },
]);

write("operators.ts", "Operators of pg_catalog, and the families of them that indexes use.", [
  {
    name: "OPERATOR_FACTS",
    columns: "oid,name,kind,merges,hashes,left,right,result,commutator,negator,function,restriction,join",
    sql: packed(`SELECT concat_ws(',', oid, oprname, oprkind, oprcanmerge::int, oprcanhash::int, oprleft, oprright, oprresult, oprcom,
        oprnegate, oprcode::oid, oprrest::oid, oprjoin::oid) FROM pg_operator WHERE oid < ${FIRST_USER_OID} ORDER BY oid`),
  },
  {
    name: "FAMILY_FACTS",
    columns: "oid,method,name",
    sql: packed(
      `SELECT concat_ws(',', oid, opfmethod, opfname) FROM pg_opfamily WHERE oid < ${FIRST_USER_OID} ORDER BY oid`,
    ),
  },
  {
    name: "CLASS_FACTS",
    columns: "oid,method,name,family,type,default,key type",
    sql: packed(`SELECT concat_ws(',', oid, opcmethod, opcname, opcfamily, opcintype, opcdefault::int, opckeytype) FROM pg_opclass
      WHERE oid < ${FIRST_USER_OID} ORDER BY oid`),
  },
  {
    name: "FAMILY_OPERATORS",
    columns: "oid,family,left,right,strategy,purpose,operator,method,sort family",
    sql: packed(`SELECT concat_ws(',', oid, amopfamily, amoplefttype, amoprighttype, amopstrategy, amoppurpose, amopopr, amopmethod,
        amopsortfamily) FROM pg_amop WHERE oid < ${FIRST_USER_OID} ORDER BY oid`),
  },
  {
    name: "FAMILY_FUNCTIONS",
    columns: "oid,family,left,right,number,function",
    sql: packed(`SELECT concat_ws(',', oid, amprocfamily, amproclefttype, amprocrighttype, amprocnum, amproc::oid) FROM pg_amproc
      WHERE oid < ${FIRST_USER_OID} ORDER BY oid`),
  },
]);

write("keywords.ts", "Key words of the grammar.", [
  {
    name: "KEYWORDS",
    columns: "word,category,bare label",
    sql: packed("SELECT concat_ws(',', word, catcode, barelabel::int) FROM pg_get_keywords() ORDER BY word", 12),
  },
]);
