"""The numbers that the paper prints: Tables 1 to 6 and 12 to 14, how many settings its other tables
list, and what it reads off Figure 2.

A value is (mean, standard deviation) over `SEEDS` seeds.
"""

from __future__ import annotations

SEEDS = 5

METHODS = ("gail-constraint", "icrl", "icl")
_COLUMNS = ("gridworld-a", "gridworld-b", "cartpole-mr", "cartpole-mid")

# Tables 1 and 2, a row per method.
_TABLES = {
    "cmse": {
        "gail-constraint": ((0.31, 0.01), (0.25, 0.01), (0.12, 0.03), (0.25, 0.02)),
        "icrl": ((0.11, 0.02), (0.21, 0.04), (0.21, 0.16), (0.27, 0.03)),
        "icl": ((0.08, 0.01), (0.04, 0.01), (0.02, 0.00), (0.08, 0.05)),
    },
    "nad": {
        "gail-constraint": ((1.76, 0.25), (1.29, 0.07), (1.80, 0.24), (7.23, 3.88)),
        "icrl": ((1.73, 0.47), (2.15, 0.92), (12.32, 0.48), (13.21, 1.81)),
        "icl": ((0.36, 0.10), (1.26, 0.62), (1.63, 0.89), (3.04, 1.93)),
    },
}

# Tables 3 and 4, ICL on Gridworld (A) where moves slip.
_SLIPS = ("gridworld-a-slip-10", "gridworld-a-slip-30", "gridworld-a-slip-50")
_SLIP_TABLES = {
    "cmse": ((0.02, 0.00), (0.03, 0.01), (0.08, 0.00)),
    "nad": ((0.45, 0.10), (1.13, 0.37), (1.29, 0.20)),
}

# Tables 5 and 6, a row per method.
_ROBOTS = ("ant", "halfcheetah")
_ROBOT_TABLES = {
    "cmse": {
        "gail-constraint": ((0.17, 0.04), (0.20, 0.03)),
        "icrl": ((0.41, 0.00), (0.35, 0.17)),
        "icl": ((0.07, 0.00), (0.05, 0.00)),
    },
    "nad": {
        "gail-constraint": ((8.02, 2.84), (14.38, 2.36)),
        "icrl": ((9.50, 2.84), (7.50, 4.97)),
        "icl": ((6.84, 1.29), (10.16, 7.49)),
    },
}

# metric -> (experiment, method) -> (mean, std)
PAPER: dict[str, dict[tuple[str, str], tuple[float, float]]] = {
    metric: {
        (experiment, method): value
        for names, tables in ((_COLUMNS, _TABLES), (_ROBOTS, _ROBOT_TABLES))
        for method, row in tables[metric].items()
        for experiment, value in zip(names, row, strict=True)
    }
    for metric in _TABLES
}
for _metric, _row in _SLIP_TABLES.items():
    PAPER[_metric] |= {(name, "icl"): v for name, v in zip(_SLIPS, _row, strict=True)}

# Tables 13 and 14: architecture -> CMSE by environment.
_BOUNDED = (*_COLUMNS, *_ROBOTS)
_PERFECT = ((0.00, 0.00),) * 6
_BOUNDS = {
    "a1": ((0.03, 0.01), (0.02, 0.01), (0.00, 0.00), (0.01, 0.00), (0.00, 0.00), (0.00, 0.00)),
    "b": _PERFECT,
    "c1": _PERFECT,
    "a2": ((0.06, 0.00), (0.09, 0.01), (0.01, 0.00), (0.02, 0.00), (0.01, 0.00), (0.01, 0.00)),
    "c2": _PERFECT,
}
LOWER_BOUNDS: dict[tuple[str, str], tuple[float, float]] = {
    (environment, architecture): value
    for architecture, row in _BOUNDS.items()
    for environment, value in zip(_BOUNDED, row, strict=True)
}

# Table 12: minutes of training by environment, for GAIL-Constraint, ICRL and ICL.
MINUTES_OF = {
    "gridworld-a": (7 * 60 + 15, 10 * 60 + 43, 1 * 60 + 16),
    "gridworld-b": (7 * 60 + 13, 10 * 60 + 37, 1 * 60 + 20),
    "cartpole-mr": (7 * 60 + 39, 15 * 60 + 56, 9 * 60 + 43),
    "cartpole-mid": (8 * 60, 16 * 60, 7 * 60 + 40),
    "highd": (1 * 60 + 47, 3 * 60 + 34, 5 * 60 + 9),
    "ant": (2 * 60 + 8, 6 * 60 + 48, 6 * 60 + 25),
    "halfcheetah": (2 * 60 + 32, 7 * 60 + 28, 9 * 60 + 32),
    "exid": (1 * 60 + 52, 32 * 60 + 20, 2 * 60 + 22),
}
MINUTES: dict[tuple[str, str], int] = {
    (environment, method): minutes
    for environment, row in MINUTES_OF.items()
    for method, minutes in zip(METHODS, row, strict=True)
}

# How many settings Tables 8 to 10 list.
SETTINGS_OF = {"gail-constraint": 5, "icrl": 16, "icl": 8}

# What its text reads off Figure 2: gaps [m] by (method, speed [m/s]), between centres.
GAPS: dict[tuple[str, float], tuple[float, float]] = {
    **{(method, 20.0): (60.0, 80.0) for method in METHODS},
    ("icl", 40.0): (125.0, 150.0),
    **{(method, 40.0): (160.0, 180.0) for method in ("gail-constraint", "icrl")},
}
