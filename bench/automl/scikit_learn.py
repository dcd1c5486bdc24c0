"""Tables and models of scikit-learn for peers.ts (Debian: python3-sklearn).

scikit_learn.py tables FOLDER         writes the tables that come with it as CSV; the last column is the target
scikit_learn.py train LEARN HELD TASK prints, as JSON, each model's score on the rows held back and the CPU seconds that
                                      it took to fit and to predict
"""

import csv
import json
import sys
import time
import warnings

import numpy as np
from sklearn import datasets
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

warnings.filterwarnings("ignore")


def write_tables(folder):
    for name, load in (
        ("wine", datasets.load_wine),
        ("breast", datasets.load_breast_cancer),
        ("digits", datasets.load_digits),
        ("diabetes", datasets.load_diabetes),
    ):
        data = load()
        with open(f"{folder}/{name}.csv", "w", newline="") as file:
            out = csv.writer(file)
            out.writerow([*(f"c{i}" for i in range(data.data.shape[1])), "target"])
            for row, target in zip(data.data, data.target):
                label = target if name == "diabetes" else f"class {target}"
                out.writerow([*(float(value) for value in row), label])


def read(path):
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return text == ""


def columns_of(learned, held):
    """Numbers as floats, NaN where they miss; everything else as text."""
    width = len(learned[0]) - 1
    numeric = [all(is_number(row[c]) for row in learned + held) for c in range(width)]

    def cells(rows):
        made = np.empty((len(rows), width), dtype=object)
        for r, row in enumerate(rows):
            for c in range(width):
                text = row[c]
                made[r, c] = (float(text) if text != "" else np.nan) if numeric[c] else text
        return made

    return cells(learned), cells(held), numeric


def models(task, numeric):
    numbers = [c for c, is_numeric in enumerate(numeric) if is_numeric]
    texts = [c for c, is_numeric in enumerate(numeric) if not is_numeric]
    one_hot = lambda scaled: ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(strategy="median"), *([StandardScaler()] if scaled else [])), numbers),
            ("texts", OneHotEncoder(handle_unknown="ignore"), texts),
        ],
        sparse_threshold=0,
    )
    ordinal = ColumnTransformer(
        [
            ("numbers", "passthrough", numbers),
            ("texts", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan), texts),
        ]
    )
    categories = list(range(len(numbers), len(numeric)))
    if task == "regression":
        boosting = HistGradientBoostingRegressor(random_state=1, categorical_features=categories or None)
        forest = RandomForestRegressor(random_state=1)
        linear = Ridge()
    else:
        boosting = HistGradientBoostingClassifier(random_state=1, categorical_features=categories or None)
        forest = RandomForestClassifier(random_state=1)
        linear = LogisticRegression(max_iter=1000)
    return {
        "boosting": make_pipeline(ordinal, boosting),
        "forest": make_pipeline(one_hot(False), forest),
        "linear": make_pipeline(one_hot(True), linear),
    }


def train(learn_path, held_path, task):
    _, learned = read(learn_path)
    _, held = read(held_path)
    x, x_held, numeric = columns_of(learned, held)
    of_task = (lambda text: float(text)) if task == "regression" else str
    y = np.array([of_task(row[-1]) for row in learned])
    y_held = np.array([of_task(row[-1]) for row in held])
    score = r2_score if task == "regression" else accuracy_score
    answer = {}
    for name, model in models(task, numeric).items():
        start = time.process_time()
        model.fit(x, y)
        predicted = model.predict(x_held)
        answer[name] = {"score": score(y_held, predicted), "cpuSeconds": time.process_time() - start}
    print(json.dumps(answer))


if __name__ == "__main__":
    if sys.argv[1] == "tables":
        write_tables(sys.argv[2])
    else:
        train(*sys.argv[2:5])
