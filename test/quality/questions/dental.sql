CREATE TABLE dentists (dentist_id int PRIMARY KEY, full_name text, specialty text, employed_since date, room text);
CREATE TABLE patients (patient_id int PRIMARY KEY, full_name text, birth_date date, city text, insurer text, phone text);
CREATE TABLE appointments (appointment_id int PRIMARY KEY, patient_id int, dentist_id int, scheduled_at timestamp, minutes int, status text);
CREATE TABLE treatments (treatment_id int PRIMARY KEY, appointment_id int, procedure_code text, tooth int, fee numeric, covered_amount numeric);
CREATE TABLE procedures (procedure_code text PRIMARY KEY, description text, list_price numeric, needs_anaesthesia boolean);
CREATE TABLE bills (bill_id int PRIMARY KEY, patient_id int, issued_on date, due_on date, paid_on date, total numeric);
INSERT INTO dentists VALUES (1,'Dr. Alma Reyes','orthodontics','2011-04-01','A1'),(2,'Dr. Bruno Sand','general','2015-10-01','A2'),(3,'Dr. Celia Tran','surgery','2019-02-01','B1'),(4,'Dr. Dario Uhl','general','2024-01-08','B2');
INSERT INTO patients VALUES (1,'Ella Vance','1984-02-11','Salem','MediPlus','555-0101'),(2,'Finn Wyatt','1991-07-30','Salem','CareOne',NULL),(3,'Gina Xavier','2012-12-01','Dover','MediPlus','555-0103'),(4,'Hugo Young','1956-05-19','Dover','CareOne','555-0104'),(5,'Isla Zorn','1978-09-09','Troy','Unity',NULL),(6,'Jack Abbot','2001-03-25','Salem','Unity','555-0106'),(7,'Kara Bloom','1969-11-11','Troy','MediPlus','555-0107'),(8,'Liam Crane','1995-01-01','Dover','CareOne','555-0108');
INSERT INTO appointments SELECT i, 1 + (i * i + i / 4) % 7, 1 + (i * 2 + i / 3) % 3, timestamp '2025-01-06 08:15' + i * interval '43 hours', 15 * (1 + (i * 7) % 5), (ARRAY['done','done','done','no-show','cancelled'])[1 + (i * 3 + i / 6) % 5] FROM generate_series(1, 70) i;
INSERT INTO procedures VALUES ('P10','Cleaning',80,false),('P20','Filling',140,true),('P30','Root canal',620,true),('P40','Extraction',210,true),('P50','X-ray',55,false),('P60','Whitening',300,false);
INSERT INTO treatments SELECT i, 1 + (i * 3 + i / 8) % 68, 'P' || (1 + (i * i + i / 3) % 5) * 10, 11 + (i * 5) % 30, 50 + (i * 83) % 640, (50 + (i * 83) % 640) * ((i % 5) * 0.2) FROM generate_series(1, 90) i;
INSERT INTO bills SELECT i, 1 + (i * 2 + i / 5) % 7, date '2024-06-10' + i * 13, date '2024-07-10' + i * 13, CASE WHEN i % 5 = 0 THEN NULL ELSE date '2024-06-20' + i * 13 + (i * 11) % 41 END, 60 + (i * 97) % 870 FROM generate_series(1, 36) i;
UPDATE appointments SET minutes = 20 WHERE dentist_id = 2 AND appointment_id % 4 <> 0;
UPDATE appointments SET dentist_id = 3 WHERE dentist_id = 1 AND appointment_id < 20
