CREATE TABLE club_member (member_id serial PRIMARY KEY, fullname text, joined_on date, membership_type text, skill_level int, home_city text);
CREATE TABLE court (court_id int PRIMARY KEY, court_label text, surface text, indoor boolean, price_per_hour numeric);
CREATE TABLE booking (booking_id int PRIMARY KEY, court_id int REFERENCES court, booked_by int REFERENCES club_member, starts timestamp, ends timestamp, fee numeric);
CREATE TABLE match (match_id int PRIMARY KEY, winner_id int REFERENCES club_member, loser_id int REFERENCES club_member, played_on date, sets_played int);
CREATE TABLE lesson (lesson_id int PRIMARY KEY, coach_name text, student_id int REFERENCES club_member, held_on date, minutes int, charge numeric);
INSERT INTO club_member VALUES (1,'Alba Ruiz','2021-03-01','gold',7,'Porto'),(2,'Ben Stone','2021-07-14','silver',4,'Braga'),(3,'Cora Tang','2022-02-02','gold',8,'Porto'),(4,'Dev Umar','2022-10-30','junior',3,'Faro'),(5,'Ella Vance','2023-05-05','silver',5,'Porto'),(6,'Fred Wolf','2023-11-20','junior',2,'Braga'),(7,'Gail Xiong','2024-04-18','gold',6,'Lisbon'),(8,'Hugo Young','2025-01-02','silver',3,'Lisbon');
INSERT INTO court VALUES (1,'Center','clay',false,24),(2,'North','hard',false,18),(3,'Dome','hard',true,30),(4,'Garden','grass',false,28);
INSERT INTO booking SELECT i, 1 + (i * 2 + i / 5) % 3, 1 + (i * i + i / 3) % 7, timestamp '2025-03-01 09:00' + i * interval '29 hours', timestamp '2025-03-01 09:00' + i * interval '29 hours' + (1 + i % 3) * interval '30 minutes', 9 + (i * 7) % 31 FROM generate_series(1, 60) i;
INSERT INTO match SELECT i, 1 + (i * 3 + i / 2) % 7, 1 + (i * 3 + i / 2 + 1 + i % 4) % 7, date '2025-01-04' + i * 4, 2 + i % 4 / 2 FROM generate_series(1, 36) i;
INSERT INTO lesson SELECT i, (ARRAY['Ivo','Jana','Karl'])[1 + (i + i / 4) % 3], 1 + (i * 5 + i / 3) % 8, date '2025-02-03' + i * 3, (ARRAY[30,45,60,90])[1 + (i * 3 + i / 5) % 4], 20 + (i * 11) % 45 FROM generate_series(1, 40) i
