CREATE TABLE venue (id int PRIMARY KEY, name text, town text, seats int);
CREATE TABLE act (id int PRIMARY KEY, name text, style text, country text);
CREATE TABLE gig (id int PRIMARY KEY, venue_id int REFERENCES venue, act_id int REFERENCES act, starts_at timestamp, ticket_price numeric, sold int);
CREATE TABLE review (id int PRIMARY KEY, gig_id int REFERENCES gig, critic text, score int);
INSERT INTO venue VALUES (1,'Blue Barn','Cork',400),(2,'Town Hall','Galway',900),(3,'Pier Stage','Cork',1500),(4,'Loft','Sligo',120);
INSERT INTO act SELECT i, (ARRAY['Red Foxes','Silver Line','Night Bus','Paper Moon','Iron Lake','Tin Whistle','Glass Owl'])[i], (ARRAY['folk','rock','jazz'])[1 + i % 3], (ARRAY['Ireland','Wales'])[1 + i % 2] FROM generate_series(1, 7) i;
INSERT INTO gig SELECT i, 1 + i % 3, 1 + i * i % 6, now()::timestamp - i * interval '11 days', 12 + 3 * (i % 7), 60 + i * 41 % 1000 FROM generate_series(1, 60) i;
INSERT INTO review SELECT i, 1 + i * 7 % 50, (ARRAY['Moran','Nolan','Quill'])[1 + i % 3], 1 + i * 3 % 10 FROM generate_series(1, 90) i;
