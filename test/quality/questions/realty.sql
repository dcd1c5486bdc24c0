CREATE TABLE tbl_agent (agent_id int PRIMARY KEY, agent_name text, branch text, commission_pct numeric);
CREATE TABLE tbl_property (property_id int PRIMARY KEY, agent_id int, street text, district text, bedrooms int, asking_price numeric, listed_on date, prop_type text);
CREATE TABLE tbl_viewing (viewing_id int PRIMARY KEY, property_id int, buyer_name text, viewed_at timestamp, feedback text);
CREATE TABLE tbl_offer (offer_id int PRIMARY KEY, property_id int, buyer_name text, offer_amount numeric, offered_on date, accepted boolean);
INSERT INTO tbl_agent VALUES (1, 'Nora Beck', 'North', 1.5), (2, 'Ali Kaya', 'North', 2.5), (3, 'Tess Long', 'South', 2), (4, 'Rui Melo', 'South', 3), (5, 'Ben Orr', 'North', 2.2);
INSERT INTO tbl_property SELECT i, 1 + i * i % 4, (ARRAY['Elm St','Mill Rd','Quay','High St','Dock Ln'])[1 + i % 5] || ' ' || i, (ARRAY['Harbour','Old Town','Park Side'])[1 + i % 3], 1 + i * 3 % 5, 150000 + i * 37000 % 430000, DATE '2024-04-05' + i * 19, (ARRAY['flat','house','villa'])[1 + i * i % 3] FROM generate_series(1, 30) i;
INSERT INTO tbl_viewing SELECT i, 1 + i * 7 % 26, (ARRAY['Kim','Osei','Falk','Lund'])[1 + i % 4], now()::timestamp - i * interval '31 hours', (ARRAY['liked it','too small',NULL])[1 + i % 3] FROM generate_series(1, 90) i;
INSERT INTO tbl_offer SELECT i, 1 + i * 5 % 22, (ARRAY['Kim','Osei','Falk','Lund','Roy'])[1 + i % 5], 140000 + i * 53000 % 460000, DATE '2024-05-20' + i * 23, i % 3 = 0 FROM generate_series(1, 36) i;
