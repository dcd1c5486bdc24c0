/** Network addresses and geometric values end to end. Expectations are PostgreSQL 15's. */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test("inet and cidr", (t) =>
  checkStatements(t, [
    [
      "select inet '192.168.1.5/24', cidr '10.1', inet '::1', '1:0:0:2::/64'::cidr",
      ["192.168.1.5/24|10.1.0.0/16|::1|1:0:0:2::/64"],
    ],
    ["select cidr '192.168.1.5/24'", '22P02 invalid cidr value: "192.168.1.5/24"'],
    ["select inet '300.1.1.1'", '22P02 invalid input syntax for type inet: "300.1.1.1"'],
    ["select inet '10.1.2'", '22P02 invalid input syntax for type inet: "10.1.2"'],
    [
      "select inet '10.1.2.3/24'::cidr, cidr '10.0.0.0/8'::inet, inet '10.1.2.3'::text, '10.0.0.0/8'::cidr::text",
      ["10.1.2.0/24|10.0.0.0/8|10.1.2.3/32|10.0.0.0/8"],
    ],
    [
      "select netmask(i), hostmask(i), abbrev(i), broadcast(i), network(i), host(i), masklen(i) from (values (inet '10.1.2.3/20')) v(i)",
      ["255.255.240.0|0.0.15.255|10.1.2.3/20|10.1.15.255/20|10.1.0.0/20|10.1.2.3|20"],
    ],
    ["select set_masklen(inet '10.1.2.3', 33)", "22023 invalid mask length: 33"],
    [
      "select inet '10.0.0.1' << '10.0.0.0/8', inet '10.0.0.0/8' && cidr '10.1.0.0/16', inet '10.0.0.1' - 2, inet '10.0.1.0' - inet '10.0.0.0'",
      ["true|true|9.255.255.255|256"],
    ],
    ["select inet '0.0.0.1' - 2", "22003 result is out of range"],
    ["create table host (address inet primary key, net cidr)"],
    ["create index on host (net desc)"],
    ["insert into host values ('10.0.0.2', '10/8'), ('10.0.0.2/8', null), ('::1', '::/0'), ('9.255.0.1', '9')"],
    [
      "insert into host values ('10.0.0.2/32', '10/8')",
      '23505 duplicate key value violates unique constraint "host_pkey"',
    ],
    ["select * from host order by address", ["9.255.0.1|9.0.0.0/8", "10.0.0.2/8|∅", "10.0.0.2|10.0.0.0/8", "::1|::/0"]],
    ["select address from host where address = '10.0.0.2' and net > '9/8'", ["10.0.0.2"]],
    ["select min(address), max(net) from host", ["9.255.0.1|::/0"]],
    ["select to_json(address), array[net] from host where family(address) = 6", ['"::1"|{::/0}']],
  ]),
);

t.test("macaddr, macaddr8", (t) =>
  checkStatements(t, [
    [
      "select '08002b010203'::macaddr, '08-00-2b-01-02-03'::macaddr, '0800.2b01.0203'::macaddr, '08002b:010203'::macaddr8",
      ["08:00:2b:01:02:03|08:00:2b:01:02:03|08:00:2b:01:02:03|08:00:2b:ff:fe:01:02:03"],
    ],
    [
      "select trunc(macaddr '12:34:56:78:90:ab'), ~macaddr '00:00:00:ff:ff:ff', macaddr '01:00:00:00:00:00' > '00:ff:00:00:00:00'",
      ["12:34:56:00:00:00|ff:ff:ff:00:00:00|true"],
    ],
    ["select 'zz:00:00:00:00:00'::macaddr", '22P02 invalid input syntax for type macaddr: "zz:00:00:00:00:00"'],
  ]),
);

t.test("geometric values are stored and printed", (t) =>
  checkStatements(t, [
    ["create table shape (p point, l lseg, b box, o path, c path, g polygon, r circle, n line)"],
    [
      "insert into shape values ('1, 2.50', '((1,2),(3,4))', '(1,2),(3,0)', '[(1,2),(3,4)]', '1,2,3,4', '((0,0),(1,1),(2,0))', '((1,2),3)', '{1,-1,0}')",
    ],
    [
      "select * from shape",
      ["(1,2.5)|[(1,2),(3,4)]|(3,2),(1,0)|[(1,2),(3,4)]|((1,2),(3,4))|((0,0),(1,1),(2,0))|<(1,2),3>|{1,-1,0}"],
    ],
    ["select p from shape order by p", "42883 could not identify an ordering operator for type point"],
    ["select '(1,2'::point", '22P02 invalid input syntax for type point: "(1,2"'],
    ["create index on shape (p)", '42704 data type point has no default operator class for access method "btree"'],
  ]),
);
