"""The wines, for all programs here; it is shipped to their tasks."""

import os

import numpy as np

COLUMNS = ["fixed acidity", "volatile acidity", "citric acid", "residual sugar", "chlorides", "free sulfur dioxide",
           "total sulfur dioxide", "density", "pH", "sulphates", "alcohol"]
GOOD = 6  # points from which a wine is a good one


def load():
    """((features, labels) to train on, those to evaluate on): every fifth wine is kept for the latter."""
    # Among the files of a task; where the program itself is asked, where its test says.
    path = "winequality.csv" if os.path.exists("winequality.csv") else os.environ["WINES"]
    wines = np.loadtxt(path, delimiter=";", skiprows=1, dtype=np.float32)
    features, labels = wines[:, :-1], (wines[:, -1] >= GOOD).astype(np.int64)
    held_out = np.arange(len(wines)) % 5 == 0
    features = (features - features[~held_out].mean(axis=0)) / features[~held_out].std(axis=0)
    return (features[~held_out], labels[~held_out]), (features[held_out], labels[held_out])


def columns(features):
    return {name.replace(" ", "_"): features[:, number] for number, name in enumerate(COLUMNS)}
