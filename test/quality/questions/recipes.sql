CREATE TABLE cook (id int PRIMARY KEY, username text, email text, signed_up date, premium boolean);
CREATE TABLE cuisine (id int PRIMARY KEY, name text);
CREATE TABLE recipe (id int PRIMARY KEY, title text, cook_id int REFERENCES cook, cuisine_id int REFERENCES cuisine, prep_minutes int, cook_minutes int, servings int, vegan boolean, posted_at timestamp);
CREATE TABLE ingredient (id int PRIMARY KEY, name text, price_per_unit numeric, is_allergen boolean);
CREATE TABLE recipe_ingredient (recipe_id int REFERENCES recipe, ingredient_id int REFERENCES ingredient, amount numeric, unit text, PRIMARY KEY (recipe_id, ingredient_id));
CREATE TABLE rating (id int PRIMARY KEY, recipe_id int REFERENCES recipe, cook_id int REFERENCES cook, stars int, rated_at timestamp);
INSERT INTO cook VALUES (1,'basilio','b@c.com','2022-01-05',true),(2,'clove','cl@c.com','2022-06-17',false),(3,'dillan','d@c.com','2023-03-03',false),(4,'endive','e@c.com','2023-09-09',true),(5,'fennelle','f@c.com','2024-04-28',false),(6,'garlix',NULL,'2025-01-02',false);
INSERT INTO cuisine VALUES (1,'Italian'),(2,'Thai'),(3,'Mexican'),(4,'Nordic');
INSERT INTO recipe SELECT i, (ARRAY['Risotto','Green Curry','Tacos','Lasagne','Pad Thai','Minestrone','Mole','Gnocchi','Tom Yum','Pozole','Focaccia','Larb'])[i], 1 + (i * 3 + i / 4) % 4, 1 + (i + 2) % 3 , 5 + (i * 11) % 37, 10 + (i * 23) % 81, 2 + (i * 3) % 5, i % 4 = 2, timestamp '2024-02-03 10:00' + i * interval '29 days' FROM generate_series(1, 12) i;
INSERT INTO ingredient VALUES (1,'rice',1.2,false),(2,'peanut',3.4,true),(3,'flour',0.9,true),(4,'basil',2.1,false),(5,'chili',1.7,false),(6,'lime',0.5,false),(7,'shrimp',6.8,true),(8,'saffron',19.0,false);
INSERT INTO recipe_ingredient SELECT r, g, 1 + (r * g) % 6, 'g' FROM generate_series(1, 12) r, generate_series(1, 7) g WHERE (r * 2 + g * g + r / 3) % 3 = 0 OR (g = 4 AND r > 9);
INSERT INTO rating SELECT i, 1 + (i * i + i / 4) % 11, 1 + (i * 2 + i / 3) % 5, 1 + (i * 3 + i / 7) % 5, timestamp '2024-06-01 08:00' + i * interval '100 hours' FROM generate_series(1, 60) i
