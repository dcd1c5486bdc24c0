CREATE TABLE teachers (teacher_id int PRIMARY KEY, name text, main_subject text, hired_on date, salary numeric);
CREATE TABLE classes (class_id int PRIMARY KEY, label text, grade_level int, room text, homeroom_teacher_id int REFERENCES teachers);
CREATE TABLE pupils (pupil_id int PRIMARY KEY, first_name text, last_name text, born_on date, class_id int REFERENCES classes, takes_bus boolean);
CREATE TABLE exams (exam_id int PRIMARY KEY, class_id int REFERENCES classes, subject text, held_on date, max_points int);
CREATE TABLE results (result_id int PRIMARY KEY, exam_id int REFERENCES exams, pupil_id int REFERENCES pupils, points int, passed boolean);
CREATE TABLE absences (absence_id int PRIMARY KEY, pupil_id int REFERENCES pupils, absent_on date, hours int, excused boolean);
INSERT INTO teachers SELECT i, (ARRAY['Mr Abbott','Ms Bell','Mr Corso','Ms Dietz','Mr Evans','Ms Falk','Mr Grant'])[i], (ARRAY['mathematics','history','biology'])[1 + i * 2 % 3], date '2008-08-01' + i * 613, 2900 + i * 371 % 1900 FROM generate_series(1, 7) i;
INSERT INTO classes VALUES (1,'5a',5,'R12',3),(2,'5b',5,'R14',1),(3,'6a',6,'R21',5),(4,'7a',7,'R30',3),(5,'8c',8,'R31',NULL);
INSERT INTO pupils SELECT i, (ARRAY['Anna','Boris','Celia','Dirk','Eva','Finn','Gwen','Hamid','Iris','Jonah','Kaya','Liam','Maya','Noel','Olive','Pablo','Quinn','Rosa','Sven','Tara'])[i], (ARRAY['Archer','Brook','Carver','Dale','Ellis','Frost','Gale','Hardy','Ives','Judd','Keene','Lowe','Marsh','Nash','Oakes','Pryor','Quill','Rowe','Stone','Thorne'])[i], date '2011-03-10' + i * 71, 1 + (i * 3 + i / 4) % 4, i % 3 = 1 FROM generate_series(1, 20) i;
INSERT INTO exams SELECT i, 1 + i * 3 % 4, (ARRAY['mathematics','history','biology','English'])[1 + (i + i / 4) % 4], current_date - i * 17, (ARRAY[40,60,100])[1 + i % 3] FROM generate_series(1, 24) i;
INSERT INTO results SELECT i, 1 + (i * 5 + i / 7) % 22, 1 + (i * 7 + i / 5) % 18, 12 + i * 31 % 67, i * 31 % 67 >= 14 FROM generate_series(1, 150) i;
INSERT INTO absences SELECT i, 1 + (i * 3 + i / 6) % 16, current_date - i * 5, 1 + i * 5 % 7, i % 4 <> 1 FROM generate_series(1, 70) i
