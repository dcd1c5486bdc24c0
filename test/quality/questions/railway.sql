CREATE TABLE st_station (st_id int PRIMARY KEY, st_name text, st_city text, st_platforms int, st_opened date);
CREATE TABLE op_operator (op_id int PRIMARY KEY, op_name text, op_country text);
CREATE TABLE tr_train (tr_id int PRIMARY KEY, tr_number text, tr_type text, tr_seats int, tr_op_id int REFERENCES op_operator, tr_origin_id int REFERENCES st_station, tr_destination_id int REFERENCES st_station);
CREATE TABLE rn_run (rn_id int PRIMARY KEY, rn_tr_id int REFERENCES tr_train, rn_date date, rn_delay_min int, rn_cancelled boolean);
CREATE TABLE tk_ticket (tk_id int PRIMARY KEY, tk_rn_id int REFERENCES rn_run, tk_class int, tk_price numeric, tk_bought_at timestamp, tk_channel text);
INSERT INTO st_station VALUES (1,'Central','Arlon',12,'1887-05-01'),(2,'East Gate','Arlon',4,'1932-09-12'),(3,'Harbour','Brask',7,'1901-03-30'),(4,'University','Brask',2,'1996-10-01'),(5,'Spa','Corvin',3,'1954-07-20'),(6,'Hill Top','Delm',1,'1911-11-11'),(7,'Expo','Corvin',6,'2008-04-15');
INSERT INTO op_operator VALUES (1,'NordRail','Norland'),(2,'Blue Line','Norland'),(3,'Regio','Sudland'),(4,'Nightjet','Ostland');
INSERT INTO tr_train VALUES (1,'IC 100','intercity',420,1,1,3),(2,'IC 101','intercity',400,1,3,1),(3,'RE 7','regional',210,3,2,5),(4,'RE 8','regional',190,3,5,2),(5,'S 1','suburban',150,2,1,2),(6,'S 2','suburban',160,2,4,3),(7,'IC 200','intercity',380,2,1,5),(8,'RE 9','regional',230,3,3,4),(9,'S 3','suburban',145,1,4,3);
INSERT INTO rn_run SELECT i, 1 + (i * 3 + i / 4) % 8, date '2025-04-01' + i, CASE WHEN i % 9 = 4 THEN NULL ELSE (i * 7 + i / 3) % 23 END, i % 9 = 4 FROM generate_series(1, 60) i;
INSERT INTO tk_ticket SELECT i, 1 + (i * 7 + i / 3) % 55, 1 + (i + i / 5) % 2, 8 + (i * 23) % 71, timestamp '2025-03-20 08:00' + i * interval '9 hours', (ARRAY['web','app','counter'])[1 + (i * i + i / 2) % 3] FROM generate_series(1, 140) i
