CREATE TABLE beers (beer_id serial PRIMARY KEY, beer varchar(60), style varchar(40), abv numeric, ibu int, launched date, discontinued date);
CREATE TABLE brewers (brewer_id serial PRIMARY KEY, brewer varchar(60), start_date date, hourly_rate numeric);
CREATE TABLE batches (batch_no int PRIMARY KEY, beer_id int REFERENCES beers, brewer_id int REFERENCES brewers, brewed_on date, litres numeric, quality_score int);
CREATE TABLE pubs (pub_id serial PRIMARY KEY, pub varchar(60), town varchar(40), credit_limit numeric);
CREATE TABLE pub_orders (order_no int PRIMARY KEY, pub_id int REFERENCES pubs, ordered_on date, shipped_on date, discount_pct numeric);
CREATE TABLE order_lines (order_no int REFERENCES pub_orders, beer_id int REFERENCES beers, kegs int, keg_price numeric, PRIMARY KEY (order_no, beer_id));
INSERT INTO beers VALUES (1,'Amber Fox','red ale',5.2,28,'2015-03-01',NULL),(2,'Black Barge','stout',6.8,41,'2016-10-15',NULL),(3,'Cloud Nine','wheat',4.9,14,'2018-05-05',NULL),(4,'Dry Dock','pilsner',4.6,36,'2014-01-10',NULL),(5,'Elder Moon','sour',3.9,8,'2020-07-01','2023-09-30'),(6,'First Light','pale ale',4.4,33,'2021-02-20',NULL),(7,'Grand Duke','stout',9.1,55,'2022-11-11',NULL),(8,'Hop Yard','pale ale',6.1,82,'2024-03-15',NULL);
INSERT INTO brewers VALUES (1,'Otto','2014-01-01',31),(2,'Pia','2017-04-01',28),(3,'Quinn','2020-09-01',24),(4,'Rosa','2024-02-01',22);
INSERT INTO batches SELECT 100 + i, 1 + (i * 3 + i / 4) % 7, 1 + (i * i + i / 3) % 3, date '2024-01-08' + i * 9, 800 + (i * 310) % 1700, 61 + (i * 13) % 38 FROM generate_series(1, 40) i;
INSERT INTO pubs VALUES (1,'The Anchor','Ryde',4000),(2,'Crown','Ryde',2500),(3,'Old Mill','Sele',NULL),(4,'Red Lion','Tarn',6000),(5,'Swan','Sele',3000),(6,'Victoria','Tarn',1500);
INSERT INTO pub_orders SELECT 5000 + i, 1 + (i * 3 + i / 5) % 5, date '2024-10-01' + i * 6, CASE WHEN i % 8 = 3 THEN NULL ELSE date '2024-10-03' + i * 6 + i % 5 END, (i * 5) % 4 * 2.5 FROM generate_series(1, 42) i;
INSERT INTO order_lines SELECT 5000 + o, b, 1 + (o * 5 + b * 3) % 11, 70 + b * 9 + o % 3 FROM generate_series(1, 42) o, generate_series(1, 7) b WHERE (o * b + o / 3 + b) % 4 = 0
