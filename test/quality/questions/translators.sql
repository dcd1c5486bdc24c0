CREATE TABLE lng (lng_code char(2) PRIMARY KEY, lng_name text);
CREATE TABLE translator (trl_no int PRIMARY KEY, trl_name text, native_lng char(2) REFERENCES lng, rate_per_word numeric, active boolean, city text);
CREATE TABLE client (cl_no int PRIMARY KEY, cl_name text, industry text, discount_pct numeric);
CREATE TABLE job (job_no int PRIMARY KEY, cl_no int REFERENCES client, trl_no int REFERENCES translator, source_lng char(2) REFERENCES lng, target_lng char(2) REFERENCES lng, words int, ordered date, deadline date, delivered date, fee numeric);
CREATE TABLE complaint (cmp_no int PRIMARY KEY, job_no int REFERENCES job, received date, reason text, resolved boolean);
INSERT INTO lng VALUES ('de','German'),('en','English'),('fr','French'),('es','Spanish'),('fi','Finnish');
INSERT INTO translator VALUES (1,'Ilse Kern','de',0.12,true,'Bremen'),(2,'Mark Hale','en',0.15,true,'Leeds'),(3,'Zoe Petit','fr',0.14,true,'Lyon'),(4,'Raul Mena','es',0.10,false,'Cadiz'),(5,'Aino Salo','fi',0.19,true,'Turku'),(6,'Beth Cole','en',0.13,true,'Leeds');
INSERT INTO client VALUES (1,'Aqua Pumps','engineering',0),(2,'Belle Mode','fashion',5),(3,'Curia Law','legal',0),(4,'Dent AG','medical',10),(5,'Echo Films','media',0),(6,'Fern Foods','food',3);
INSERT INTO job SELECT 700 + i, 1 + (i * 2 + i / 4) % 5, 1 + (i * i + i / 3) % 5, (ARRAY['de','en','fr','es'])[1 + i % 4], (ARRAY['en','fr','de','fi','es'])[1 + (i * 3) % 5], 300 + (i * 373) % 7900, date '2025-01-07' + i * 4, date '2025-01-17' + i * 4, CASE WHEN i % 9 = 5 THEN NULL ELSE date '2025-01-14' + i * 4 + (i * 5) % 8 END, 60 + (i * 211) % 1900 FROM generate_series(1, 52) i;
INSERT INTO complaint SELECT i, 700 + i * 4 - i % 3, date '2025-03-01' + i * 11, (ARRAY['late','errors','style'])[1 + (i * i) % 3], i % 3 <> 1 FROM generate_series(1, 12) i
