/** Comments on objects that every tenant has, as PostgreSQL's catalog words them. */
import { TEXT_SEARCH_CONFIGS } from "../../../values/text-search-configs.js";
import { dictionaryOid } from "./object-names.js";
import { BUILT_IN_EXTENSION_OID, configOid, PARSER_OID, SIMPLE_TEMPLATE_OID, STEM_TEMPLATE_OID } from "./pg-server.js";
import {
  BTREE_OID,
  HASH_OID,
  HEAP_OID,
  LANGUAGE_OIDS,
  PG_CATALOG_OID,
  PUBLIC_OID,
  SEARCH_METHOD_OIDS,
} from "./relation-facts.js";

type Described = readonly [relation: string, oid: number, description: string];

export function builtInDescriptions(): readonly Described[] {
  const of = (relation: string, ...all: readonly (readonly [number, string])[]): Described[] =>
    all.map(([oid, description]) => [relation, oid, description]);
  return [
    ...of("pg_namespace", [PG_CATALOG_OID, "system catalog schema"], [PUBLIC_OID, "standard public schema"]),
    ...of(
      "pg_am",
      [HEAP_OID, "heap table access method"],
      [BTREE_OID, "b-tree index access method"],
      [HASH_OID, "hash index access method"],
      [SEARCH_METHOD_OIDS.gist, "GiST index access method"],
      [SEARCH_METHOD_OIDS.gin, "GIN index access method"],
      [SEARCH_METHOD_OIDS.brin, "block range index (BRIN) access method"],
      [SEARCH_METHOD_OIDS.spgist, "SP-GiST index access method"],
      [SEARCH_METHOD_OIDS.hnsw, "graph of near vectors (HNSW) access method"],
      [SEARCH_METHOD_OIDS.text, "full-text index access method"],
    ),
    ...of(
      "pg_language",
      [LANGUAGE_OIDS.internal, "built-in functions"],
      [LANGUAGE_OIDS.c, "dynamically-loaded C functions"],
      [LANGUAGE_OIDS.sql, "SQL-language functions"],
      [LANGUAGE_OIDS.plpgsql, "PL/pgSQL procedural language"],
    ),
    ...of("pg_extension", [BUILT_IN_EXTENSION_OID, "PL/pgSQL procedural language"]),
    ...of("pg_collation", [100, "database's default collation"], [950, "standard C collation"]),
    ...of("pg_collation", [951, "standard POSIX collation"]),
    ...of("pg_ts_parser", [PARSER_OID, "default word parser"]),
    ...of(
      "pg_ts_template",
      [SIMPLE_TEMPLATE_OID, "simple dictionary: just lower case and check for stopword"],
      [STEM_TEMPLATE_OID, "snowball stemmer"],
    ),
    ...TEXT_SEARCH_CONFIGS.flatMap((name, i) => {
      const isSimple = name === "simple";
      const configuration = isSimple ? "simple configuration" : `configuration for ${name} language`;
      const dictionary = isSimple
        ? "simple dictionary: just lower case and check for stopword"
        : `snowball stemmer for ${name} language`;
      return [
        ...of("pg_ts_config", [configOid(name, i), configuration]),
        ...of("pg_ts_dict", [dictionaryOid(name), dictionary]),
      ];
    }),
  ];
}
