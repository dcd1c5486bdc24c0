CREATE TABLE cont (contid int PRIMARY KEY, continent text);
CREATE TABLE ctries (ctryid int PRIMARY KEY, ctryname text, contid int REFERENCES cont);
CREATE TABLE makers (mkid int PRIMARY KEY, maker text, fullname text, ctryid int REFERENCES ctries);
CREATE TABLE modellist (modelid int PRIMARY KEY, mkid int REFERENCES makers, model text);
CREATE TABLE carspec (carid int PRIMARY KEY, modelid int REFERENCES modellist, mpg numeric, cyl int, hp int, weight int, accel numeric, modelyear int);
INSERT INTO cont VALUES (1,'america'),(2,'europe'),(3,'asia'),(4,'africa');
INSERT INTO ctries VALUES (1,'usa',1),(2,'germany',2),(3,'france',2),(4,'japan',3),(5,'italy',2),(6,'sweden',2),(7,'korea',3),(8,'nigeria',4),(9,'brazil',1);
INSERT INTO makers VALUES (1,'amc','American Motor Company',1),(2,'volkswagen','Volkswagen',2),(3,'bmw','BMW',2),(4,'gm','General Motors',1),(5,'ford','Ford Motor Company',1),(6,'fiat','Fiat',5),(7,'toyota','Toyota',4),(8,'honda','Honda',4),(9,'volvo','Volvo',6),(10,'kia','Kia Motors',7);
INSERT INTO modellist VALUES (1,1,'hornet'),(2,1,'gremlin'),(3,2,'rabbit'),(4,2,'dasher'),(5,3,'2002'),(6,4,'impala'),(7,4,'nova'),(8,4,'vega'),(9,5,'pinto'),(10,5,'torino'),(11,6,'128'),(12,7,'corolla'),(13,7,'corona'),(14,8,'civic'),(15,9,'145e'),(16,6,'strada');
INSERT INTO carspec SELECT i, 1 + (i * 5 + i / 7) % 15, 12 + (i * 37 % 331) / 10.0, (ARRAY[4,8,6,4,4,8])[1 + (i + i / 5) % 6], CASE WHEN i % 13 <> 6 THEN 48 + (i * 53) % 178 END, 1650 + (i * 331) % 3300, 9.5 + (i * 29 % 140) / 10.0, 1970 + (i * 7 + i / 9) % 12 FROM generate_series(1, 64) i
