CREATE TABLE wards (id int PRIMARY KEY, ward_name text, population int, councillor text);
CREATE TABLE applicants (id int PRIMARY KEY, full_name text, email text, postcode text, is_business boolean);
CREATE TABLE permit_types (code text PRIMARY KEY, label text, base_fee numeric);
CREATE TABLE permit_statuses (code text PRIMARY KEY, label text);
CREATE TABLE permits (id int PRIMARY KEY, applicant_id int, ward_id int, type_code text, status_code text, submitted text, decided text, fee numeric);
CREATE TABLE inspections (id int PRIMARY KEY, permit_id int, inspector text, inspected text, result text);
CREATE TABLE complaints (id int PRIMARY KEY, ward_id int, category text, received text, resolved text, severity int);
INSERT INTO wards VALUES (1,'Harbour',8200,'T. Boyle'),(2,'Old Town',5100,'S. Mistry'),(3,'Hillside',12400,'G. Novak'),(4,'Riverside',9600,'T. Boyle'),(5,'Parklands',3000,'L. Adeyemi');
INSERT INTO applicants VALUES (1,'Nora Finch','nora@mail.test','HB1',false),(2,'Quay Cafe Ltd','office@quay.test','HB1',true),(3,'Sam Ito','sam@mail.test','OT4',false),(4,'Hill Builders','hi@hill.test','HS2',true),(5,'Uma Rao',NULL,'RV7',false),(6,'River Homes','post@river.test','RV7',true),(7,'Otto Lang','otto@mail.test','HS2',false),(8,'Vera Pohl',NULL,'PK3',false);
INSERT INTO permit_types VALUES ('BLD','building',250),('EVT','street event',60),('SGN','shop sign',35),('TRE','tree felling',40);
INSERT INTO permit_statuses VALUES ('P','pending'),('A','approved'),('R','rejected'),('W','withdrawn');
INSERT INTO permits SELECT i, 1 + (i * 3 + i / 6) % 7, 1 + (i * 2 + i / 7) % 4, (ARRAY['BLD','EVT','SGN','TRE'])[1 + (i * 3 + i / 5) % 4], (ARRAY['A','P','A','R','A','W'])[1 + i % 6], to_char(DATE '2024-02-10' + i * 11, 'YYYY-MM-DD'), CASE WHEN i % 6 <> 1 THEN to_char(DATE '2024-02-10' + i * 11 + 5 + i * 3 % 40, 'YYYY-MM-DD') END, 30 + i * 17 % 400 FROM generate_series(1, 60) i;
INSERT INTO inspections SELECT i, 1 + (i * 5 + i / 6) % 50, (ARRAY['Dunn','Farah','Okafor'])[1 + (i + i / 4) % 3], to_char(DATE '2024-05-01' + i * 13, 'YYYY-MM-DD'), (ARRAY['pass','fail','pass','recheck'])[1 + (i + i / 8) % 4] FROM generate_series(1, 40) i;
INSERT INTO complaints SELECT i, 1 + (i * 3 + i / 4) % 5, (ARRAY['noise','litter','potholes','lighting'])[1 + (i + i / 6) % 4], to_char(DATE '2025-01-05' + i * 6, 'YYYY-MM-DD'), CASE WHEN i % 4 <> 0 THEN to_char(DATE '2025-01-05' + i * 6 + 1 + i % 9, 'YYYY-MM-DD') END, 1 + i * 3 % 5 FROM generate_series(1, 54) i
