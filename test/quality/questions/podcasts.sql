CREATE TABLE hosts (id int PRIMARY KEY, name text, country text, followers int);
CREATE TABLE shows (id int PRIMARY KEY, title text, host_id int REFERENCES hosts, genre text, launched date, explicit boolean);
CREATE TABLE episodes (id int PRIMARY KEY, show_id int REFERENCES shows, title text, published_at timestamp, duration_minutes int, downloads int);
CREATE TABLE listeners (id int PRIMARY KEY, username text, country text, signed_up date, premium boolean, invited_by int REFERENCES listeners);
CREATE TABLE listens (id int PRIMARY KEY, episode_id int REFERENCES episodes, listener_id int REFERENCES listeners, listened_at timestamp, minutes_listened int, device text);
CREATE TABLE ratings (listener_id int REFERENCES listeners, show_id int REFERENCES shows, stars int, rated_on date, PRIMARY KEY (listener_id, show_id));
INSERT INTO hosts VALUES (1,'Mara Quinn','Ireland',12400),(2,'Ned Fox','Canada',8300),(3,'Odile Kern','France',15100),(4,'Pim Bakker','Netherlands',2900),(5,'Ruth Adler','Austria',640);
INSERT INTO shows VALUES (1,'Night Trains',1,'travel','2020-01-15',false),(2,'Deep Code',2,'technology','2021-05-03',false),(3,'Cold Cases',3,'crime','2019-09-09',true),(4,'Small Talk',3,'comedy','2022-02-22',true),(5,'Byte Size',2,'technology','2023-03-30',false),(6,'Garden Hour',4,'nature','2024-06-01',false);
INSERT INTO episodes SELECT i, 1 + (i * i + i / 4) % 5, 'Episode ' || i, timestamp '2024-01-04 06:00' + i * interval '9 days 3 hours', 15 + (i * 23) % 67, 200 + (i * 1709) % 9000 FROM generate_series(1, 60) i;
INSERT INTO listeners SELECT i, (ARRAY['ann','bo','cy','dee','eli','fay','gil','hal','ida','jo','kit','lou'])[i], (ARRAY['Canada','France','Ireland','Canada','Spain','Spain','Canada','France','Ireland','Canada','Austria','Spain'])[i], date '2022-03-01' + i * 101, i % 3 = 1, (ARRAY[NULL,1,1,2,NULL,1,5,3,2,1,NULL,5])[i] FROM generate_series(1, 12) i;
INSERT INTO listens SELECT i, 1 + (i * 13 + i / 9) % 57, 1 + (i * 7 + i / 8) % 11, timestamp '2025-01-02 07:10' + i * interval '31 hours', 3 + (i * 11) % 70, (ARRAY['phone','car','desktop'])[1 + (i * i + i / 6) % 3] FROM generate_series(1, 160) i;
INSERT INTO ratings SELECT l, s, 1 + (l * s + l / 2 + s) % 5, date '2025-01-10' + l * 9 + s * 5 FROM generate_series(1, 10) l, generate_series(1, 5) s WHERE (l * 3 + s * 4 + l / 3) % 5 < 3
