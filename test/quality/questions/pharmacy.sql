CREATE TABLE tbl_supp (supp_id int PRIMARY KEY, supp_nm text, cntry_cd text, lead_days int);
CREATE TABLE tbl_drug (drug_id int PRIMARY KEY, drug_nm text, form_cd text, strength_mg int, unit_prc_cents int, rx_req boolean, supp_id int);
CREATE TABLE tbl_insurer (ins_id int PRIMARY KEY, ins_nm text);
CREATE TABLE tbl_pat (pat_id int PRIMARY KEY, first_nm text, last_nm text, dob date, gender_cd text, ins_id int);
CREATE TABLE tbl_doc (doc_id int PRIMARY KEY, doc_nm text, specialty text);
CREATE TABLE tbl_sts (sts_cd text PRIMARY KEY, sts_desc text);
CREATE TABLE tbl_presc (presc_id int PRIMARY KEY, pat_id int, doc_id int, issued_dt date, filled_dt date, sts_cd text);
CREATE TABLE tbl_presc_item (presc_id int, drug_id int, qty int, refills_left int, PRIMARY KEY (presc_id, drug_id));
CREATE TABLE tbl_stock (drug_id int, loc_cd text, qty_on_hand int, reorder_lvl int, expiry_dt date, PRIMARY KEY (drug_id, loc_cd));
INSERT INTO tbl_supp VALUES (1,'Medline','US',4),(2,'Pharmador','DE',9),(3,'Novira','CH',14),(4,'Galen Labs','US',6);
INSERT INTO tbl_drug VALUES (1,'Ibuprofen','TAB',400,12,false,1),(2,'Amoxicillin','CAP',500,35,true,2),(3,'Metformin','TAB',850,18,true,2),(4,'Salbutamol','INH',100,890,true,3),(5,'Cetirizine','TAB',10,9,false,1),(6,'Insulin Glargine','INJ',100,4200,true,3),(7,'Paracetamol','TAB',500,6,false,1),(8,'Atorvastatin','TAB',20,44,true,2),(9,'Cough Syrup','SYR',150,560,false,NULL),(10,'Morphine','INJ',10,1500,true,3);
INSERT INTO tbl_insurer VALUES (1,'BlueCare'),(2,'Helvia'),(3,'Unimed');
INSERT INTO tbl_pat VALUES (1,'Nora','Finch','1958-04-12','F',1),(2,'Omar','Haddad','1983-11-30','M',2),(3,'Pia','Stone','2001-02-17','F',1),(4,'Quinn','Abbott','1975-08-08','X',NULL),(5,'Ravi','Menon','1990-06-21','M',2),(6,'Sofia','Reyes','1946-12-01','F',2),(7,'Tom','Baxter','2012-09-14','M',1),(8,'Uma','Patel','1969-03-03','F',NULL),(9,'Victor','Hale','1954-10-10','M',2),(10,'Wanda','Cole','1988-01-25','F',1);
INSERT INTO tbl_doc VALUES (1,'Dr. Adler','Cardiology'),(2,'Dr. Bose','General'),(3,'Dr. Cruz','Pediatrics'),(4,'Dr. Dunn','Endocrinology'),(5,'Dr. Egan','Oncology');
INSERT INTO tbl_sts VALUES ('N','new'),('F','filled'),('X','cancelled'),('P','partially filled');
INSERT INTO tbl_presc SELECT i, 1 + (i * i + i / 3) % 9, 1 + (i * i / 3 + i / 5) % 4, date '2024-09-02' + i * 5, CASE WHEN (i + i / 5) % 7 IN (0, 1, 2, 4) THEN date '2024-09-02' + i * 5 + (i * 3) % 11 END, CASE (i + i / 5) % 7 WHEN 0 THEN 'F' WHEN 1 THEN 'F' WHEN 2 THEN 'F' WHEN 4 THEN 'P' WHEN 5 THEN 'X' ELSE 'N' END FROM generate_series(1, 75) i;
INSERT INTO tbl_presc_item SELECT i, 1 + (i * i / 2 + i / 6) % 9, 10 + (i * 7) % 81, (i * 3) % 5 FROM generate_series(1, 75) i;
INSERT INTO tbl_presc_item SELECT i, 1 + (i * i / 2 + i / 6 + 4) % 9, 5 + (i * 11) % 56, (i * 2) % 4 FROM generate_series(3, 75, 4) i;
INSERT INTO tbl_stock SELECT d, l, (d * 37 + ascii(l) * 13) % 240, 40 + (d * 17) % 60, date '2025-02-10' + (d * 53 + ascii(l) * 29) % 700 FROM generate_series(1, 9) d, unnest(ARRAY['A1','B2','C3']) l
