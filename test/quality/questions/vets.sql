CREATE TABLE owners (owner_id int PRIMARY KEY, surname text, given_name text, suburb text, since date);
CREATE TABLE pets (pet_id int PRIMARY KEY, owner_id int REFERENCES owners, pet_name text, species text, born date, weight_kg numeric, insured boolean);
CREATE TABLE vets (vet_id int PRIMARY KEY, vet_name text, specialty text, salary numeric, boss_id int REFERENCES vets);
CREATE TABLE visits (visit_id int PRIMARY KEY, pet_id int REFERENCES pets, vet_id int REFERENCES vets, visited_on date, reason text, bill_amount numeric, paid boolean);
CREATE TABLE vaccinations (vacc_id int PRIMARY KEY, pet_id int REFERENCES pets, vaccine text, given_on date, next_due date);
INSERT INTO owners VALUES (1,'Abbot','Ina','Northside','2020-02-01'),(2,'Bose','Jon','Hillcrest','2021-03-10'),(3,'Cruz','Kim','Northside','2022-07-07'),(4,'Dahl','Lou','Riverton','2023-01-20'),(5,'Egan','Max','Hillcrest','2024-06-15'),(6,'Frey','Nia','Riverton','2025-01-09');
INSERT INTO pets SELECT i, 1 + (i * 3 + i / 4) % 5, (ARRAY['Bella','Coco','Duke','Echo','Fudge','Gizmo','Hazel','Indie','Juno','Koda','Loki','Milo','Nova'])[i], (ARRAY['dog','cat','rabbit'])[1 + (i + i / 3) % 3], date '2015-04-01' + i * 250, 2 + (i * 7) % 31, i % 3 = 0 FROM generate_series(1, 13) i;
INSERT INTO vets VALUES (1,'Dr Oake','surgery',98000,NULL),(2,'Dr Pine','dental',81000,1),(3,'Dr Quill','general',76000,1),(4,'Dr Rowe','general',101000,1),(5,'Dr Sage','dental',69000,2);
INSERT INTO visits SELECT i, 1 + (i * i + i / 3) % 12, 1 + (i * 2 + i / 5) % 4, date '2025-01-03' + i * 3, (ARRAY['checkup','injury','vaccine','dental'])[1 + (i + i / 4) % 4], 40 + (i * 53) % 360, i % 5 <> 0 FROM generate_series(1, 58) i;
INSERT INTO vaccinations SELECT i, 1 + (i * 5) % 11, (ARRAY['rabies','parvo','flu'])[1 + (i * i) % 3], date '2024-05-01' + i * 11, date '2025-05-01' + i * 11 FROM generate_series(1, 24) i
