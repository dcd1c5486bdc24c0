CREATE TABLE tbl_member (member_id int PRIMARY KEY, first_name text, last_name text, joined date, plan text, monthly_fee numeric);
CREATE TABLE tbl_trainer (trainer_id int PRIMARY KEY, trainer_name text, speciality text);
CREATE TABLE tbl_lesson (lesson_id int PRIMARY KEY, trainer_id int REFERENCES tbl_trainer, lesson_name text, weekday text, places int, minutes int);
CREATE TABLE tbl_visit (visit_id int PRIMARY KEY, member_id int REFERENCES tbl_member, lesson_id int REFERENCES tbl_lesson, visited_at timestamp, rating int);
INSERT INTO tbl_member SELECT i, (ARRAY['Ada','Ben','Cleo','Dan','Elsa','Finn','Gina','Hugo','Ines','Jon','Kim','Lars'])[i], (ARRAY['Ash','Birk','Cole'])[1 + i % 3], date '2019-02-01' + i * 150, (ARRAY['basic','gold','student'])[1 + i % 3], 20 + 5 * (i % 3) FROM generate_series(1, 12) i;
INSERT INTO tbl_trainer VALUES (1,'Vera','yoga'),(2,'Walt','boxing'),(3,'Xenia','yoga'),(4,'Yuri','swimming');
INSERT INTO tbl_lesson SELECT i, 1 + i % 3, (ARRAY['Morning Flow','Power Hour','Deep Stretch','Ring Basics','Core Burn','Late Spin'])[i], (ARRAY['Monday','Tuesday','Friday'])[1 + i % 3], 8 + i, 30 + 10 * (i % 4) FROM generate_series(1, 6) i;
INSERT INTO tbl_visit SELECT i, 1 + i * i % 11, 1 + i * 3 % 5, now()::timestamp - i * interval '50 hours', 1 + i * 7 % 5 FROM generate_series(1, 150) i;
