CREATE TABLE artist (id int PRIMARY KEY, name text, country text, formed_year int, genre text);
CREATE TABLE album (id int PRIMARY KEY, artist_id int, title text, release_date date, format text, price numeric);
CREATE TABLE track (id int PRIMARY KEY, album_id int, title text, duration_sec int, track_no int, explicit boolean);
CREATE TABLE listener (id int PRIMARY KEY, username text, country text, plan text, joined_at timestamp, last_login timestamp);
CREATE TABLE play (id int PRIMARY KEY, listener_id int, track_id int, played_at timestamp, seconds_played int, device text);
CREATE TABLE playlist (id int PRIMARY KEY, owner_id int, name text, is_public boolean);
CREATE TABLE playlist_track (playlist_id int, track_id int, added_at timestamp, PRIMARY KEY (playlist_id, track_id));
INSERT INTO artist VALUES (1,'The Harbours','Norway',2009,'indie'),(2,'Calle Nueve','Spain',2014,'latin'),(3,'Miko Tan','Japan',2018,'electronic'),(4,'Old Timber','Canada',1998,'folk'),(5,'Velvet Grid','Germany',2011,'electronic'),(6,'Sana Lee','Korea',2020,'pop'),(7,'Stone Letter','Canada',2003,'rock');
INSERT INTO album VALUES (1,1,'Tidal','2015-04-10','vinyl',24),(2,1,'Breakwater','2019-09-20','cd',15),(3,2,'Sol y Sal','2021-06-18','stream',9),(4,3,'Neon Rain','2022-02-04','stream',9),(5,4,'Sawmill','2001-10-01','cd',12),(6,4,'Winter Roads','2012-11-30','vinyl',28),(7,5,'Matrix','2016-03-03','vinyl',26),(8,5,'Pulse','2023-08-25','stream',10),(9,6,'First Light','2024-01-19','stream',9);
INSERT INTO track SELECT i, 1 + i % 8, 'Song ' || i, 120 + i * 37 % 260, 1 + i / 8, i % 7 = 0 FROM generate_series(1, 48) i;
INSERT INTO listener SELECT i, (ARRAY['ana','bo','cem','dia','eli','fay','gus','hana','ivo','jun','kim','lea'])[i], (ARRAY['Norway','Spain','Germany','Canada'])[1 + i % 4], (ARRAY['free','premium','family'])[1 + (i * 2 + i / 5) % 3], TIMESTAMP '2022-01-10 08:00' + make_interval(days => i * 61), CASE WHEN i = 11 THEN NULL ELSE TIMESTAMP '2025-05-01 20:00' + make_interval(days => i * 13 % 100) END FROM generate_series(1, 12) i;
INSERT INTO play SELECT i, 1 + (i * 7 + i / 11) % 10, 1 + (i * 5 + i / 3) % 45, TIMESTAMP '2025-01-01 06:00' + make_interval(hours => i * 17), 30 + i * 29 % 200, (ARRAY['phone','desktop','speaker'])[1 + (i + i / 9) % 3] FROM generate_series(1, 300) i;
INSERT INTO playlist VALUES (1,1,'Morning run',true),(2,1,'Sleep',false),(3,3,'Party',true),(4,5,'Focus',false),(5,8,'Road trip',true),(6,12,'Empty',false);
INSERT INTO playlist_track SELECT p, 1 + (p * 11 + k * 7) % 48, TIMESTAMP '2025-03-01 10:00' + make_interval(days => p * 5 + k) FROM generate_series(1, 5) p, generate_series(1, 6) k
