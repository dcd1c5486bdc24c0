CREATE TABLE "Supplier" ("SupplierID" int PRIMARY KEY, "SupplierName" text, "Country" text, "Rating" int);
CREATE TABLE "Part" ("PartID" int PRIMARY KEY, "PartName" text, "Color" text, "UnitCost" numeric, "UnitPrice" numeric, "SupplierID" int REFERENCES "Supplier", "InStock" int, "ReorderLevel" int);
CREATE TABLE "Buyer" ("BuyerID" int PRIMARY KEY, "BuyerName" text, "Region" text);
CREATE TABLE "SalesOrder" ("OrderID" int PRIMARY KEY, "BuyerID" int REFERENCES "Buyer", "OrderDate" date, "ShipDate" date, "OrderTotal" numeric, "Channel" text);
CREATE TABLE "OrderLine" ("OrderID" int REFERENCES "SalesOrder", "PartID" int REFERENCES "Part", "Quantity" int, PRIMARY KEY ("OrderID", "PartID"));
INSERT INTO "Supplier" VALUES (1,'Bolt Bros','Germany',4),(2,'Casting Co','Poland',3),(3,'Delta Drives','Germany',5),(4,'Empty Ltd','Spain',2);
INSERT INTO "Part" VALUES (1,'Axle','black',12,20,1,40,10),(2,'Bearing','silver',3,7,1,5,25),(3,'Cog','silver',4,9,2,80,30),(4,'Drive Belt','black',9,14,3,0,15),(5,'Engine Mount','red',31,55,3,7,5),(6,'Flange','silver',6,8,2,19,20),(7,'Gasket','red',1,2,1,300,100);
INSERT INTO "Buyer" VALUES (1,'Alpine Works','north'),(2,'Breeze Motors','south'),(3,'Cliff Cranes','north'),(4,'Dune Diggers','east'),(5,'Early Birds','south');
INSERT INTO "SalesOrder" SELECT i, 1 + (i * i + i / 4) % 4, date '2024-11-02' + i * 5, CASE WHEN i % 6 = 0 THEN NULL ELSE date '2024-11-02' + i * 5 + 1 + i % 8 END, 150 + (i * 97) % 900, (ARRAY['web','phone','shop'])[1 + (i + i / 5) % 3] FROM generate_series(1, 42) i;
INSERT INTO "OrderLine" SELECT i, p, 1 + (i * p) % 9 FROM generate_series(1, 42) i JOIN generate_series(1, 6) p ON (i * 5 + p * 3 + i / 4) % 7 < 2
