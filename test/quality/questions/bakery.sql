CREATE TABLE cust (cust_id int PRIMARY KEY, cust_name text, cust_town text, cust_since date);
CREATE TABLE item (item_id int PRIMARY KEY, item_name text, item_kind text, sale_price numeric, unit_cost numeric, gluten_free boolean);
CREATE TABLE sale (sale_id int PRIMARY KEY, cust_id int REFERENCES cust, sold_at timestamp, pay_method text, branch_id int);
CREATE TABLE sale_line (sale_id int REFERENCES sale, item_id int REFERENCES item, qty int, line_total numeric, PRIMARY KEY (sale_id, item_id));
CREATE TABLE branch (branch_id int PRIMARY KEY, branch_name text, town text, monthly_rent numeric);
CREATE TABLE baker (baker_id int PRIMARY KEY, baker_name text, branch_id int REFERENCES branch, hourly_wage numeric, hired_on date);
INSERT INTO cust VALUES (1,'Olga Petrov','Leeds','2022-01-10'),(2,'Peter Falk','York','2022-05-01'),(3,'Quinn Reed','Leeds','2023-03-15'),(4,'Rita Sorel','Hull','2023-09-09'),(5,'Sam Tully','York','2024-02-20'),(6,'Tina Ueda','Leeds','2024-08-01'),(7,'Uma Voss','Bradford','2025-01-05');
INSERT INTO item VALUES (1,'Rye Loaf','bread',4.5,1.2,false),(2,'Baguette','bread',2.2,0.7,false),(3,'Croissant','pastry',1.9,0.8,false),(4,'Almond Cake','cake',18,9.5,true),(5,'Cheesecake','cake',22,10,false),(6,'Corn Bread','bread',3.8,1.6,true),(7,'Danish','pastry',2.4,1.1,false),(8,'Macaron','pastry',1.5,0.4,true),(9,'Stollen','cake',12,5,false);
INSERT INTO branch VALUES (1,'Market Square','Leeds',2100),(2,'Old Mill','York',1500),(3,'Harbour','Hull',1250);
INSERT INTO baker VALUES (1,'Viktor Wall',1,17.5,'2019-04-01'),(2,'Wilma Xu','1',15,'2021-06-15'),(3,'Xaver Yost','2',16,'2020-10-01'),(4,'Yara Zimm','2',14.5,'2023-02-01'),(5,'Zoe Abel','3',15.5,'2022-11-11'),(6,'Adam Bird','1',13.8,'2024-07-01');
INSERT INTO sale SELECT i, CASE WHEN i % 8 = 0 THEN NULL ELSE 1 + (i * i + i / 5) % 6 END, timestamp '2025-01-02 07:30' + i * interval '53 hours', (ARRAY['cash','card','voucher'])[1 + (i * 2 + i / 4) % 3], 1 + (i + i / 3) % 3 FROM generate_series(1, 64) i;
INSERT INTO sale_line SELECT i, p, 1 + (i * p) % 5, (1 + (i * p) % 5) * sale_price FROM generate_series(1, 64) i JOIN (SELECT item_id AS p, sale_price FROM item WHERE item_id <> 9) x ON (i * 5 + p * 3 + i / 6) % 10 < 3
