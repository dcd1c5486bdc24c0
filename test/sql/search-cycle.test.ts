/** SEARCH and CYCLE of WITH RECURSIVE. Checked against PostgreSQL 15. */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test("search and cycle", (t) =>
  checkStatements(t, [
    ["create table g (f int, t int, label text)"],
    [
      "insert into g values (1, 2, 'arc 1 -> 2'), (1, 3, 'arc 1 -> 3'), (2, 3, 'arc 2 -> 3'), (1, 4, 'arc 1 -> 4'), (4, 5, 'arc 4 -> 5')",
    ],
    [
      "with recursive sg as (select * from g union all select g.* from g, sg where g.f = sg.t) search depth first by f, t set seq select * from sg order by seq",
      [
        '1|2|arc 1 -> 2|{"(1,2)"}',
        '2|3|arc 2 -> 3|{"(1,2)","(2,3)"}',
        '1|3|arc 1 -> 3|{"(1,3)"}',
        '1|4|arc 1 -> 4|{"(1,4)"}',
        '4|5|arc 4 -> 5|{"(1,4)","(4,5)"}',
        '2|3|arc 2 -> 3|{"(2,3)"}',
        '4|5|arc 4 -> 5|{"(4,5)"}',
      ],
    ],
    [
      "with recursive sg as (select * from g union all select g.* from g, sg where g.f = sg.t) search breadth first by f, t set seq select * from sg order by seq",
      [
        "1|2|arc 1 -> 2|(0,1,2)",
        "1|3|arc 1 -> 3|(0,1,3)",
        "1|4|arc 1 -> 4|(0,1,4)",
        "2|3|arc 2 -> 3|(0,2,3)",
        "4|5|arc 4 -> 5|(0,4,5)",
        "2|3|arc 2 -> 3|(1,2,3)",
        "4|5|arc 4 -> 5|(1,4,5)",
      ],
    ],
    [
      "with recursive sg(f, t, label) as (select * from g union all select g.* from g, sg where g.f = sg.t) search breadth first by f, t set seq select f, t, (seq).* from sg order by 1, 2",
      ["1|2|0|1|2", "1|3|0|1|3", "1|4|0|1|4", "2|3|0|2|3", "2|3|1|2|3", "4|5|0|4|5", "4|5|1|4|5"],
    ],
    // Two readers of rows that come one at a time, and one that wants few of rows without an end.
    [
      "with recursive r as (select 1 as n union all select n + 1 from r where n < 3000) select count(*), sum(a.n), max(b.n) from r a join r b on a.n = b.n + 1",
      ["2999|4501499|2999"],
    ],
    [
      "with recursive r as (select 1 as n union all select 10 / (5 - n) from r) select n from r limit 4",
      ["1", "2", "3", "5"],
    ],
    ["insert into g values (5, 1, 'arc 5 -> 1')"],
    [
      "with recursive sg as (select * from g where f = 1 union all select g.* from g join sg s on g.f = s.t) cycle f, t set is_cycle using path select * from sg",
      [
        '1|2|arc 1 -> 2|false|{"(1,2)"}',
        '1|3|arc 1 -> 3|false|{"(1,3)"}',
        '1|4|arc 1 -> 4|false|{"(1,4)"}',
        '2|3|arc 2 -> 3|false|{"(1,2)","(2,3)"}',
        '4|5|arc 4 -> 5|false|{"(1,4)","(4,5)"}',
        '5|1|arc 5 -> 1|false|{"(1,4)","(4,5)","(5,1)"}',
        '1|2|arc 1 -> 2|false|{"(1,4)","(4,5)","(5,1)","(1,2)"}',
        '1|3|arc 1 -> 3|false|{"(1,4)","(4,5)","(5,1)","(1,3)"}',
        '1|4|arc 1 -> 4|true|{"(1,4)","(4,5)","(5,1)","(1,4)"}',
        '2|3|arc 2 -> 3|false|{"(1,4)","(4,5)","(5,1)","(1,2)","(2,3)"}',
      ],
    ],
    [
      "with recursive sg as (select * from g where f = 1 union all select g.* from g join sg s on g.f = s.t where s.f > 0) cycle f set c to 'Y' default 'N' using path select f, t, c, path from sg",
      [
        "1|2|N|{(1)}",
        "1|3|N|{(1)}",
        "1|4|N|{(1)}",
        "2|3|N|{(1),(2)}",
        "4|5|N|{(1),(4)}",
        "5|1|N|{(1),(4),(5)}",
        "1|2|Y|{(1),(4),(5),(1)}",
        "1|3|Y|{(1),(4),(5),(1)}",
        "1|4|Y|{(1),(4),(5),(1)}",
      ],
    ],
    [
      "with recursive sg as (select * from g where f = 1 union all select g.* from g join sg s on g.f = s.t) search depth first by f, t set seq cycle f, t set is_cycle using path select f, t, seq, is_cycle from sg order by seq",
      [
        '1|2|{"(1,2)"}|false',
        '2|3|{"(1,2)","(2,3)"}|false',
        '1|3|{"(1,3)"}|false',
        '1|4|{"(1,4)"}|false',
        '4|5|{"(1,4)","(4,5)"}|false',
        '5|1|{"(1,4)","(4,5)","(5,1)"}|false',
        '1|2|{"(1,4)","(4,5)","(5,1)","(1,2)"}|false',
        '2|3|{"(1,4)","(4,5)","(5,1)","(1,2)","(2,3)"}|false',
        '1|3|{"(1,4)","(4,5)","(5,1)","(1,3)"}|false',
        '1|4|{"(1,4)","(4,5)","(5,1)","(1,4)"}|true',
      ],
    ],
    [
      "with recursive sg as (select * from g union all select g.* from g, (select * from sg) s where g.f = s.t) search depth first by f, t set seq select * from sg",
      '0A000 with a SEARCH or CYCLE clause, the recursive reference to WITH query "sg" must be at the top level of its right-hand SELECT',
    ],
    [
      "with recursive t(n) as (select 1 union all select n + 1 from t where n < 3) search depth first by x set o select * from t",
      '42601 search column "x" not in WITH query column list',
    ],
    [
      "with recursive t(n) as (select 1 union all select n + 1 from t where n < 3) search depth first by n, n set o select * from t",
      '42701 search column "n" specified more than once',
    ],
    [
      "with recursive t(n) as (select 1 union all select n + 1 from t where n < 3) search depth first by n set n select * from t",
      '42601 search sequence column name "n" already used in WITH query column list',
    ],
    [
      "with recursive t(n) as (select 1 union all select n + 1 from t where n < 3) cycle n set n using p select * from t",
      '42601 cycle mark column name "n" already used in WITH query column list',
    ],
    [
      "with recursive t(n) as (select 1 union all select n + 1 from t where n < 3) cycle n set c using c select * from t",
      "42601 cycle mark column name and cycle path column name are the same",
    ],
    [
      "with recursive t(n) as (select 1 union all select n + 1 from t where n < 3) search depth first by n set c cycle n set c using p select * from t",
      "42601 search sequence column name and cycle mark column name are the same",
    ],
    ["with t(n) as (select 1) search depth first by n set c select * from t", "42601 WITH query is not recursive"],
    [
      "with recursive t(n) as (select 1) search depth first by n set c select * from t",
      "42601 WITH query is not recursive",
    ],
    [
      "with recursive t(n) as (values (1) union all select n + 1 from t where n < 3) search breadth first by n set o select n from t order by o desc",
      ["3", "2", "1"],
    ],
  ]),
);
