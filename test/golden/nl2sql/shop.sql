CREATE TABLE categories (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE products (
  id int PRIMARY KEY, name text NOT NULL, category_id int REFERENCES categories,
  price numeric(8,2), stock int, discontinued boolean
);
CREATE TABLE customers (
  id int PRIMARY KEY, first_name text, last_name text, email text, city text, country text, signup_date date
);
CREATE TABLE orders (
  id int PRIMARY KEY, customer_id int REFERENCES customers, order_date date, status text, shipping_cost numeric(6,2)
);
CREATE TABLE order_items (
  id int PRIMARY KEY, order_id int REFERENCES orders, product_id int REFERENCES products,
  quantity int, unit_price numeric(8,2)
);
INSERT INTO categories VALUES (1, 'Books'), (2, 'Electronics'), (3, 'Garden'), (4, 'Toys'), (5, 'Furniture');
INSERT INTO products VALUES
  (1, 'Field Guide to Birds', 1, 24.90, 120, false), (2, 'Night Train', 1, 12.50, 8, false),
  (3, 'Old Atlas', 1, 60.00, 0, true), (4, 'Wireless Mouse', 2, 29.99, 210, false),
  (5, 'Mechanical Keyboard', 2, 119.00, 45, false), (6, '27 inch Monitor', 2, 289.00, 17, false),
  (7, 'Cassette Player', 2, 49.50, 3, true), (8, 'Garden Hose', 3, 35.00, 64, false),
  (9, 'Rake', 3, 18.75, 90, false), (10, 'Wooden Train', 4, 42.00, 33, false),
  (11, 'Puzzle 1000', 4, 15.99, 75, false), (12, 'Kite', 4, 22.40, 0, false),
  (13, 'Standing Desk', 5, 449.00, 12, false), (14, 'Lamp', 5, 38.20, 51, false);
INSERT INTO customers VALUES
  (1, 'Anna', 'Keller', 'anna@example.com', 'Berlin', 'Germany', '2022-03-14'),
  (2, 'Bruno', 'Rossi', 'bruno@example.org', 'Milan', 'Italy', '2022-11-02'),
  (3, 'Chloe', 'Martin', 'chloe@example.com', 'Paris', 'France', '2023-01-20'),
  (4, 'David', 'Schmidt', 'david@example.net', 'Berlin', 'Germany', '2023-04-05'),
  (5, 'Elena', 'Garcia', 'elena@example.com', 'Madrid', 'Spain', '2023-06-18'),
  (6, 'Felix', 'Weber', NULL, 'Hamburg', 'Germany', '2023-09-30'),
  (7, 'Giulia', 'Conti', 'giulia@example.org', 'Rome', 'Italy', '2024-01-11'),
  (8, 'Hugo', 'Bernard', 'hugo@example.com', 'Lyon', 'France', '2024-02-25'),
  (9, 'Ines', 'Lopez', NULL, 'Madrid', 'Spain', '2024-05-09'),
  (10, 'Jonas', 'Fischer', 'jonas@example.net', 'Berlin', 'Germany', '2024-07-21');
INSERT INTO orders VALUES
  (1, 1, '2023-02-01', 'delivered', 4.90), (2, 1, '2023-05-17', 'delivered', 0.00),
  (3, 2, '2023-06-03', 'delivered', 9.50), (4, 3, '2023-08-22', 'cancelled', 6.20),
  (5, 4, '2023-11-11', 'delivered', 4.95), (6, 5, '2023-12-05', 'returned', 7.80),
  (7, 1, '2024-01-08', 'delivered', 5.10), (8, 3, '2024-01-29', 'shipped', 6.25),
  (9, 7, '2024-02-14', 'delivered', 9.90), (10, 8, '2024-03-02', 'shipped', 3.30),
  (11, 4, '2024-03-19', 'pending', 4.40), (12, 1, '2024-04-01', 'shipped', 4.60),
  (13, 5, '2024-05-27', 'pending', 12.00), (14, 10, '2024-08-02', 'pending', 2.75),
  (15, 2, '2024-08-30', 'cancelled', 8.00), (16, 4, '2024-09-12', 'pending', 5.55);
INSERT INTO order_items VALUES
  (1, 1, 1, 2, 24.90), (2, 1, 11, 1, 15.99), (3, 2, 4, 1, 29.99), (4, 3, 5, 1, 119.00), (5, 3, 4, 3, 29.99),
  (6, 4, 13, 1, 449.00), (7, 5, 8, 2, 35.00), (8, 5, 9, 1, 18.75), (9, 6, 10, 4, 42.00), (10, 7, 2, 1, 12.50),
  (11, 8, 6, 1, 289.00), (12, 9, 14, 2, 38.20), (13, 10, 1, 1, 24.90), (14, 11, 13, 1, 440.00), (15, 12, 4, 5, 27.50),
  (16, 13, 12, 2, 22.40), (17, 14, 6, 2, 280.00), (18, 15, 7, 1, 49.50), (19, 16, 11, 6, 15.00), (20, 16, 2, 2, 12.50);
