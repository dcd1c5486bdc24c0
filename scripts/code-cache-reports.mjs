/**
 * Reports over some tables, so that the kept code (code-cache.mjs) has what the first reports after a start run: the
 * reading of columns in files and in memory, filters, joins, groups, sorts, subqueries and windows, here and in the
 * threads that read.
 */

import { setTimeout as sleep } from "node:timers/promises";

/** So many that the tables get files, and that threads take part in reading the longest. */
const SALES = 60_000;
const ORDERS = 15_000;
const CUSTOMERS = 2_000;

const TABLES = [
  "CREATE TABLE build_region (id integer PRIMARY KEY, name char(10) NOT NULL)",
  "CREATE TABLE build_customer (id integer PRIMARY KEY, region integer NOT NULL, name varchar(40) NOT NULL, phone text, balance numeric(15,2))",
  "CREATE TABLE build_order (id bigint PRIMARY KEY, customer integer NOT NULL, day date NOT NULL, priority char(15), note text)",
  `CREATE TABLE build_sale (order_id bigint, line integer, part integer NOT NULL, quantity numeric(15,2) NOT NULL,
     price numeric(15,2) NOT NULL, discount numeric(15,2) NOT NULL, flag char(1), sent date, seen timestamptz,
     weight double precision, note varchar(44), PRIMARY KEY (order_id, line))`,
  "INSERT INTO build_region SELECT i, 'region ' || i FROM generate_series(0, 9) i",
  `INSERT INTO build_customer SELECT i, i % 10, 'customer ' || i, (10 + i % 25) || '-555', (i * 37 % 10000) / 100.0
     FROM generate_series(1, ${CUSTOMERS}) i`,
  `INSERT INTO build_order SELECT i, 1 + i * 7 % ${CUSTOMERS}, DATE '1995-01-01' + i % 1000, (i % 5) || '-HIGH',
     'order ' || i || CASE WHEN i % 9 = 0 THEN ' special requests' ELSE '' END FROM generate_series(1, ${ORDERS}) i`,
  `INSERT INTO build_sale SELECT 1 + i / 4, i % 4, i * 13 % 1000, 1 + i % 50, (i * 31 % 100000) / 100.0, (i % 11) / 100.0,
     CASE WHEN i % 3 = 0 THEN 'A' ELSE 'N' END, DATE '1995-01-01' + i % 1100, TIMESTAMPTZ '2024-01-01' + i * INTERVAL '1 minute',
     i / 7.0, 'sale ' || i % 5000 FROM generate_series(0, ${SALES - 1}) i`,
  "ANALYZE",
];

const REPORTS = [
  "SELECT count(*), min(sent), max(price), min(note) FROM build_sale",
  `SELECT flag, line, sum(quantity) AS q, sum(price * (1 - discount)) AS s, sum(weight), avg(price), avg(weight), count(*)
     FROM build_sale WHERE sent <= CAST('1997-09-02' AS date) GROUP BY flag, line ORDER BY flag, line`,
  `SELECT sum(price * discount) AS revenue FROM build_sale WHERE sent >= DATE '1996-01-01'
     AND sent < DATE '1996-01-01' + INTERVAL '1 year' AND discount BETWEEN 0.05 AND 0.07 AND quantity < 24`,
  `SELECT s.order_id, sum(s.price * (1 - s.discount)) AS revenue, o.day FROM build_customer c, build_order o, build_sale s
     WHERE c.name LIKE '%mer 1%' AND c.id = o.customer AND s.order_id = o.id AND o.day < DATE '1996-03-15'
     GROUP BY s.order_id, o.day ORDER BY revenue DESC, o.day LIMIT 10`,
  `SELECT priority, count(*) FROM build_order o WHERE day >= DATE '1995-07-01' AND EXISTS (SELECT * FROM build_sale
     WHERE order_id = o.id AND sent < day + 10) GROUP BY priority ORDER BY priority`,
  `SELECT r.name, year, sum(CASE WHEN flag = 'A' THEN amount ELSE 0 END) / sum(amount) AS share FROM (
     SELECT c.region, extract(year FROM o.day) AS year, s.flag, s.price * (1 - s.discount) AS amount FROM build_sale s
     JOIN build_order o ON o.id = s.order_id JOIN build_customer c ON c.id = o.customer) x JOIN build_region r ON r.id = x.region
     WHERE r.name IN ('region 1', 'region 2', 'region 3') GROUP BY r.name, year ORDER BY r.name, year DESC`,
  `SELECT n, count(*) AS customers FROM (SELECT c.id, count(o.id) FROM build_customer c LEFT JOIN build_order o
     ON c.id = o.customer AND o.note NOT LIKE '%special%requests%' GROUP BY c.id) AS x (id, n)
     GROUP BY n ORDER BY customers DESC, n DESC`,
  `SELECT part, sum(price * quantity) AS value FROM build_sale GROUP BY part HAVING sum(price * quantity) >
     (SELECT sum(price * quantity) * 0.0012 FROM build_sale) ORDER BY value DESC`,
  `WITH revenue AS (SELECT part, sum(price) AS total FROM build_sale WHERE sent >= DATE '1996-01-01' GROUP BY part)
     SELECT part, total FROM revenue WHERE total = (SELECT max(total) FROM revenue) ORDER BY part`,
  `SELECT sum(price) / 7.0 FROM build_sale s WHERE part < 50 AND quantity < (SELECT 0.2 * avg(quantity)
     FROM build_sale WHERE part = s.part)`,
  `SELECT priority, count(DISTINCT customer), sum(CASE WHEN note LIKE 'order 1%' THEN 1 ELSE 0 END) FROM build_order
     WHERE customer NOT IN (SELECT id FROM build_customer WHERE phone LIKE '1%') GROUP BY priority ORDER BY 2 DESC, 1`,
  `SELECT substring(phone FROM 1 FOR 2) AS code, count(*), sum(balance) FROM build_customer c WHERE substring(phone FROM 1 FOR 2)
     IN ('13', '31', '23') AND balance > (SELECT avg(balance) FROM build_customer WHERE balance > 0.00) AND NOT EXISTS
     (SELECT * FROM build_order WHERE customer = c.id AND day > DATE '1997-01-01') GROUP BY code ORDER BY code`,
  `SELECT c.name, o.id, o.day, sum(quantity) FROM build_customer c, build_order o, build_sale s WHERE o.id IN
     (SELECT order_id FROM build_sale GROUP BY order_id HAVING sum(quantity) > 150) AND c.id = o.customer AND o.id = s.order_id
     GROUP BY c.name, o.id, o.day ORDER BY o.day, o.id LIMIT 100`,
  `SELECT sum(price) FROM build_sale s, build_order o WHERE s.order_id = o.id AND ((flag = 'A' AND quantity BETWEEN 1 AND 11
     AND priority IN ('1-HIGH', '2-HIGH')) OR (flag = 'N' AND quantity BETWEEN 10 AND 20 AND priority = '3-HIGH'))`,
  `SELECT c.name FROM build_customer c WHERE c.id IN (SELECT customer FROM build_order WHERE note LIKE 'order 2%' AND id >
     (SELECT 0.5 * sum(quantity) FROM build_sale WHERE order_id = build_order.id)) ORDER BY c.name`,
  `SELECT count(*) FROM build_sale a WHERE sent > DATE '1997-06-01' AND EXISTS (SELECT * FROM build_sale b WHERE
     b.order_id = a.order_id AND b.part <> a.part) AND NOT EXISTS (SELECT * FROM build_sale b WHERE
     b.order_id = a.order_id AND b.part <> a.part AND b.flag = 'A')`,
  "SELECT note, count(*) FROM build_sale GROUP BY note ORDER BY 2 DESC, 1 LIMIT 5",
  "SELECT date_trunc('day', seen) AS day, count(*), max(weight) FROM build_sale GROUP BY 1 ORDER BY 1 LIMIT 5",
  "SELECT * FROM build_sale ORDER BY price DESC, order_id LIMIT 10",
  "SELECT DISTINCT flag, line FROM build_sale ORDER BY 1, 2",
  "SELECT id, rank() OVER (PARTITION BY region ORDER BY balance DESC) FROM build_customer ORDER BY id LIMIT 5",
  "SELECT count(*) FROM build_sale WHERE note LIKE '%ale 12%' AND price > 10",
  "SELECT name FROM build_customer WHERE id < 20 UNION SELECT name FROM build_customer WHERE id > 1990 ORDER BY 1",
];

/** Threads take part in reports that cost a lot, and they start with the first of them. */
const LIKES = Array.from({ length: 30 }, (_, i) => `note NOT LIKE '%x${i}%'`).join(" AND ");
const SHARED = [
  `SELECT note, flag, count(*), sum(quantity), avg(price), max(sent), min(weight) FROM build_sale WHERE ${LIKES}
     AND quantity > 1 AND sent >= DATE '1995-01-02' AND flag IN ('A', 'N') GROUP BY note, flag ORDER BY 3 DESC, 1, 2 LIMIT 5`,
  `SELECT count(*), sum(price * discount), min(sent), max(quantity) FROM build_sale WHERE ${LIKES} AND discount BETWEEN 0.01 AND 0.09`,
  `SELECT order_id, price, note FROM build_sale WHERE ${LIKES} ORDER BY price DESC LIMIT 5`,
  `SELECT DISTINCT flag, quantity FROM build_sale WHERE ${LIKES} ORDER BY 1, 2`,
];
const THREADS_MS = 1_000;

/** Twice: first of records, or of files whose pages are read, then of segments in memory. */
export async function analyze(sql) {
  for (const text of TABLES) await sql(text);
  for (let round = 0; round < 2; round++) for (const text of REPORTS) await sql(text);
  await sql(SHARED[0]);
  await sleep(THREADS_MS);
  for (const text of SHARED) await sql(text);
}
