/** Embedded SQL in C: ecpg's preprocessor and library, with cursors, dynamic statements, descriptors and errors. */
import { writeFileSync } from "node:fs";
import { equal, run, step } from "./steps.mjs";

const PROGRAM = String.raw`
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  EXEC SQL BEGIN DECLARE SECTION;
  const char *target = getenv("ECPG_TARGET"), *user = getenv("PGUSER"), *password = getenv("PGPASSWORD");
  int id, count, null;
  double price;
  char name[80];
  char *dynamic = "SELECT a, b FROM t WHERE a > ? ORDER BY a";
  EXEC SQL END DECLARE SECTION;
  EXEC SQL CONNECT TO :target USER :user IDENTIFIED BY :password;
  EXEC SQL CREATE TABLE t (a int PRIMARY KEY, b text, c float8);
  EXEC SQL INSERT INTO t VALUES (1, 'one', 1.5), (2, 'two', NULL);
  EXEC SQL COMMIT;
  EXEC SQL SELECT a, b, c INTO :id, :name, :price:null FROM t WHERE a = 2;
  printf("%d %s %d\n", id, name, null);
  EXEC SQL DECLARE all_rows CURSOR FOR SELECT a, b FROM t ORDER BY a;
  EXEC SQL OPEN all_rows;
  for (;;) {
    EXEC SQL FETCH NEXT FROM all_rows INTO :id, :name;
    if (sqlca.sqlcode != 0) break;
    printf("%d %s\n", id, name);
  }
  EXEC SQL CLOSE all_rows;
  count = 1;
  EXEC SQL PREPARE later FROM :dynamic;
  EXEC SQL DECLARE some_rows CURSOR FOR later;
  EXEC SQL OPEN some_rows USING :count;
  EXEC SQL FETCH some_rows INTO :id, :name;
  printf("%d %s\n", id, name);
  EXEC SQL CLOSE some_rows;
  EXEC SQL DEALLOCATE PREPARE later;
  EXEC SQL INSERT INTO t VALUES (1, 'again', 0);
  printf("%.5s %ld\n", sqlca.sqlstate, sqlca.sqlcode);
  EXEC SQL ROLLBACK;
  EXEC SQL ALLOCATE DESCRIPTOR facts;
  EXEC SQL DECLARE described CURSOR FOR SELECT a, b FROM t;
  EXEC SQL OPEN described;
  EXEC SQL FETCH 1 FROM described INTO SQL DESCRIPTOR facts;
  EXEC SQL GET DESCRIPTOR facts :count = COUNT;
  printf("%d\n", count);
  EXEC SQL CLOSE described;
  EXEC SQL DISCONNECT ALL;
  return 0;
}
`;

await step("a program in C with embedded SQL", () => {
  writeFileSync("embedded.pgc", PROGRAM);
  run("ecpg", ["-o", "embedded.c", "embedded.pgc"]);
  const { output: include } = run("pg_config", ["--includedir"]);
  run("gcc", [`-I${include.trim()}`, "embedded.c", "-o", "embedded", "-lecpg"]);
  const { PGHOST, PGPORT, PGDATABASE } = process.env;
  const env = { ECPG_TARGET: `tcp:postgresql://${PGHOST}:${PGPORT}/${PGDATABASE}` };
  const { output } = run("./embedded", [], { env });
  equal(output.trim().split("\n"), ["2 two -1", "1 one", "2 two", "2 two", "23505 -403", "2"]);
});
