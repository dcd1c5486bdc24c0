CREATE TABLE t_vessel (vessel_no int PRIMARY KEY, vessel_name text, built int, capacity int, max_cars int, flag text);
CREATE TABLE t_line (line_no int PRIMARY KEY, from_port text, to_port text, distance_nm numeric);
CREATE TABLE t_sailing (sailing_no int PRIMARY KEY, vessel_no int REFERENCES t_vessel, line_no int REFERENCES t_line, captain_no int, departs_at timestamp, planned_arrival timestamp, actual_arrival timestamp, cancelled boolean);
CREATE TABLE t_captain (captain_no int PRIMARY KEY, captain_name text, licensed_on date, monthly_salary numeric);
CREATE TABLE t_fare (fare_no int PRIMARY KEY, sailing_no int REFERENCES t_sailing, passenger_type text, passengers int, cars int, amount numeric, sold_on date);
INSERT INTO t_vessel VALUES (1,'Gull',1998,320,40,'Norway'),(2,'Heron',2006,540,90,'Norway'),(3,'Ibis',2011,210,0,'Denmark'),(4,'Jackdaw',2015,760,140,'Sweden'),(5,'Kestrel',2020,480,110,'Denmark'),(6,'Lark',2023,150,12,'Norway');
INSERT INTO t_line VALUES (1,'Alta','Bodo',61.5),(2,'Bodo','Alta',61.5),(3,'Skagen','Larvik',88),(4,'Larvik','Skagen',88),(5,'Skagen','Gavle',240),(6,'Alta','Larvik',310);
INSERT INTO t_captain VALUES (1,'Mads Holm','2004-05-01',5200),(2,'Nora Berg','2012-09-12',4900),(3,'Ole Lund','2018-03-30',4300),(4,'Pia Strand','2020-11-02',4450),(5,'Rune Vik','2023-06-15',3900);
INSERT INTO t_sailing SELECT i, 1 + (i * 3 + i / 4) % 5, 1 + (i * i + i / 3) % 5, 1 + (i * 2 + i / 7) % 4, timestamp '2024-11-03 06:40' + i * interval '61 hours', timestamp '2024-11-03 09:10' + i * interval '61 hours', CASE WHEN i % 9 = 0 THEN NULL ELSE timestamp '2024-11-03 09:10' + i * interval '61 hours' + ((i * 7) % 23 - 8) * interval '5 minutes' END, i % 9 = 0 FROM generate_series(1, 60) i;
INSERT INTO t_fare SELECT i, 1 + (i * 7 + i / 11) % 55, (ARRAY['adult','child','senior','crew'])[1 + (i + i / 5) % 4], 1 + (i * i) % 6, (i + i / 3) % 3, 18 + (i * 37) % 211, date '2024-10-20' + (i * 2) % 190 FROM generate_series(1, 150) i;
UPDATE t_sailing SET captain_no = 3 WHERE captain_no = 4 AND sailing_no < 20
