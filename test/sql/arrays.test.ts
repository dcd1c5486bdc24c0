/** Arrays: slices, assignment to parts, shapes; expectations are PostgreSQL 15's. */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test("slices and shapes", (t) =>
  checkStatements(t, [
    ["SELECT ('{{1,2,3},{4,5,6},{7,8,9}}'::int[])[1:2][2]", ["{{1,2},{4,5}}"]],
    ["SELECT ('[0:2][0:2]={{1,2,3},{4,5,6},{7,8,9}}'::int[])[1:2][2]", ["{{5,6},{8,9}}"]],
    ["SELECT ('{1,2,3,4}'::int[])[2:], ('{1,2,3,4}'::int[])[:2], ('{1,2,3,4}'::int[])[:]", ["{2,3,4}|{1,2}|{1,2,3,4}"]],
    ["SELECT ('{1,2,3,4}'::int[])[3:2], ('{1,2}'::int[])[1:NULL]", ["{}|∅"]],
    ["SELECT ('{1,2}'::int[])[1][1], ('{1,2}'::int[])[5]", ["∅|∅"]],
    ["SELECT ARRAY[]::int[] = '{}', ARRAY[ARRAY[]::int[]] = '{}'", ["true|true"]],
    ["SELECT ARRAY(SELECT ARRAY[i, i / 2] FROM generate_series(1, 3) i)", ["{{1,0},{2,1},{3,1}}"]],
    ["SELECT array_fill(7, ARRAY[2, 2], ARRAY[0, 5])", ["[0:1][5:6]={{7,7},{7,7}}"]],
    ["SELECT array_fill(1, NULL, ARRAY[2, 2])", "22004 dimension array or low bound array cannot be null"],
    ["SELECT array_fill(1, ARRAY[[1, 2], [3, 4]])", "2202E wrong number of array subscripts"],
    ["SELECT trim_array(ARRAY[1, 2, 3], 1), trim_array('[5:7]={1,2,3}'::int[], 2)", ["{1,2}|{1}"]],
    ["SELECT (5)[1]", "42804 cannot subscript type integer because it does not support subscripting"],
  ]),
);

t.test("assignment to parts of arrays", (t) =>
  checkStatements(t, [
    ["CREATE TABLE a (id int PRIMARY KEY, i int[], m int[][])"],
    ["INSERT INTO a VALUES (1, '{1,2}', '{{1,2},{3,4}}')"],
    ["UPDATE a SET i[4] = 4, m[2][1] = 30 RETURNING i, m", ["{1,2,NULL,4}|{{1,2},{30,4}}"]],
    ["UPDATE a SET i[-1] = 9, i[0] = 8 RETURNING i", ["[-1:4]={9,8,1,2,NULL,4}"]],
    ["UPDATE a SET i[0:1] = ARRAY[0, 10] RETURNING i", ["[-1:4]={9,0,10,2,NULL,4}"]],
    ["UPDATE a SET i[:0] = '{5,6,7}' RETURNING i", ["[-1:4]={5,6,10,2,NULL,4}"]],
    ["UPDATE a SET i[1:2] = '{5}'", "2202E source array too small"],
    ["UPDATE a SET i[2:1] = '{5}'", "2202E upper bound cannot be less than lower bound"],
    ["UPDATE a SET i[NULL] = 1", "22004 array subscript in assignment must not be null"],
    ["UPDATE a SET m[3][1] = 1", "2202E array subscript out of range"],
    ["UPDATE a SET m[1] = 1", "2202E wrong number of array subscripts"],
    [
      "UPDATE a SET i[1] = true",
      '42804 subscripted assignment to "i" requires type integer but expression is of type boolean',
    ],
    ["UPDATE a SET id[1] = 1", "42804 cannot subscript type integer because it does not support subscripting"],
    ["UPDATE a SET i[1] = 1, i = '{}'", '42601 multiple assignments to same column "i"'],
    ["INSERT INTO a (id, i[2], i[3]) VALUES (2, 5, 6) RETURNING i", ["[2:3]={5,6}"]],
    ["INSERT INTO a (id, m[1:2][1:1]) SELECT 3, '{{1},{2}}' RETURNING m", ["{{1},{2}}"]],
    ["INSERT INTO a (id, i[1:]) VALUES (4, '{1}')", "2202E array slice subscript must provide both boundaries"],
    [
      "INSERT INTO a (id, i) VALUES (2, '{7,8}') ON CONFLICT (id) DO UPDATE SET i[2] = excluded.i[1] RETURNING i",
      ["[2:3]={7,6}"],
    ],
  ]),
);
