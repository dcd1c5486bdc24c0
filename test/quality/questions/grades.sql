CREATE TABLE "schoolClasses" ("schoolClassId" int PRIMARY KEY, "className" text, "yearLevel" int);
CREATE TABLE "students" ("studentId" int PRIMARY KEY, "schoolClassId" int REFERENCES "schoolClasses", "firstName" text, "lastName" text, "birthDay" date, "homeTown" text, "hasScholarship" boolean);
CREATE TABLE "instructors" ("instructorId" int PRIMARY KEY, "instructorName" text, "department" text, "startedOn" date);
CREATE TABLE "courses" ("courseId" int PRIMARY KEY, "courseTitle" text, "instructorId" int REFERENCES "instructors", "weeklyHours" int, "isElective" boolean);
CREATE TABLE "enrolments" ("enrolmentId" int PRIMARY KEY, "studentId" int REFERENCES "students", "courseId" int REFERENCES "courses", "term" text, "enrolledOn" date);
CREATE TABLE "gradeEntries" ("gradeEntryId" int PRIMARY KEY, "enrolmentId" int REFERENCES "enrolments", "gradeKind" text, "mark" numeric, "enteredOn" date);
INSERT INTO "schoolClasses" VALUES (1,'Falcons',7),(2,'Otters',8),(3,'Badgers',9),(4,'Herons',9);
INSERT INTO "students" SELECT i, 1 + (i + i / 5) % 3, (ARRAY['Aron','Bella','Carlo','Dina','Enzo','Frida','Gabor','Helga','Ivan','Jule','Kemal','Lotte','Marek','Nele','Oskar','Pia','Quinn','Ronja'])[i], (ARRAY['Amber','Birch','Cedar','Dale','Elm','Fern','Gale','Heath','Isle'])[1 + i * 2 % 9], DATE '2009-03-04' + i * 67, (ARRAY['Lund','Malmo','Ystad'])[1 + (i * 2 + i / 4) % 3], i % 5 = 1 FROM generate_series(1, 18) i;
INSERT INTO "instructors" VALUES (1,'Mrs Holt','Science','2009-08-01'),(2,'Mr Quist','Languages','2014-08-01'),(3,'Ms Renn','Science','2019-08-01'),(4,'Mr Sand','Arts','2021-08-01'),(5,'Ms Thorn','Sports','2023-02-01');
INSERT INTO "courses" VALUES (1,'Algebra',1,5,false),(2,'Biology',3,3,false),(3,'Spanish',2,4,false),(4,'Pottery',4,2,true),(5,'Chess',1,1,true),(6,'Latin',2,4,true),(7,'Drama',4,3,true);
INSERT INTO "enrolments" SELECT i, 1 + (i * 5 + i / 6) % 16, 1 + (i * 3 + i / 8) % 6, (ARRAY['autumn','spring'])[1 + (i + i / 7) % 2], DATE '2024-08-12' + i * 5 FROM generate_series(1, 60) i;
INSERT INTO "gradeEntries" SELECT i, 1 + (i * 7 + i / 5) % 55, (ARRAY['test','oral','homework'])[1 + (i + i / 4) % 3], 1 + (i * 13 % 41) / 10.0, DATE '2024-09-02' + i * 3 FROM generate_series(1, 150) i
